"""Figures, notebooks and the report."""

PAPER_TABLE = "workflow/report/paper_table1.csv"
RUN_FIGURES = ["error_of_mean", "efficiency", "acceptance", "evaluations"]
PROBLEM_FIGURES = ["traces", "marginals", "autocorrelation"]


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


rule notebook:
    """Execute the notebook of a problem and make a page of the report of it."""
    input:
        notebook="workflow/notebooks/problem.ipynb",
        template="workflow/report/notebook/index.html.j2",
        paper=PAPER_TABLE,
        story=lambda wc: stories([wc.problem]),
        forward=lambda wc: data_of(wc) if problem(wc)["target"]["kind"] == "elliptic" else [],
        chains=lambda wc: of_every_chain(rules.sample.output.chain, [wc.problem]),
        metrics=lambda wc: of_every_chain(rules.metrics.output.metrics, [wc.problem]),
        table1=rules.tables.output.table1,
        code=code("scripts/notebook.py") + code("notebooks/problem.ipynb"),
    output:
        notebook=f"{RESULTS}/report/{{problem}}.ipynb",
        page=f"{RESULTS}/report/{{problem}}.html",
    params:
        spec=lambda wc: {
            "run": config["run"],
            "problem": wc.problem,
            "title": TITLES[wc.problem],
            "results": RESULTS,
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
            *expand(f"{RESULTS}/figures/{{problem}}_marginals.png", problem=PROBLEMS),
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
