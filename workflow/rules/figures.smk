"""Figures: each is an entry beside the function that draws it (`rnshmc.plots`)."""

from rnshmc.plots.drawing import source
from rnshmc.plots.readers import FIGURE_READERS
from rnshmc.plots.registry import run_figures

MADE_TABLES = {Path(path).stem for path in [*rules.tables.output, *EXTRA_TABLES]}
FIGURES = run_figures(
    # A view without problems has nothing to draw.
    available=MADE_TABLES - {view for view, names in TABLE_VIEWS.items() if not names}
    | ({"metrics", "published"} if PAGED else set()),
    of_problems={
        name: {"chains", "metrics", "published"} | ({"forward", "predictions"} if name in ELLIPTIC else set()) for name in PAGED
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
