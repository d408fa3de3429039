"""From chains to tables: metrics of each chain, the tables of the run, the scorecard, provenance."""

from rnshmc.scorecard.settings import other_settings

# Printed numbers of each paper.
PUBLISHED = [project_path(f"papers/{name}.csv") for name in PAPERS]

# The chains of Fig. 6, if the run has its problem.
FIG6_CHAINS = sampler_files("lr_simulated", "hmc", "rns_hmc") if "lr_simulated" in PAGED else []
# The problems of Figs. 7 and 8.
ADAPTED = [name for name in PAGED if name in REFERRED and "arns_hmc" in samplers(name)]
VIEWS_FILE = project_path("papers/views.csv")
# The tables of the papers, as views of all results, and the problems that each of them has.
TABLE_VIEWS = {
    view: [name for name in PROBLEMS if shown_as(name).view == view]
    for view in dict.fromkeys(paper.view for paper in PAPERS.values())
}


# The tables of each experiment that the run can have. Studies of ranks need numbers of ranks.
EXPERIMENT_TABLES = {
    "fig1": rules.table_fig1.output,
    "fig2": rules.table_fig2.output,
    "fig3": rules.table_fig3.output,
    **{name: expand(rules.table_sweep.output.table, sweep=name) for name in SWEEPS},
    **({"projection": rules.a9a_dimension.output} if "a9a" in PROBLEMS else {}),
    "nng_fig2": rules.table_nng_fig2.output,
    "nng_fig3": rules.table_nng_fig3.output,
    "nng_table4": rules.nng_table4.output,
    **({"scaling": rules.table_scaling.output} if SCALING_RANKS else {}),
    **({"mesh_study": rules.table_mesh_study.output} if STUDIED in PROBLEMS and MESH_POINTS else {}),
}
EXPERIMENT_OUTPUTS = [
    path for name, tables in EXPERIMENT_TABLES.items() if is_selected(config, name) for path in tables
]
OF_PAPERS = bool(PAPER_OF) or any(is_selected(config, name) for name in EXPERIMENT_TABLES)


rule metrics:
    """Measure the chains of a problem: acceptance, effective sample sizes, convergence, counts of evaluations, errors."""
    input:
        chains=lambda wc: sampler_files(wc.problem),
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
        timing=expand(rules.timing.output.timing, problem=[name for name in PROBLEMS if samplers(name) != [AUTO]]),
        reference=expand(rules.reference.output.reference, problem=REFERRED),
        matching=fit_files(rules.matching.output.matching),
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


rule table_fig7_fig8:
    """Make the tables of the adaptive experiment, Figs. 7 and 8."""
    input:
        chains=[path for name in ADAPTED for path in sampler_files(name, "arns_hmc")],
        metrics=expand(rules.metrics.output.metrics, problem=ADAPTED),
        timing=expand(rules.timing.output.timing, problem=ADAPTED),
    output:
        fig7=f"{RESULTS}/tables/fig7.csv",
        fig8=f"{RESULTS}/tables/fig8.csv",
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/adaptive.py"


rule table_fig6:
    """Make the table of Fig. 6: posterior marginals of simulated logistic regression by HMC and RNS-HMC."""
    input:
        chains=FIG6_CHAINS,
    output:
        fig6=f"{RESULTS}/tables/fig6.csv",
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/fig6_table.py"


# In addition to the tables of rule `tables`.
EXTRA_TABLES = [
    *(rules.table_fig7_fig8.output if ADAPTED else []),
    *(rules.table_fig6.output if FIG6_CHAINS else []),
    *EXPERIMENT_OUTPUTS,
    *NETWORK_TABLES,
]


rule scorecard:
    """Compare every number that the papers print with ours."""
    input:
        tables=[
            rules.tables.output.results,
            rules.tables.output.results_se,
            rules.tables.output.agreement,
            *EXTRA_TABLES,
        ],
        published=PUBLISHED,
        reasons=project_path("papers/reasons.csv"),
    output:
        scorecard=shown_table("scorecard"),
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        # Numbers from settings other than those of the run "paper" are not judged.
        spec={"other_settings": other_settings(config, load_configfile(ROOT / "config/config.yaml"))},
    script:
        "../scripts/scorecard.py"


rule provenance:
    """Record versions, commit, machine, settings and data of the run."""
    input:
        results=rules.tables.output.results,
        data=list(dict.fromkeys(data_file(name) for name in PROBLEMS)),
        receipts=list(dict.fromkeys(path for name in PROBLEMS for path in receipts(data_file(name)))),
    output:
        provenance=f"{RESULTS}/provenance.json",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        # Without settings that change no result: the source of the data, and checkpoints.
        spec=masked({**without(config, "checkpoint"), "data": without(config["data"], "mirror")}),
    script:
        "../scripts/provenance.py"
