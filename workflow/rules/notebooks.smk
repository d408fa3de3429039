"""The pages of the report that are notebooks, and what each of them reads."""


def run_tables(*names):
    """Tables of the run by their names: the parameters of notebooks that read them."""
    return {name: f"{RESULTS}/tables/{name}.csv" for name in names}


# The pages of the report that are notebooks: the source, what it is called, the files that it reads, other parameters.
BESIDE_PAPER = {**run_tables("scorecard"), "claims": CLAIMS}
NOTEBOOKS = {
    "surrogates": {
        "title": "Surrogates in small: Figures 1 and 2",
        "files": {
            "points": f"{RESULTS}/tables/fig1_points.csv",
            "curves": f"{RESULTS}/tables/fig1.csv",
            "errors": f"{RESULTS}/tables/fig1_errors.csv",
            "field": f"{RESULTS}/tables/fig2_field.csv",
            "trajectories": f"{RESULTS}/tables/fig2_trajectories.csv",
            "acceptance": f"{RESULTS}/tables/fig2_acceptance.csv",
            **BESIDE_PAPER,
        },
    },
    "gaussian": {
        "title": "A narrow Gaussian in 32 dimensions: Figure 3",
        "files": {"sweep": f"{RESULTS}/tables/fig3.csv", **BESIDE_PAPER},
    },
    "sweeps": {
        "title": "Dimension, network and training set: Figures 4 and 5",
        "files": {**run_tables(*SWEEPS), **BESIDE_PAPER},
        "parameters": {"cuts": {name: SWEEP[name]["cuts"] for name in SWEEPS}},
    },
    "table1": {
        "title": "Four posteriors: Table 1",
        "files": {
            **run_tables("table1", "table1_se", "potential_matching"),
            "paper_table": PAPER_TABLE,
            "metrics_files": of_every_chain(rules.metrics.output.metrics),
            **BESIDE_PAPER,
        },
        "parameters": {"titles": TITLES},
    },
    "marginals": {
        "title": "HMC and RNS-HMC sample the same posterior: Figure 6",
        "files": run_tables("fig6", "agreement"),
        "parameters": {"titles": TITLES, "problem": FIG6},
    },
    "adaptive": {
        "title": "Learning on the way: Figures 7 and 8",
        "files": {**run_tables("fig7", "fig8"), **BESIDE_PAPER},
        "parameters": {"titles": TITLES},
    },
    **{
        name: {
            "source": "problem",
            "title": TITLES[name],
            "files": {
                "chain_files": of_every_chain(rules.sample.output.chain, [name]),
                "metrics_files": of_every_chain(rules.metrics.output.metrics, [name]),
                "table1": rules.tables.output.table1,
                "paper_table": PAPER_TABLE,
                "story": stories([name]),
                "forward": [data_file(name)] if name in ELLIPTIC else [],
            },
            "parameters": {"problem": name},
        }
        for name in PROBLEMS
    },
}


def notebook_source(wildcards):
    """The notebook that a page is made of."""
    return f"notebooks/{NOTEBOOKS[wildcards.page].get('source', wildcards.page)}.ipynb"
