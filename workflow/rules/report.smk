"""Pages: the notebooks of the run, what each of them reads, and the report."""

from rnshmc.report.notebooks import Run, notebooks, read_pages

STYLE = ours("workflow/report/style.css")
PAGES_FILE = ours("papers/pages.yaml")
PAGES = read_pages(Path(PAGES_FILE), PAPERS)
# What pages know of problems.
SHOWN = {
    name: {
        **{key: entry[key] for key in ("title", "target", "samplers", "surrogates")},
        "iterations": {phase: iterations(name, phase) for phase in ("explore", "discard", "keep")},
    }
    for name, entry in PROBLEMS.items()
}
RUN = Run(
    folder=RESULTS,
    project=ours("."),
    config=config,
    problems=SHOWN,
    figures={name: FIGURES[name].tables for name in RUN_FIGURES},
    tables=[Path(path).stem for path in MADE_TABLES],
    published=PUBLISHED if OF_PAPERS else [],
)
# The pages that are notebooks: title, files, figures, parameters and, where it has another name, the source.
NOTEBOOKS = {
    **notebooks(PAGES, RUN),
    **{
        name: {
            "source": "problem",
            "title": TITLES[name],
            "files": {
                "chain_files": of_every_chain(rules.sample.output.chain, [name]),
                "metrics_files": [rules.metrics.output.metrics.format(problem=name)],
                **{table: f"{RESULTS}/tables/{table}.csv" for table in ("table1", "diagnostics")},
                "story": stories([name]),
            },
            "figures": {figure: f"{RESULTS}/figures/{name}_{figure}.png" for figure in FIGURES_OF[name]},
            "parameters": {"problem": name, "paper": PAPERS.get(name, ""), **names_of(name)},
        }
        for name in PAGED
    },
}
# Figures that the first page leaves to the pages about problems: all but those in a chapter's template.
FIRST_PAGE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow/report").rglob("*.html.j2"))


# The notebook that each page is made of.
SOURCES = {page: f"workflow/notebooks/{entry.get('source', page)}.ipynb" for page, entry in NOTEBOOKS.items()}


rule notebook:
    """Execute the notebook of an experiment or of a problem and make a page of the report of it."""
    input:
        unpack(lambda wc: NOTEBOOKS[wc.page]["files"]),
        figures=lambda wc: list(NOTEBOOKS[wc.page]["figures"].values()),
        notebook=lambda wc: ours(SOURCES[wc.page]),
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
        code=lambda wc: code("scripts/notebook.py", *script_imports(ROOT / SOURCES[wc.page])),
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
        **{name: rules.tables.output[name] for view in TABLE_VIEWS for name in (view, f"{view}_se")},
        **{name: rules.tables.output[name] for name in ("results", "diagnostics", "agreement")},
        # A run of a user's own problems is compared with no paper.
        template=ours("workflow/report/index.html.j2"),
        parts=[ours("workflow/report/macros.html.j2")]
        + [
            ours(f"workflow/report/chapters/{path.name}")
            for path in sorted((ROOT / "workflow/report/chapters").iterdir())
        ],
        style=STYLE,
        papers=ours("papers/papers.csv"),
        views=VIEWS_FILE,
        chapters=ours("papers/chapters.csv"),
        pages_of_papers=PAGES_FILE,
        scorecard=rules.scorecard.output if OF_PAPERS else [],
        published=PUBLISHED,
        metrics=expand(rules.metrics.output.metrics, problem=PROBLEMS),
        stories=stories(PAGED),
        figures=[
            rules.figure.output.figure.format(figure=name)
            for name in (*RUN_FIGURES, *(f"{problem}_field" for problem in ELLIPTIC))
            if f'"{name}"' in FIRST_PAGE or name not in RUN_FIGURES
        ],
        pages=expand(rules.notebook.output.page, page=NOTEBOOKS),
        provenance=rules.provenance.output.provenance,
    output:
        page=f"{RESULTS}/report/index.html",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={"run": config["run"], "titles": TITLES, "paper_of": PAPER_OF},
    script:
        "../scripts/report.py"


rule scorecard_page:
    """Make the page of the scorecard: every printed number beside ours, and the rules."""
    input:
        template=ours("workflow/report/scorecard.html.j2"),
        style=STYLE,
        scorecard=rules.scorecard.output.scorecard,
        papers=ours("papers/papers.csv"),
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
