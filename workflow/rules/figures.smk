"""Figures: one rule draws all that rnshmc.plots.registry names."""

from typing import NamedTuple

from jinja2 import StrictUndefined, Template

from rnshmc.plots.drawing import FIGURE_READERS, Drawing
from rnshmc.plots.registry import FIGURES, PROBLEM_FIGURES

# The problem of each figure of the run that is of one; the settings of the experiment that a figure shows.
SHOWN_PROBLEMS = {"fig6": FIG6, **NETWORK_FIGURES}
SHOWN_SETTINGS = {**EXPERIMENTS, **{name: SWEEP[name] for name in SWEEPS}, "scaling": SCALING, "mesh_study": MESH_STUDY}
# Figures of problems, and whether the run has what they show; those of experiments are drawn where these are run.
DRAWN_OF_PROBLEMS = {
    **dict.fromkeys(("efficiency", "acceptance", "evaluations"), bool(PAGED)),
    "fig6": bool(FIG6_SAMPLERS),
    **dict.fromkeys(("fig7", "fig8"), bool(ADAPTED)),
    **{name: name in NETWORK_FIGURES for name in OF_NETWORK_PROBLEMS},
}
RUN_FIGURES = [
    name for name in FIGURES if DRAWN_OF_PROBLEMS.get(name, name in EXPERIMENT_TABLES and is_selected(config, name))
]
FIGURES_OF = {
    problem: [name for name in PROBLEM_FIGURES if name != "field" or problem in ELLIPTIC] for problem in PAGED
}


class Drawn(NamedTuple):
    """A figure: its name in the registry, its entry there, its problem if it is of one."""

    name: str
    entry: Drawing
    problem: str | None


# By the names of their files.
DRAWN = {name: Drawn(name, FIGURES[name], SHOWN_PROBLEMS.get(name)) for name in RUN_FIGURES} | {
    f"{problem}_{name}": Drawn(name, PROBLEM_FIGURES[name], problem)
    for problem in PAGED
    for name in FIGURES_OF[problem]
}
# What figures are drawn from beside tables, by their problem; none for one of all problems.
BESIDE_TABLES = {
    "chains": lambda problem: of_every_chain(rules.sample.output.chain, [problem]),
    "forward": data_file,
    "metrics": lambda problem: expand(rules.metrics.output.metrics, problem=problem or PAGED),
    "published": lambda problem: PUBLISHED,
}
# What drawing functions and captions ask for by name.
OF_PROBLEM = {
    name: {"problem": name, "title": title, "titles": {name: title}, "samplers": PROBLEMS[name]["samplers"]}
    # Coordinates are named by the target, or by the user.
    | {"target": {**PROBLEMS[name]["target"], **names_of(name)}}
    for name, title in TITLES.items()
}
FIGURE_SETTINGS = {
    figure: {
        "config": config,
        "titles": TITLES,
        "papers": PAPERS,
        **SHOWN_SETTINGS.get(drawn.name, {}),
        **OF_PROBLEM.get(drawn.problem, {}),
    }
    for figure, drawn in DRAWN.items()
}


rule figure:
    """Draw a figure from its tables."""
    input:
        unpack(
            lambda wc: {
                table: (
                    BESIDE_TABLES[table](DRAWN[wc.figure].problem)
                    if table in BESIDE_TABLES
                    else f"{RESULTS}/tables/{table}.csv"
                )
                for table in DRAWN[wc.figure].entry.tables
            }
        ),
    output:
        figure=report(
            f"{RESULTS}/figures/{{figure}}.png",
            caption="../report/figure.rst",
            category=lambda wc: "Figures" if wc.figure in RUN_FIGURES else "Problems",
            subcategory=lambda wc: None if wc.figure in RUN_FIGURES else DRAWN[wc.figure].problem,
            labels=lambda wc: {"figure": DRAWN[wc.figure].name.replace("_", " ")},
        ),
        pdf=f"{RESULTS}/figures/{{figure}}.pdf",
    wildcard_constraints:
        figure=one_of(DRAWN),
    resources:
        **demand(mem_mb=2000, runtime=10),
    params:
        code=lambda wc: code(
            "scripts/figure.py",
            DRAWN[wc.figure].entry.draw,
            *(FIGURE_READERS[table] for table in DRAWN[wc.figure].entry.tables if table in FIGURE_READERS),
        ),
        spec=lambda wc: {
            "draw": DRAWN[wc.figure].entry.draw,
            "readers": {
                table: FIGURE_READERS.get(table, "pandas:read_csv") for table in DRAWN[wc.figure].entry.tables
            },
            "settings": {name: FIGURE_SETTINGS[wc.figure][name] for name in DRAWN[wc.figure].entry.settings},
            "caption": Template(DRAWN[wc.figure].entry.caption, undefined=StrictUndefined).render(
                FIGURE_SETTINGS[wc.figure]
            ),
        },
    script:
        "../scripts/figure.py"


FIGURE_OUTPUTS = expand([rules.figure.output.figure, rules.figure.output.pdf], figure=DRAWN)
