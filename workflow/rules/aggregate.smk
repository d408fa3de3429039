"""From chains to tables and figures: metrics of each chain, the tables of the run, provenance, and all drawings."""

from typing import NamedTuple

from jinja2 import StrictUndefined, Template

from rnshmc.plots.drawing import FIGURE_READERS, Drawing
from rnshmc.plots.registry import FIGURES, PROBLEM_FIGURES
from rnshmc.scorecard.settings import other_settings

# What each paper prints.
PUBLISHED = [ours(f"papers/{name}.csv") for name in PAPERS]

# The problem of Fig. 6, where the run has it, and those of its samplers that the paper compares there.
FIG6 = "lr_simulated"
FIG6_SAMPLERS = [name for name in ("hmc", "rns_hmc") if FIG6 in PAGED and name in samplers(FIG6)]
# The problems of Figs. 7 and 8.
ADAPTED = [name for name in PAGED if name in REFERRED and "arns_hmc" in samplers(name)]
VIEWS_FILE = ours("papers/views.csv")
# The tables of the papers, as views of all results, and the problems that each of them has.
TABLE_VIEWS = {
    view: [name for name in PROBLEMS if shown_as(name).view == view]
    for view in dict.fromkeys(paper.view for paper in PAPERS.values())
}


# What the run has of the experiments, and of the tables that are compared with the papers.
EXPERIMENT_OUTPUTS = [
    path for name, tables in EXPERIMENT_TABLES.items() if is_selected(config, name) for path in tables
]
OF_PAPERS = bool(PAPER_OF) or any(is_selected(config, name) for name in EXPERIMENT_TABLES)


rule metrics:
    """Measure the chains of a problem: acceptance, effective sample sizes, convergence, counts of evaluations, errors."""
    input:
        chains=lambda wc: of_every_chain(rules.sample.output.chain, [wc.problem]),
        reference=lambda wc: [rules.reference.output.reference] if wc.problem in REFERRED else [],
    output:
        metrics=f"{RESULTS}/metrics/{{problem}}.json",
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec=lambda wc: {"discard": iterations(wc.problem, "discard")},
    script:
        "../scripts/metrics.py"


rule tables:
    """Make the table of all results, the papers' tables as views of it, and the tables of diagnostics and agreement."""
    input:
        metrics=expand(rules.metrics.output.metrics, problem=PROBLEMS),
        timing=timings_of(PROBLEMS),
        reference=expand(rules.reference.output.reference, problem=REFERRED),
        matching=of_every_fit(rules.matching.output.matching),
        views=VIEWS_FILE,
    output:
        **{name: shown_table(name) for name in TABLE_VIEWS},
        **{f"{name}_se": f"{RESULTS}/tables/{name}_se.csv" for name in TABLE_VIEWS},
        **{f"{name}_{suffix}": f"{RESULTS}/tables/{name}.{suffix}" for name in TABLE_VIEWS for suffix in ("md", "tex")},
        results=shown_table("results"),
        results_se=f"{RESULTS}/tables/results_se.csv",
        diagnostics=shown_table("diagnostics"),
        agreement=shown_table("agreement"),
        potential_matching=shown_table("potential_matching", label="potential matching"),
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=2000, runtime=10),
    params:
        spec={"titles": TITLES, "papers": PAPER_OF, "views": TABLE_VIEWS},
    script:
        "../scripts/tables.py"


rule adaptive:
    """Make the tables of the adaptive experiment, Figs. 7 and 8."""
    input:
        chains=[path for name in ADAPTED for path in of_recipes(name, "arns_hmc")],
        metrics=expand(rules.metrics.output.metrics, problem=ADAPTED),
        timing=timings_of(ADAPTED),
    output:
        **run_tables("fig7", "fig8"),
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/adaptive.py"


rule fig6_table:
    """Make the table of Fig. 6: posterior marginals of simulated logistic regression by HMC and RNS-HMC."""
    input:
        chains=[path for sampler in FIG6_SAMPLERS for path in of_chains(rules.sample.output.chain, FIG6, sampler)],
    output:
        fig6=f"{RESULTS}/tables/fig6.csv",
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/fig6_table.py"


MADE_TABLES = [
    *rules.tables.output,
    *(rules.adaptive.output if ADAPTED else []),
    *(rules.fig6_table.output if FIG6_SAMPLERS else []),
    *EXPERIMENT_OUTPUTS,
]


rule scorecard:
    """Compare every number that the papers print with ours."""
    input:
        tables=[
            rules.tables.output.results,
            rules.tables.output.results_se,
            rules.tables.output.agreement,
            *(rules.adaptive.output if ADAPTED else []),
            *(rules.fig6_table.output if FIG6_SAMPLERS else []),
            *EXPERIMENT_OUTPUTS,
            *(rules.nng_fig1_table.output if "nng_fig1" in NETWORK_FIGURES else []),
            *(rules.nng_fig4_table.output if "nng_fig4" in NETWORK_FIGURES else []),
            *(rules.nng_fig5_table.output if "nng_fig5" in NETWORK_FIGURES else []),
            *(rules.nng_gp_tables.output if "nng_fig7" in NETWORK_FIGURES else []),
            *(rules.nng_sghmc_tables.output if "nng_fig10" in NETWORK_FIGURES else []),
        ],
        published=PUBLISHED,
        reasons=ours("papers/reasons.csv"),
    output:
        scorecard=shown_table("scorecard"),
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        # What has other settings than the run of the papers is not judged.
        spec={"other_settings": other_settings(config, load_configfile(ROOT / "config/config.yaml"))},
    script:
        "../scripts/scorecard.py"


rule provenance:
    """Write down versions, commit, machine, settings and data of the run."""
    input:
        results=rules.tables.output.results,
        data=list(dict.fromkeys(data_file(name) for name in PROBLEMS)),
        receipts=list(dict.fromkeys(path for name in PROBLEMS for path in receipts(data_file(name)))),
    output:
        provenance=f"{RESULTS}/provenance.json",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        # Without what changes no result: where data were read from, and how chains were kept.
        spec=masked(
            {
                **{key: value for key, value in config.items() if key != "checkpoint"},
                "data": {key: value for key, value in config["data"].items() if key != "mirror"},
            }
        ),
    script:
        "../scripts/provenance.py"


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
