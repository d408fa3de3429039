"""Tables of paper B's Figs. 1 to 10 and its Table 4, for the problems in the config."""

NNG_TABLE4 = EXPERIMENTS["nng_table4"]
NNG_METHODS = ["hmc", *NNG_TABLE4["surrogates"]]
NNG_TABLE4_CODE = {
    "experiment": "rnshmc.experiments.network_gp:NetworkComparison",
    "run": "rnshmc.experiments.network_gp:comparison_rows",
}


rule nng_table4_point:
    """Train and run one sampler in one dimension, with training sets of every size."""
    output:
        table=f"{RESULTS}/experiments/nng_table4/{{method}}/d{{d}}.csv",
    wildcard_constraints:
        method="|".join(NNG_METHODS),
    resources:
        **demand(mem_mb=2000, runtime=60),
    params:
        code=lambda wc: code("scripts/experiment.py", *ENTRIES[wc.method], *NNG_TABLE4_CODE.values()),
        spec=lambda wc: {
            "seed": config["seed"],
            "entries": ENTRIES[wc.method],
            "settings": {key: NNG_TABLE4[key] for key in ("step_size", "n_steps", "iterations", "repeats")},
            "arguments": {
                "method": wc.method,
                "d": int(wc.d),
                # Exact HMC needs no training.
                "sizes": NNG_TABLE4["sizes"] if wc.method in NNG_TABLE4["surrogates"] else [0],
                "settings": NNG_TABLE4["surrogates"].get(wc.method),
            },
            **NNG_TABLE4_CODE,
        },
    script:
        "../scripts/experiment.py"


rule nng_table4:
    """Gather paper B's Table 4."""
    input:
        points=expand(rules.nng_table4_point.output.table, method=NNG_METHODS, d=NNG_TABLE4["dimensions"]),
    output:
        table=shown_table("nng_table4", label="B 4"),
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={"columns": {}, "caption": NNG_TABLE4},
    script:
        "../scripts/gather.py"


# Figs. 1, 4 and 5 show the problem named in the config.
SCHEDULED, SWAPPED, DESIGNED = (
    config["experiments"][figure]["problem"] for figure in ("nng_fig1", "nng_fig4", "nng_fig5")
)
# The problem of each figure that shows one problem, if the run has both.
NETWORK_FIGURES = {
    figure: name
    for figure, name in {
        "nng_fig1": SCHEDULED,
        "nng_fig4": SWAPPED,
        "nng_fig5": DESIGNED,
        "nng_fig6": "garch",
        "nng_fig7": "gp_regression",
        "nng_fig9": "cover_type",
    }.items()
    if name in PROBLEMS and "nng_hmc" in samplers(name) and (figure not in EXPERIMENTS or is_selected(config, figure))
}


if "nng_fig1" in NETWORK_FIGURES:

    rule table_nng_fig1:
        """Sample by a schedule of training."""
        input:
            data=data_file(SCHEDULED),
        output:
            table=f"{RESULTS}/tables/nng_fig1.csv",
        resources:
            **demand(mem_mb=2000, runtime=60),
        params:
            code=code(
                "scripts/nng_fig1_table.py",
                TARGETS[PROBLEMS[SCHEDULED]["target"]["kind"]],
                KERNELS["hmc"],
                SURROGATES["gradient_network"],
            ),
            spec={
                "seed": config["seed"],
                "target": PROBLEMS[SCHEDULED]["target"],
                **start_of(SCHEDULED),
                "experiment": {
                    **{key: config["experiments"]["nng_fig1"][key] for key in ("draws", "schedule")},
                    "dynamics": {
                        key: PROBLEMS[SCHEDULED]["samplers"]["nng_hmc"][key] for key in ("step_size", "n_steps")
                    },
                    "settings": {
                        key: value
                        for key, value in PROBLEMS[SCHEDULED]["surrogates"][network_of(SCHEDULED)].items()
                        if key not in ("type", "states")
                    },
                },
            },
        script:
            "../scripts/nng_fig1_table.py"


if "nng_fig4" in NETWORK_FIGURES:

    rule table_nng_fig4:
        """Run HMC and NNg-HMC under another prior, with the network trained under the first."""
        input:
            data=data_file(SWAPPED),
            exploration=rules.explore.output.chain.format(problem=SWAPPED, chain=CHAINS[0]),
            network=rules.fit.output.surrogate.format(problem=SWAPPED, surrogate=network_of(SWAPPED), chain=CHAINS[0]),
            hmc=chain_files(rules.sample.output.chain, SWAPPED, "hmc"),
            nng_hmc=chain_files(rules.sample.output.chain, SWAPPED, "nng_hmc"),
        output:
            draws=f"{RESULTS}/tables/nng_fig4_draws.csv",
            acceptance=f"{RESULTS}/tables/nng_fig4_acceptance.csv",
        resources:
            **demand(mem_mb=2000, runtime=60),
        params:
            code=code(
                "scripts/nng_fig4_table.py",
                TARGETS[PROBLEMS[SWAPPED]["target"]["kind"]],
                KERNELS["hmc"],
                SURROGATES["gradient_network"],
            ),
            spec={
                "seed": config["seed"],
                "experiment": {
                    "old_sd": PROBLEMS[SWAPPED]["target"]["prior_sd"],
                    "new_sd": config["experiments"]["nng_fig4"]["prior_sd"],
                    **{key: config["experiments"]["nng_fig4"][key] for key in ("burn_in", "iterations")},
                },
                "target": PROBLEMS[SWAPPED]["target"],
                "surrogate": PROBLEMS[SWAPPED]["surrogates"][network_of(SWAPPED)],
                "samplers": {
                    sampler: {key: PROBLEMS[SWAPPED]["samplers"][sampler][key] for key in ("step_size", "n_steps")}
                    for sampler in ("hmc", "nng_hmc")
                },
            },
        script:
            "../scripts/nng_fig4_table.py"


if "nng_fig5" in NETWORK_FIGURES:

    rule table_nng_fig5:
        """Train gradient networks of several designs on the gradients of each exploration."""
        input:
            **{
                name: expand(
                    rules.explore_recorded.output[name], problem=DESIGNED, chain=chain_names(DESIGNED, "nng_hmc")
                )
                for name in ("chain", "gradients")
            },
        output:
            table=f"{RESULTS}/tables/nng_fig5.csv",
        resources:
            **demand(mem_mb=2000, runtime=60),
        params:
            spec={
                "seed": config["seed"],
                "iterations": [iterations(DESIGNED, "discard"), training_end(DESIGNED, network_of(DESIGNED))],
                "experiment": {key: config["experiments"]["nng_fig5"][key] for key in ("designs", "epochs")},
            },
        script:
            "../scripts/nng_fig5_table.py"


if "nng_fig6" in NETWORK_FIGURES:

    rule table_nng_fig6:
        """Write the series of the GARCH model."""
        input:
            data=data_file("garch"),
        output:
            table=f"{RESULTS}/tables/nng_fig6.csv",
        resources:
            **demand(mem_mb=1000, runtime=10),
        script:
            "../scripts/nng_fig6_table.py"


if "nng_fig7" in NETWORK_FIGURES:

    rule table_nng_fig7_fig8:
        """Gather the posteriors of the Gaussian process's hyperparameters, and predict with them."""
        input:
            data=data_file("gp_regression"),
            chains=recipe_files("gp_regression", "hmc", "nng_hmc"),
        output:
            fig7=f"{RESULTS}/tables/nng_fig7.csv",
            fig8=f"{RESULTS}/tables/nng_fig8.csv",
        resources:
            **demand(mem_mb=1000, runtime=20),
        params:
            spec={"target": PROBLEMS["gp_regression"]["target"]},
        script:
            "../scripts/nng_gp_tables.py"


if "nng_fig9" in NETWORK_FIGURES:

    rule table_nng_fig9_fig10:
        """Gather posteriors and traces from stochastic, network and exact gradients."""
        input:
            marginals=recipe_files("cover_type", "hmc", "nng_hmc", "sghmc"),
            traces=recipe_files("cover_type", "nng_hmc", "sghmc_mh", "sghmc"),
        output:
            fig9=f"{RESULTS}/tables/nng_fig9.csv",
            fig10=f"{RESULTS}/tables/nng_fig10.csv",
        resources:
            **demand(mem_mb=2000, runtime=10),
        script:
            "../scripts/nng_sghmc_tables.py"


NETWORK_TABLES = [
    *(rules.table_nng_fig1.output if "nng_fig1" in NETWORK_FIGURES else []),
    *(rules.table_nng_fig4.output if "nng_fig4" in NETWORK_FIGURES else []),
    *(rules.table_nng_fig5.output if "nng_fig5" in NETWORK_FIGURES else []),
    *(rules.table_nng_fig6.output if "nng_fig6" in NETWORK_FIGURES else []),
    *(rules.table_nng_fig7_fig8.output if "nng_fig7" in NETWORK_FIGURES else []),
    *(rules.table_nng_fig9_fig10.output if "nng_fig9" in NETWORK_FIGURES else []),
]
