"""Figures, each an entry beside the function that draws it (`rnshmc.plots`), and pages: the notebooks of the run, the first
page of the report, the page of the scorecard."""

from rnshmc.plots.drawing import source
from rnshmc.plots.registry import FIGURE_READERS, run_figures
from rnshmc.report.notebooks import Run, notebooks, read_pages, shown

MADE_TABLES = {Path(path).stem for path in [*rules.tables.output, *EXTRA_TABLES]}
FIGURES = run_figures(
    # A view without problems has nothing to draw.
    available=MADE_TABLES - {view for view, names in TABLE_VIEWS.items() if not names}
    | ({"metrics", "published"} if PAGED else set()),
    of_problems={
        name: {"chains", "metrics", "published"} | ({"forward", "predictions"} if name in ELLIPTIC else set())
        for name in PAGED
    },
    # Numbers of ranks that are measured.
    config={**config, "scaling": {**SCALING, "ranks": SCALING_RANKS}},
    problems=PROBLEMS,
)


rule figure:
    """Draw a figure as PNG and PDF."""
    input:
        unpack(lambda wc: {name: read_by_figure(name, FIGURES[wc.figure].problem) for name in FIGURES[wc.figure].reads}),
    output:
        figure=report(
            f"{RESULTS}/figures/{{figure}}.png",
            caption="../report/figure.rst",
            category=lambda wc: "Problems" if FIGURES[wc.figure].page == "problem" else "Figures",
            subcategory=lambda wc: FIGURES[wc.figure].problem if FIGURES[wc.figure].page == "problem" else None,
            labels=lambda wc: {"figure": FIGURES[wc.figure].title},
        ),
        pdf=f"{RESULTS}/figures/{{figure}}.pdf",
    wildcard_constraints:
        figure=one_of(FIGURES),
    resources:
        **demand(mem_mb=2000, runtime=10),
    params:
        code=lambda wc: code(
            "scripts/figure.py",
            source(FIGURES[wc.figure].draw),
            *(source(FIGURE_READERS[name]) for name in FIGURES[wc.figure].reads if name in FIGURE_READERS),
        ),
        spec=lambda wc: {
            "draw": source(FIGURES[wc.figure].draw),
            "readers": {
                name: source(FIGURE_READERS[name]) if name in FIGURE_READERS else "pandas:read_csv"
                for name in FIGURES[wc.figure].reads
            },
            "settings": FIGURES[wc.figure].arguments,
            "caption": FIGURES[wc.figure].caption,
        },
    script:
        "../scripts/figure.py"


FIGURE_OUTPUTS = expand([rules.figure.output.figure, rules.figure.output.pdf], figure=FIGURES)

STYLE = project_path("workflow/report/style.css")
INCLUDED = [STYLE, project_path("workflow/report/tally.html.j2")]


# The pages that are notebooks: title, files, figures and parameters of each.
NOTEBOOKS = {
    **notebooks(
        read_pages(ROOT / "workflow/notebooks", PAPERS),
        Run(
            folder=RESULTS,
            project=project_path("."),
            config=config,
            problems={
                name: {
                    **{key: entry[key] for key in ("title", "target", "samplers", "surrogates")},
                    "iterations": {phase: iterations(name, phase) for phase in ("explore", "discard", "keep")},
                }
                for name, entry in PROBLEMS.items()
            },
            figures=FIGURES,
            tables=MADE_TABLES,
            published=PUBLISHED if OF_PAPERS else [],
        ),
    ),
    **{name: problem_notebook(name) for name in PAGED},
}
# The notebook of each page.
SOURCES = {page: f"workflow/notebooks/{'problem' if page in PAGED else page}.ipynb" for page in NOTEBOOKS}


rule notebook:
    """Execute the notebook of an experiment or of a problem and make a page of the report of it."""
    input:
        unpack(lambda wc: NOTEBOOKS[wc.page]["files"]),
        figures=lambda wc: [figure["path"] for figure in NOTEBOOKS[wc.page]["figures"].values()],
        # Whether the run is as large as the papers', for the pages about a paper.
        compared=lambda wc: [rules.tables.output.results, *PUBLISHED] if NOTEBOOKS[wc.page]["paper"] else [],
        notebook=lambda wc: project_path(SOURCES[wc.page]),
        template=project_path("workflow/report/notebook/index.html.j2"),
        template_settings=project_path("workflow/report/notebook/conf.json"),
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
        code=lambda wc: code("scripts/notebook.py", *script_imports(ROOT / SOURCES[wc.page])),
        spec=lambda wc: {
            "files": list(NOTEBOOKS[wc.page]["files"]),
            "titles": TITLES,
            "parameters": {
                "run": config["run"],
                "title": NOTEBOOKS[wc.page]["title"],
                "figures": NOTEBOOKS[wc.page]["figures"],
                **NOTEBOOKS[wc.page]["parameters"],
            },
        },
    script:
        "../scripts/notebook.py"


rule report:
    """Make the first page of the report: the sums of the scorecard, Table 1, and links to the notebooks."""
    input:
        **{name: rules.tables.output[name] for name in ("results", "diagnostics", "agreement")},
        table=rules.tables.output[NO_PAPER.view],
        errors=rules.tables.output[f"{NO_PAPER.view}_se"],
        template=project_path("workflow/report/index.html.j2"),
        style=INCLUDED,
        papers=project_path("papers/papers.csv"),
        views=VIEWS_FILE,
        # A run of a user's own problems is not compared with a paper.
        scorecard=rules.scorecard.output if OF_PAPERS else [],
        published=PUBLISHED,
        figures=[
            rules.figure.output.figure.format(figure=name)
            for name, drawing in FIGURES.items()
            if drawing.page in NOTEBOOKS
        ],
        pages=expand(rules.notebook.output.page, page=NOTEBOOKS),
        provenance=rules.provenance.output.provenance,
    output:
        page=f"{RESULTS}/report/index.html",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={
            "run": config["run"],
            "titles": TITLES,
            "links": [
                {
                    "name": page,
                    **{key: entry[key] for key in ("title", "paper", "items")},
                    "figures": {name: figure["title"] for name, figure in entry["figures"].items()},
                }
                for page, entry in NOTEBOOKS.items()
            ],
        },
    script:
        "../scripts/report.py"


rule scorecard_page:
    """Make the page of the scorecard: every printed number beside ours, and the rules."""
    input:
        template=project_path("workflow/report/scorecard.html.j2"),
        style=INCLUDED,
        scorecard=rules.scorecard.output.scorecard,
        papers=project_path("papers/papers.csv"),
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
