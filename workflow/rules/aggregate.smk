"""From chains to tables: metrics of each chain, the tables of the run, and what it all rests on."""

from rnshmc.scorecard.lengths import shorter

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
        chains=[path for name in ADAPTED for path in of_chains(rules.sample.output.chain, name, "arns_hmc")],
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
        # What is shorter than in the run of the papers is not judged.
        spec={"shorter": shorter(config, load_configfile(ROOT / "config/config.yaml"))},
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
        spec={
            **{key: value for key, value in config.items() if key != "checkpoint"},
            "data": {key: value for key, value in config["data"].items() if key != "mirror"},
        },
    script:
        "../scripts/provenance.py"
