"""Pages: the notebooks of the run, what each of them reads, and the report."""

# Figures of paper B that only their own pages show.
ON_OTHER_PAGES = {"nng_fig6", "nng_fig7", "nng_fig8", "nng_fig10"}
STYLE = ours("workflow/report/style.css")


NETWORK_TABLES = ("nng_tables", "nng_tables_se", "agreement", "diagnostics")
# Pages on problems of paper B: title, problems, figures, other parameters; where the config has any of the problems.
NETWORK_PAGES = {
    page: (title, chosen, figures, parameters)
    for page, title, names, figures, parameters in (
        (
            "gradient_models",
            "Models with expensive gradients: GARCH and Gaussian processes",
            ["garch", "gp_regression"],
            ("nng_fig6", "nng_fig7", "nng_fig8"),
            {"series": SIMULATED["garch"], "regression": SIMULATED["gp_regression"]},
        ),
        (
            "gradient_logistic",
            "Logistic regression in 200 dimensions and on real data",
            [*dict.fromkeys((SWAPPED, DESIGNED)), "news", "census", "dota2"],
            ("nng_fig4", "nng_fig5"),
            {"new_sd": config["experiments"]["nng_fig4"]["prior_sd"]},
        ),
        (
            "gradient_stochastic",
            "Stochastic gradient HMC on Cover Type",
            ["cover_type"],
            ("nng_fig9", "nng_fig10"),
            {},
        ),
    )
    if (chosen := [name for name in names if name in NETWORK_PROBLEMS])
}

# The pages of the report that are notebooks: the source, what it is called, the files that it reads, the figures that it
# shows, other parameters.
BESIDE_PAPER = {**run_tables("scorecard"), "published": PUBLISHED}
ALL_NOTEBOOKS = {
    "surrogates": {
        "title": "Surrogates in one and two dimensions: Figures 1 and 2",
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
        "title": "Dimension, network size and training set: Figures 4 and 5",
        "files": {**run_tables(*SWEEPS), **BESIDE_PAPER},
        "figures": drawn(*SWEEPS),
    },
    "table1": {
        "title": "Four posteriors: Table 1",
        "files": {
            **run_tables("table1", "potential_matching"),
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
        "title": "Adaptive surrogates: Figures 7 and 8",
        "files": {**run_tables("fig7", "fig8"), **BESIDE_PAPER},
        "figures": drawn("fig7", "fig8"),
        "parameters": {"titles": TITLES},
    },
    "gradients": {
        "title": "Gradients learnt by a network: paper B",
        "files": {
            **run_tables("nng_fig2_trajectories", "nng_fig2_acceptance", "nng_fig3_acceptance", "nng_table4"),
            **run_tables(*NETWORK_TABLES),
            **BESIDE_PAPER,
        },
        "figures": drawn("nng_fig2", "nng_fig3"),
        "parameters": {
            "titles": TITLES,
            "pages": {page: title for page, (title, *_) in NETWORK_PAGES.items()},
            "banana": EXPERIMENTS["nng_fig2"],
            "gaussian": EXPERIMENTS["nng_fig3"],
            "comparison": EXPERIMENTS["nng_table4"],
        },
    },
    **{page: network_page(*entry) for page, entry in NETWORK_PAGES.items()},
    **{
        name: {
            "source": "problem",
            "title": TITLES[name],
            "files": {
                "chain_files": of_every_chain(rules.sample.output.chain, [name]),
                "metrics_files": [rules.metrics.output.metrics.format(problem=name)],
                **run_tables("table1", "diagnostics"),
                "story": stories([name]),
            },
            "figures": {figure: f"{RESULTS}/figures/{name}_{figure}.png" for figure in FIGURES_OF[name]},
            "parameters": {"problem": name, "paper": PAPERS.get(name, ""), **names_of(name)},
        }
        for name in PAGED
    },
}


# A page is made where the run has all that it shows, and the scorecard if it is of a paper.
NOTEBOOKS = {
    name: page
    for name, page in ALL_NOTEBOOKS.items()
    if all(Path(path).stem in DRAWN for path in page["figures"].values())
    and (OF_PAPERS or "scorecard" not in page["files"])
    and (name != "gradients" or is_selected(config, "nng_table4"))
}


rule notebook:
    """Execute the notebook of an experiment or of a problem and make a page of the report of it."""
    input:
        unpack(lambda wc: NOTEBOOKS[wc.page]["files"]),
        figures=lambda wc: list(NOTEBOOKS[wc.page]["figures"].values()),
        notebook=lambda wc: ours(f"workflow/{notebook_source(wc)}"),
        template=ours("workflow/report/notebook/index.html.j2"),
        template_settings=ours("workflow/report/notebook/conf.json"),
        style=STYLE,
    output:
        notebook=f"{RESULTS}/report/{{page}}.ipynb",
        page=report(
            f"{RESULTS}/report/{{page}}.html",
            caption="../report/notebook.rst",
            category="Notebooks",
            labels={"notebook": "{page}"},
        ),
    wildcard_constraints:
        page=one_of(NOTEBOOKS),
    resources:
        **demand(mem_mb=2000, runtime=20),
    params:
        code=lambda wc: code("scripts/notebook.py", *script_imports(ROOT / "workflow" / notebook_source(wc))),
        spec=lambda wc: {
            "files": list(NOTEBOOKS[wc.page]["files"]),
            "parameters": {
                "run": config["run"],
                "title": NOTEBOOKS[wc.page]["title"],
                "figures": NOTEBOOKS[wc.page]["figures"],
                **NOTEBOOKS[wc.page].get("parameters", {}),
            },
        },
    script:
        "../scripts/notebook.py"


rule report:
    """Make the first page of the report: what was run, and what came out."""
    input:
        template=ours("workflow/report/index.html.j2"),
        style=STYLE,
        table1=rules.tables.output.table1,
        table1_se=rules.tables.output.table1_se,
        diagnostics=rules.tables.output.diagnostics,
        agreement=rules.tables.output.agreement,
        nng_tables=rules.tables.output.nng_tables,
        nng_tables_se=rules.tables.output.nng_tables_se,
        # A run of a user's own problems is compared with no paper.
        scorecard=rules.scorecard.output if OF_PAPERS else [],
        published=PUBLISHED,
        metrics=expand(rules.metrics.output.metrics, problem=PAGED),
        stories=stories(PAGED),
        figures=[
            rules.figure.output.figure.format(figure=name)
            for name in (*RUN_FIGURES, *(f"{problem}_field" for problem in ELLIPTIC))
            if name not in ON_OTHER_PAGES
        ],
        pages=expand(rules.notebook.output.page, page=NOTEBOOKS),
        provenance=rules.provenance.output.provenance,
    output:
        page=f"{RESULTS}/report/index.html",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={"run": config["run"], "titles": TITLES},
    script:
        "../scripts/report.py"


rule scorecard_page:
    """Make the page of the scorecard: every printed number beside ours, and the rules."""
    input:
        template=ours("workflow/report/scorecard.html.j2"),
        style=STYLE,
        scorecard=rules.scorecard.output.scorecard,
        papers=TITLES_OF_PAPERS,
        published=PUBLISHED,
        metrics=expand(rules.metrics.output.metrics, problem=PAGED),
    output:
        page=report(
            f"{RESULTS}/report/scorecard.html",
            caption="../report/scorecard.rst",
            category="Tables",
            labels={"table": "scorecard, with its rules"},
        ),
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={"run": config["run"], "titles": TITLES},
    script:
        "../scripts/scorecard_page.py"


SCORECARD_OUTPUTS = [*rules.scorecard.output, *rules.scorecard_page.output] if OF_PAPERS else []
