"""Figures, notebooks and the report."""

RUN_FIGURES = ["efficiency", "acceptance", "evaluations", "fig7", "fig8"]
PAPER_FIGURES = ["fig1", "fig2", "fig3", "fig4", "fig5", "fig6"]
# Those of paper B that tell its story, and those on several processes: only what the config asks for.
GRADIENT_FIGURES = ["nng_fig2", "nng_fig3", *(name for name in ("nng_fig4", "nng_fig5", "nng_fig9") if name in NETWORK_FIGURES)]
MPI_FIGURES = [
    path for path in (*SCALING_OUTPUTS, *MESH_STUDY_OUTPUTS) if path.startswith(f"{RESULTS}/figures/") and path.endswith(".png")
]
STYLE = "workflow/report/style.css"


rule figures:
    """Draw the figures that compare samplers over all problems."""
    input:
        metrics=expand(rules.metrics.output.metrics, problem=PAGED),
        table1=rules.tables.output.table1,
        table1_se=rules.tables.output.table1_se,
        fig7=rules.adaptive.output.fig7,
        fig8=rules.adaptive.output.fig8,
        paper=PAPER_TABLE,
    output:
        **{
            name: report(
                f"{RESULTS}/figures/{name}.png",
                caption=f"../report/{name}.rst",
                category="Figures",
                labels={"figure": name.replace("_", " ")},
            )
            for name in RUN_FIGURES
        },
        **{f"{name}_pdf": f"{RESULTS}/figures/{name}.pdf" for name in RUN_FIGURES},
    params:
        code=code("scripts/figures.py"),
        spec={"titles": TITLES},
    log:
        f"{LOGS}/figures.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/figures.py"


rule fig6:
    """Draw Fig. 6 from its table."""
    input:
        fig6=rules.fig6_table.output.fig6,
    output:
        fig6=report(
            f"{RESULTS}/figures/fig6.png",
            caption="../report/fig6.rst",
            category="Figures",
            labels={"figure": "fig6"},
        ),
        pdf=f"{RESULTS}/figures/fig6.pdf",
    params:
        code=code("scripts/fig6.py"),
        spec={"title": TITLES[FIG6]},
    log:
        f"{LOGS}/fig6.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/fig6.py"


rule problem_figures:
    """Draw the figures of one problem's draws."""
    input:
        chains=lambda wc: of_every_chain(rules.sample.output.chain, [wc.problem]),
        metrics=lambda wc: [rules.metrics.output.metrics.format(problem=wc.problem)],
        paper=PAPER_TABLE,
    output:
        **{
            name: report(
                f"{RESULTS}/figures/{{problem}}_{name}.png",
                caption=f"../report/{name}.rst",
                category="Problems",
                subcategory="{problem}",
                labels={"figure": name},
            )
            for name in PROBLEM_FIGURES
        },
        **{f"{name}_pdf": f"{RESULTS}/figures/{{problem}}_{name}.pdf" for name in PROBLEM_FIGURES},
    params:
        code=code("scripts/problem_figures.py"),
        spec=lambda wc: {"title": TITLES[wc.problem]},
    log:
        f"{LOGS}/figures/{{problem}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/problem_figures.py"


rule field_figure:
    """Draw the diffusion field that the chains of an elliptic problem found."""
    input:
        forward=data_of,
        chains=lambda wc: of_every_chain(rules.sample.output.chain, [wc.problem]),
    output:
        field=report(
            f"{RESULTS}/figures/{{problem}}_field.png",
            caption="../report/field.rst",
            category="Problems",
            subcategory="{problem}",
            labels={"figure": "field"},
        ),
        field_pdf=f"{RESULTS}/figures/{{problem}}_field.pdf",
    params:
        code=code("scripts/field_figure.py"),
        spec=lambda wc: {"title": TITLES[wc.problem], "target": problem(wc)["target"]},
    log:
        f"{LOGS}/figures/{{problem}}_field.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/field_figure.py"


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
        nng_tables=rules.tables.output.nng_tables,
        nng_tables_se=rules.tables.output.nng_tables_se,
        scorecard=rules.scorecard.output.scorecard,
        claims=CLAIMS,
        paper=PAPER_TABLE,
        metrics=expand(rules.metrics.output.metrics, problem=PAGED),
        timing=of_every_sampler(rules.timing.output.timing, PAGED),
        stories=stories(PAGED),
        figures=[
            *(f"{RESULTS}/figures/{name}.png" for name in (*PAPER_FIGURES, *RUN_FIGURES, *GRADIENT_FIGURES)),
            *MPI_FIGURES,
            *expand(rules.field_figure.output.field, problem=ELLIPTIC),
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
        spec={"run": config["run"], "titles": TITLES},
    log:
        f"{LOGS}/report/index.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/report.py"
