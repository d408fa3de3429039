"""Tables of paper B's Figs. 1 to 10 and its Table 4, for the problems in the config."""

NNG_TABLE4 = EXPERIMENTS["nng_table4"]
NNG_METHODS = ["hmc", *NNG_TABLE4["surrogates"]]
COMPARISON = {"experiment": "rnshmc.experiments.network_gp:NetworkComparison", "run": "comparison_rows"}


use rule fig3_point as nng_table4_point with:
    """Train and run one sampler in one dimension, with training sets of every size."""
    output:
        table=f"{RESULTS}/experiments/nng_table4/{{method}}/d{{d}}.csv",
    wildcard_constraints:
        method="|".join(NNG_METHODS),
    params:
        code=lambda wc: code("scripts/experiment.py", *ENTRIES[wc.method], COMPARISON["experiment"]),
        spec=lambda wc: {
            "seed": config["seed"],
            "settings": {key: NNG_TABLE4[key] for key in ("step_size", "n_steps", "iterations", "repeats")},
            "arguments": {
                "method": wc.method,
                "d": int(wc.d),
                # Exact HMC needs no training.
                "sizes": NNG_TABLE4["sizes"] if wc.method in NNG_TABLE4["surrogates"] else [0],
                "settings": NNG_TABLE4["surrogates"].get(wc.method),
            },
            **COMPARISON,
        },


use rule table_fig3 as nng_table4 with:
    """Gather paper B's Table 4."""
    input:
        points=expand(rules.nng_table4_point.output.table, method=NNG_METHODS, d=NNG_TABLE4["dimensions"]),
    output:
        table=shown_table("nng_table4", label="B 4"),
    params:
        spec={"columns": {}, "caption": NNG_TABLE4},


# Figs. 1, 4 and 5 show the problem named in the config, which the run may do without.
SCHEDULED, SWAPPED, DESIGNED = (EXPERIMENTS[figure]["problem"] for figure in ("nng_fig1", "nng_fig4", "nng_fig5"))


rule table_nng_fig1:
    """Sample by a schedule of training."""
    input:
        data=lambda wc: data_file(SCHEDULED),
    output:
        table=f"{RESULTS}/tables/nng_fig1.csv",
    resources:
        **demand(mem_mb=2000, runtime=60),
    params:
        code=lambda wc: code("scripts/nng_fig1_table.py", target_entry(SCHEDULED), *ENTRIES["nng_hmc"]),
        spec=lambda wc: {
            **target_spec(SCHEDULED),
            "experiment": {
                **without(EXPERIMENTS["nng_fig1"], "problem"),
                "dynamics": dynamics_of(SCHEDULED, "nng_hmc"),
                "settings": without(
                    PROBLEMS[SCHEDULED]["surrogates"][surrogate_of(SCHEDULED, "nng_hmc")], "type", "states"
                ),
            },
        },
    script:
        "../scripts/nng_fig1_table.py"


rule table_nng_fig4:
    """Run HMC and NNg-HMC under another prior, with the network trained under the first."""
    input:
        data=lambda wc: data_file(SWAPPED),
        exploration=rules.explore.output.chain.format(problem=SWAPPED, chain=CHAINS[0]),
        network=lambda wc: fitted_surrogate(SWAPPED, "nng_hmc", CHAINS[0]),
        hmc=lambda wc: chain_files(rules.sample.output.chain, SWAPPED, "hmc"),
        nng_hmc=lambda wc: chain_files(rules.sample.output.chain, SWAPPED, "nng_hmc"),
    output:
        draws=f"{RESULTS}/tables/nng_fig4_draws.csv",
        acceptance=f"{RESULTS}/tables/nng_fig4_acceptance.csv",
    resources:
        **demand(mem_mb=2000, runtime=60),
    params:
        code=lambda wc: code("scripts/nng_fig4_table.py", target_entry(SWAPPED), *ENTRIES["nng_hmc"]),
        spec=lambda wc: {
            **target_spec(SWAPPED),
            "experiment": {
                "old_sd": PROBLEMS[SWAPPED]["target"]["prior_sd"],
                "new_sd": EXPERIMENTS["nng_fig4"]["prior_sd"],
                **without(EXPERIMENTS["nng_fig4"], "problem", "prior_sd"),
            },
            "surrogate": PROBLEMS[SWAPPED]["surrogates"][surrogate_of(SWAPPED, "nng_hmc")],
            "samplers": {name: dynamics_of(SWAPPED, name) for name in ("hmc", "nng_hmc")},
        },
    script:
        "../scripts/nng_fig4_table.py"


rule table_nng_fig5:
    """Train gradient networks of several designs on the gradients of each exploration."""
    input:
        chain=lambda wc: chain_files(rules.explore_recorded.output.chain, DESIGNED, "nng_hmc"),
        gradients=lambda wc: chain_files(rules.explore_recorded.output.gradients, DESIGNED, "nng_hmc"),
    output:
        table=f"{RESULTS}/tables/nng_fig5.csv",
    resources:
        **demand(mem_mb=2000, runtime=60),
    params:
        spec=lambda wc: {
            "seed": config["seed"],
            "iterations": [iterations(DESIGNED, "discard"), training_end(DESIGNED, surrogate_of(DESIGNED, "nng_hmc"))],
            "experiment": without(EXPERIMENTS["nng_fig5"], "problem"),
        },
    script:
        "../scripts/nng_fig5_table.py"


rule table_nng_fig6:
    """Write the series of the GARCH model."""
    input:
        data=lambda wc: data_file("garch"),
    output:
        table=f"{RESULTS}/tables/nng_fig6.csv",
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/nng_fig6_table.py"


rule table_nng_fig7_fig8:
    """Gather the posteriors of the Gaussian process's hyperparameters, and predict with them."""
    input:
        data=lambda wc: data_file("gp_regression"),
        chains=lambda wc: sampler_files("gp_regression", "hmc", "nng_hmc"),
    output:
        fig7=f"{RESULTS}/tables/nng_fig7.csv",
        fig8=f"{RESULTS}/tables/nng_fig8.csv",
    resources:
        **demand(mem_mb=1000, runtime=20),
    params:
        spec=lambda wc: {"target": PROBLEMS["gp_regression"]["target"]},
    script:
        "../scripts/nng_gp_tables.py"


rule table_nng_fig9_fig10:
    """Gather posteriors and traces from stochastic, network and exact gradients."""
    input:
        marginals=lambda wc: sampler_files("cover_type", "hmc", "nng_hmc", "sghmc"),
        traces=lambda wc: sampler_files("cover_type", "nng_hmc", "sghmc_mh", "sghmc"),
    output:
        fig9=f"{RESULTS}/tables/nng_fig9.csv",
        fig10=f"{RESULTS}/tables/nng_fig10.csv",
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/nng_sghmc_tables.py"


# The tables of each figure that shows one problem, where the run has both.
NETWORK_TABLES = [
    path
    for figure, problem, tables in (
        ("nng_fig1", SCHEDULED, rules.table_nng_fig1.output),
        ("nng_fig4", SWAPPED, rules.table_nng_fig4.output),
        ("nng_fig5", DESIGNED, rules.table_nng_fig5.output),
        ("nng_fig6", "garch", rules.table_nng_fig6.output),
        ("nng_fig7", "gp_regression", rules.table_nng_fig7_fig8.output),
        ("nng_fig9", "cover_type", rules.table_nng_fig9_fig10.output),
    )
    if problem in PROBLEMS
    and "nng_hmc" in samplers(problem)
    and (figure not in EXPERIMENTS or is_selected(config, figure))
    for path in tables
]
