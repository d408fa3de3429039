"""Figures 4 to 10 of paper B, from the chains of its problems; those of a problem that a config lacks are left out."""

# Figs. 4 and 5 are of the problem that the config names.
SWAPPED, DESIGNED = (config["experiments"][figure]["problem"] for figure in ("nng_fig4", "nng_fig5"))
DRIVEN_BY_NETWORK = [name for name in NETWORK_PROBLEMS if "nng_hmc" in samplers(name)]
NNG_TABLES = f"{RESULTS}/tables"


# By figure: the problem that it is of, and its tables in the order in which they are drawn.
NETWORK_FIGURES = {
    figure: (name, [f"{NNG_TABLES}/{table}.csv" for table in tables])
    for figure, name, tables in (
        ("nng_fig4", SWAPPED, ["nng_fig4_draws", "nng_fig4_acceptance"]),
        ("nng_fig5", DESIGNED, ["nng_fig5"]),
        ("nng_fig6", "garch", ["nng_fig6"]),
        ("nng_fig7", "gp_regression", ["nng_fig7"]),
        ("nng_fig8", "gp_regression", ["nng_fig8"]),
        ("nng_fig9", "cover_type", ["nng_fig9"]),
        ("nng_fig10", "cover_type", ["nng_fig10"]),
    )
    if name in DRIVEN_BY_NETWORK
}


if "nng_fig4" in NETWORK_FIGURES:

    rule nng_fig4_table:
        """Run HMC and NNg-HMC under another prior, with the network that was trained under the first."""
        input:
            data=data_file(SWAPPED),
            exploration=rules.explore.output.chain.format(problem=SWAPPED, chain=CHAINS[0]),
            network=rules.fit.output.surrogate.format(
                problem=SWAPPED, surrogate=network_of(SWAPPED), chain=CHAINS[0]
            ),
            hmc=rules.sample.output.chain.format(problem=SWAPPED, sampler="hmc", chain=CHAINS[0]),
            nng_hmc=rules.sample.output.chain.format(problem=SWAPPED, sampler="nng_hmc", chain=CHAINS[0]),
        output:
            draws=f"{NNG_TABLES}/nng_fig4_draws.csv",
            acceptance=f"{NNG_TABLES}/nng_fig4_acceptance.csv",
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
                    sampler: {key: network_spec(SWAPPED)[sampler][key] for key in ("step_size", "n_steps")}
                    for sampler in ("hmc", "nng_hmc")
                },
            },
        log:
            f"{LOGS}/network_figures/nng_fig4_table.log",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **demand(mem_mb=2000, runtime=60),
        script:
            "../scripts/nng_fig4_table.py"


if "nng_fig5" in NETWORK_FIGURES:

    rule nng_fig5_table:
        """Train gradient networks of several designs on the gradients of each exploration."""
        input:
            **{
                name: expand(
                    rules.explore_recorded.output[name], problem=DESIGNED, chain=chains_of(DESIGNED, "nng_hmc")
                )
                for name in ("chain", "gradients")
            },
        output:
            table=f"{NNG_TABLES}/nng_fig5.csv",
        params:
            code=code("scripts/nng_fig5_table.py"),
            spec={
                "seed": config["seed"],
                "iterations": [iterations(DESIGNED, "discard"), training_end(DESIGNED, network_of(DESIGNED))],
                "experiment": {key: config["experiments"]["nng_fig5"][key] for key in ("designs", "epochs")},
            },
        log:
            f"{LOGS}/network_figures/nng_fig5_table.log",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **demand(mem_mb=2000, runtime=60),
        script:
            "../scripts/nng_fig5_table.py"


if "nng_fig6" in NETWORK_FIGURES:

    rule nng_fig6_table:
        """Write down the series that the GARCH model is of."""
        input:
            data=data_file("garch"),
        output:
            table=f"{NNG_TABLES}/nng_fig6.csv",
        params:
            code=code("scripts/nng_fig6_table.py"),
        log:
            f"{LOGS}/network_figures/nng_fig6_table.log",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **demand(mem_mb=1000, runtime=10),
        script:
            "../scripts/nng_fig6_table.py"


if "nng_fig7" in NETWORK_FIGURES:

    rule nng_gp_tables:
        """Gather the posteriors of the hyperparameters of the Gaussian process, and predict with them."""
        input:
            data=data_file("gp_regression"),
            chains=of_recipes("gp_regression", "hmc", "nng_hmc"),
        output:
            fig7=f"{NNG_TABLES}/nng_fig7.csv",
            fig8=f"{NNG_TABLES}/nng_fig8.csv",
        params:
            code=code("scripts/nng_gp_tables.py"),
            spec={"target": PROBLEMS["gp_regression"]["target"]},
        log:
            f"{LOGS}/network_figures/nng_gp_tables.log",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **demand(mem_mb=1000, runtime=20),
        script:
            "../scripts/nng_gp_tables.py"


if "nng_fig9" in NETWORK_FIGURES:

    rule nng_sghmc_tables:
        """Gather posteriors and traces by stochastic, by network and by exact gradients."""
        input:
            marginals=of_recipes("cover_type", "hmc", "nng_hmc", "sghmc"),
            traces=of_recipes("cover_type", "nng_hmc", "sghmc_mh"),
        output:
            fig9=f"{NNG_TABLES}/nng_fig9.csv",
            fig10=f"{NNG_TABLES}/nng_fig10.csv",
        params:
            code=code("scripts/nng_sghmc_tables.py"),
        log:
            f"{LOGS}/network_figures/nng_sghmc_tables.log",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **demand(mem_mb=2000, runtime=10),
        script:
            "../scripts/nng_sghmc_tables.py"


for figure, (name, tables) in NETWORK_FIGURES.items():

    rule:
        """Draw a figure of paper B from its tables."""
        name:
            figure
        input:
            tables=tables,
        output:
            figure=report(
                f"{RESULTS}/figures/{figure}.png",
                caption=f"../report/{figure}.rst",
                category="Figures",
                labels={"figure": figure},
            ),
            pdf=f"{RESULTS}/figures/{figure}.pdf",
        params:
            code=code("scripts/network_figure.py"),
            spec={
                "figure": figure,
                "title": TITLES[name],
                "samplers": network_spec(name),
                "experiment": config["experiments"].get(figure, {}),
            },
        log:
            f"{LOGS}/network_figures/{figure}.log",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            **demand(mem_mb=1000, runtime=10),
        script:
            "../scripts/network_figure.py"


NETWORK_FIGURE_OUTPUTS = [
    f"{RESULTS}/figures/{figure}.{suffix}" for figure in NETWORK_FIGURES for suffix in ("png", "pdf")
]
