"""The pages of the report that are notebooks, and what each of them reads."""


def run_tables(*names):
    """Tables of the run by their names: the parameters of notebooks that read them."""
    return {name: f"{RESULTS}/tables/{name}.csv" for name in names}


# The problems of paper B that a page tells of, where the config has any of them.
GRADIENT_PAGES = {
    page: (title, chosen)
    for page, title, names in (
        ("gradient_models", "Models with dear gradients: GARCH and Gaussian processes", ["garch", "gp_regression"]),
        (
            "gradient_logistic",
            "Logistic regression in 200 dimensions and on real data",
            [*dict.fromkeys((SWAPPED, DESIGNED)), "news", "census", "dota2"],
        ),
        ("gradient_stochastic", "Gradients of a few rows: stochastic gradient HMC on Cover Type", ["cover_type"]),
    )
    if (chosen := [name for name in names if name in GRADIENT_PROBLEMS])
}


def drawn(*names):
    """Figures of the run by their names, for the pages that show them."""
    return {name: f"{RESULTS}/figures/{name}.png" for name in names}


def network_files(*figures):
    """Tables of figures of paper B, by the names of the figures: none of one that the config leaves out."""
    return {
        figure: list(run_tables(*FIGURES[figure].tables).values()) if figure in NETWORK_FIGURES else []
        for figure in figures
    }


def network_page(page, figures, parameters):
    """The page of some problems of paper B: files of its figures, and parameters of its own."""
    title, names = GRADIENT_PAGES[page]
    settings = {
        name: {
            **{key: ENTRIES_OF_PROBLEMS[name][key] for key in ("target", "samplers", "surrogates")},
            "iterations": {key: iterations(name, key) for key in ("explore", "discard", "keep")},
        }
        for name in names
    }
    return {
        "title": title,
        "files": {**run_tables(*NETWORK_TABLES), **network_files(*figures), **BESIDE_PAPER},
        "figures": drawn(*(name for name in figures if name in NETWORK_FIGURES)),
        "parameters": {"titles": GRADIENT_TITLES, "problems": settings, **parameters},
    }


NETWORK_TABLES = ("nng_tables", "nng_tables_se", "nng_agreement")
NETWORK_PAGES = {
    "gradient_models": (("nng_fig6", "nng_fig7", "nng_fig8"), {"series": GARCH_SERIES, "regression": REGRESSION}),
    "gradient_logistic": (
        ("nng_fig4", "nng_fig5"),
        {"new_sd": config["experiments"]["nng_fig4"]["prior_sd"]},
    ),
    "gradient_stochastic": (("nng_fig9", "nng_fig10"), {}),
}

# The pages of the report that are notebooks: the source, what it is called, the files that it reads, the figures that it
# shows, other parameters.
BESIDE_PAPER = {**run_tables("scorecard"), "claims": CLAIMS}
NOTEBOOKS = {
    "surrogates": {
        "title": "Surrogates in small: Figures 1 and 2",
        "files": {
            "errors": f"{RESULTS}/tables/fig1_errors.csv",
            "acceptance": f"{RESULTS}/tables/fig2_acceptance.csv",
            **BESIDE_PAPER,
        },
        "figures": drawn("fig1", "fig2"),
    },
    "gaussian": {
        "title": "A narrow Gaussian in 32 dimensions: Figure 3",
        "files": {"sweep": f"{RESULTS}/tables/fig3.csv", **BESIDE_PAPER},
        "figures": drawn("fig3"),
    },
    "sweeps": {
        "title": "Dimension, network and training set: Figures 4 and 5",
        "files": {**run_tables(*SWEEPS), **BESIDE_PAPER},
        "figures": drawn(*SWEEPS),
    },
    "table1": {
        "title": "Four posteriors: Table 1",
        "files": {
            **run_tables("table1", "potential_matching"),
            "paper_table": PAPER_TABLE,
            **BESIDE_PAPER,
        },
        "figures": drawn("efficiency", "evaluations", "acceptance"),
        "parameters": {"titles": TITLES},
    },
    "marginals": {
        "title": "HMC and RNS-HMC sample the same posterior: Figure 6",
        "files": run_tables("fig6", "agreement"),
        "figures": drawn("fig6"),
        "parameters": {"problem": FIG6},
    },
    "adaptive": {
        "title": "Learning on the way: Figures 7 and 8",
        "files": {**run_tables("fig7", "fig8"), **BESIDE_PAPER},
        "figures": drawn("fig7", "fig8"),
        "parameters": {"titles": TITLES},
    },
    "gradients": {
        "title": "Gradients learnt by a network: paper B from end to end",
        "files": {
            **run_tables("nng_fig2_trajectories", "nng_fig2_acceptance", "nng_fig3_acceptance", "nng_table4"),
            **run_tables(*NETWORK_TABLES),
            **BESIDE_PAPER,
        },
        "figures": drawn("nng_fig2", "nng_fig3"),
        "parameters": {
            "titles": GRADIENT_TITLES,
            "pages": {page: found for page, (found, _) in GRADIENT_PAGES.items()},
            "banana": EXPERIMENTS["nng_fig2"],
            "gaussian": EXPERIMENTS["nng_fig3"],
            "comparison": EXPERIMENTS["nng_table4"],
        },
    },
    **{page: network_page(page, *NETWORK_PAGES[page]) for page in GRADIENT_PAGES},
    **{
        name: {
            "source": "problem",
            "title": TITLES[name],
            "files": {
                "chain_files": of_every_chain(rules.sample.output.chain, [name]),
                "metrics_files": [rules.metrics.output.metrics.format(problem=name)],
                "table1": rules.tables.output.table1,
                "story": stories([name]),
            },
            "figures": {figure: f"{RESULTS}/figures/{name}_{figure}.png" for figure in FIGURES_OF[name]},
            "parameters": {"problem": name},
        }
        for name in PROBLEMS
    },
}


def notebook_source(wildcards):
    """The notebook that a page is made of."""
    return f"notebooks/{NOTEBOOKS[wildcards.page].get('source', wildcards.page)}.ipynb"
