"""Figures, notebooks and the report."""

PAPER_TABLE = "workflow/report/paper_table1.csv"
RUN_FIGURES = ["error_of_mean", "efficiency", "acceptance", "evaluations"]
PROBLEM_FIGURES = ["traces", "marginals", "autocorrelation"]
STYLE = "workflow/report/style.css"


rule figures:
    """Draw the figures that compare samplers over all problems."""
    input:
        metrics=of_every_chain(rules.metrics.output.metrics),
        table1=rules.tables.output.table1,
        table1_se=rules.tables.output.table1_se,
        rem=rules.tables.output.rem,
        paper=PAPER_TABLE,
        code=code("scripts/figures.py"),
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
        spec={"titles": TITLES},
    log:
        f"{LOGS}/figures.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    script:
        "../scripts/figures.py"


rule problem_figures:
    """Draw the figures of one problem's draws."""
    input:
        chains=lambda wc: of_every_chain(rules.sample.output.chain, [wc.problem]),
        code=code("scripts/problem_figures.py"),
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
        spec=lambda wc: {"title": TITLES[wc.problem]},
    log:
        f"{LOGS}/figures/{{problem}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    script:
        "../scripts/problem_figures.py"


rule field_figure:
    """Draw the diffusion field that the chains of an elliptic problem found."""
    input:
        forward=data_of,
        chains=lambda wc: of_every_chain(rules.sample.output.chain, [wc.problem]),
        code=code("scripts/field_figure.py"),
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
        spec=lambda wc: {"title": TITLES[wc.problem], "target": problem(wc)["target"]},
    log:
        f"{LOGS}/figures/{{problem}}_field.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    script:
        "../scripts/field_figure.py"


rule notebook:
    """Execute the notebook of a problem and make a page of the report of it."""
    input:
        notebook="workflow/notebooks/problem.ipynb",
        template="workflow/report/notebook/index.html.j2",
        template_settings="workflow/report/notebook/conf.json",
        style=STYLE,
        paper=PAPER_TABLE,
        story=lambda wc: stories([wc.problem]),
        forward=lambda wc: data_of(wc) if wc.problem in ELLIPTIC else [],
        chains=lambda wc: of_every_chain(rules.sample.output.chain, [wc.problem]),
        metrics=lambda wc: of_every_chain(rules.metrics.output.metrics, [wc.problem]),
        table1=rules.tables.output.table1,
        code=code("scripts/notebook.py") + code("notebooks/problem.ipynb"),
    output:
        notebook=f"{RESULTS}/report/{{problem}}.ipynb",
        page=report(
            f"{RESULTS}/report/{{problem}}.html",
            caption="../report/notebook.rst",
            category="Problems",
            subcategory="{problem}",
            labels={"figure": "notebook"},
        ),
    params:
        spec=lambda wc: {
            "run": config["run"],
            "problem": wc.problem,
            "title": TITLES[wc.problem],
        },
    log:
        f"{LOGS}/report/{{problem}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    script:
        "../scripts/notebook.py"


rule report:
    """Make the page that tells what the run was and what came out."""
    input:
        template="workflow/report/index.html.j2",
        style=STYLE,
        table1=rules.tables.output.table1,
        table1_se=rules.tables.output.table1_se,
        diagnostics=rules.tables.output.diagnostics,
        agreement=rules.tables.output.agreement,
        paper=PAPER_TABLE,
        metrics=of_every_chain(rules.metrics.output.metrics),
        timing=of_every_sampler(rules.timing.output.timing),
        stories=stories(PROBLEMS),
        figures=[
            *(f"{RESULTS}/figures/{name}.png" for name in RUN_FIGURES),
            *expand(rules.problem_figures.output.marginals, problem=PROBLEMS),
            *expand(rules.field_figure.output.field, problem=ELLIPTIC),
        ],
        pages=expand(rules.notebook.output.page, problem=PROBLEMS),
        provenance=rules.provenance.output.provenance,
        code=code("scripts/report.py"),
    output:
        page=f"{RESULTS}/report/index.html",
    params:
        spec={"run": config["run"], "titles": TITLES},
    log:
        f"{LOGS}/report/index.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../scripts/report.py"
