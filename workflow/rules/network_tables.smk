"""Tables 1, 2, 3 and 5 of paper B."""


rule network_tables:
    """Make the tables of paper B, and compare each of its samplers with HMC."""
    input:
        chains=of_every_chain(rules.sample.output.chain, GRADIENT_PROBLEMS),
        timing=of_every_sampler(rules.timing.output.timing, GRADIENT_PROBLEMS),
    output:
        table=report(
            f"{RESULTS}/tables/nng_tables.csv",
            caption="../report/nng_tables.rst",
            category="Tables",
            labels={"table": "paper B: 1, 2, 3, 5"},
        ),
        table_md=f"{RESULTS}/tables/nng_tables.md",
        table_se=f"{RESULTS}/tables/nng_tables_se.csv",
        agreement=report(
            f"{RESULTS}/tables/nng_agreement.csv",
            caption="../report/nng_agreement.rst",
            category="Tables",
            labels={"table": "paper B: agreement"},
        ),
    params:
        code=code("scripts/network_tables.py"),
        spec={"titles": GRADIENT_TITLES},
    log:
        f"{LOGS}/network_tables.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=20),
    script:
        "../scripts/network_tables.py"
