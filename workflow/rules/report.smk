"""Notebooks and the report."""

# Figures of paper B that only their own pages show.
ON_OTHER_PAGES = {"nng_fig6", "nng_fig7", "nng_fig8", "nng_fig10"}
STYLE = "workflow/report/style.css"


rule notebook:
    """Execute the notebook of an experiment or of a problem and make a page of the report of it."""
    input:
        unpack(lambda wc: NOTEBOOKS[wc.page]["files"]),
        figures=lambda wc: list(NOTEBOOKS[wc.page]["figures"].values()),
        notebook=lambda wc: f"workflow/{notebook_source(wc)}",
        template="workflow/report/notebook/index.html.j2",
        template_settings="workflow/report/notebook/conf.json",
        style=STYLE,
    output:
        notebook=f"{RESULTS}/report/{{page}}.ipynb",
        page=report(
            f"{RESULTS}/report/{{page}}.html",
            caption="../report/notebook.rst",
            category="Notebooks",
            labels={"notebook": "{page}"},
        ),
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
    wildcard_constraints:
        page="|".join(NOTEBOOKS),
    log:
        f"{LOGS}/report/{{page}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=20),
    script:
        "../scripts/notebook.py"


rule report:
    """Make the pages that tell what the run was, what came out, and how it compares with the paper."""
    input:
        template="workflow/report/index.html.j2",
        scorecard_template="workflow/report/scorecard.html.j2",
        style=STYLE,
        table1=rules.tables.output.table1,
        table1_se=rules.tables.output.table1_se,
        diagnostics=rules.tables.output.diagnostics,
        agreement=rules.tables.output.agreement,
        nng_tables=rules.network_tables.output.table,
        nng_tables_se=rules.network_tables.output.table_se,
        scorecard=rules.scorecard.output.scorecard,
        claims=CLAIMS,
        paper=PAPER_TABLE,
        metrics=expand(rules.metrics.output.metrics, problem=PROBLEMS),
        timing=of_every_sampler(rules.timing.output.timing),
        stories=stories(PROBLEMS),
        figures=[
            rules.figure.output.figure.format(figure=name)
            for name in (*RUN_FIGURES, *(f"{problem}_field" for problem in ELLIPTIC))
            if name not in ON_OTHER_PAGES
        ],
        pages=expand(rules.notebook.output.page, page=NOTEBOOKS),
        provenance=rules.provenance.output.provenance,
    output:
        page=f"{RESULTS}/report/index.html",
        scorecard=report(
            f"{RESULTS}/report/scorecard.html",
            caption="../report/scorecard.rst",
            category="Tables",
            labels={"table": "scorecard, with its rules"},
        ),
    params:
        code=code("scripts/report.py"),
        spec={"run": config["run"], "titles": TITLES, "gradient_titles": GRADIENT_TITLES},
    log:
        f"{LOGS}/report/index.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/report.py"
