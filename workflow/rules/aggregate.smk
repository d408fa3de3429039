"""From chains to tables: metrics of each chain, the tables of the run, and what it all rests on."""


rule metrics:
    """Measure a chain: acceptance, effective sample sizes, counts of evaluations, error of the mean."""
    input:
        chain=rules.sample.output.chain,
        reference=rules.reference.output.reference,
        code=code("scripts/metrics.py"),
    output:
        metrics=f"{RESULTS}/metrics/{{problem}}/{{sampler}}/{{chain}}.json",
    log:
        f"{LOGS}/metrics/{{problem}}/{{sampler}}/{{chain}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../scripts/metrics.py"


rule tables:
    """Make Table 1 of paper A and the tables beside it."""
    input:
        metrics=of_every_chain(rules.metrics.output.metrics),
        timing=of_every_sampler(rules.timing.output.timing),
        reference=expand(rules.reference.output.reference, problem=PROBLEMS),
        chains=of_every_chain(rules.sample.output.chain),
        code=code("scripts/tables.py"),
    output:
        table1=report(
            f"{RESULTS}/tables/table1.csv", caption="../report/table1.rst", category="Tables", labels={"table": "1"}
        ),
        table1_md=f"{RESULTS}/tables/table1.md",
        table1_tex=f"{RESULTS}/tables/table1.tex",
        table1_se=f"{RESULTS}/tables/table1_se.csv",
        diagnostics=report(
            f"{RESULTS}/tables/diagnostics.csv",
            caption="../report/diagnostics.rst",
            category="Tables",
            labels={"table": "diagnostics"},
        ),
        rem=f"{RESULTS}/tables/rem.csv",
        agreement=report(
            f"{RESULTS}/tables/agreement.csv",
            caption="../report/agreement.rst",
            category="Tables",
            labels={"table": "agreement"},
        ),
    params:
        spec={"titles": TITLES},
    log:
        f"{LOGS}/tables.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    script:
        "../scripts/tables.py"


rule provenance:
    """Write down versions, commit, machine, settings and data of the run."""
    input:
        table1=rules.tables.output.table1,
        data=[data_file(name) for name in PROBLEMS],
        receipts=[RECEIPTS[data_file(name)] for name in PROBLEMS if data_file(name) in RECEIPTS],
        code=code("scripts/provenance.py"),
    output:
        provenance=f"{RESULTS}/provenance.json",
    params:
        # Without the mirror: where data were read from is not what they are.
        spec={**config, "data": {"policy": config["data"]["policy"]}},
    log:
        f"{LOGS}/provenance.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../scripts/provenance.py"
