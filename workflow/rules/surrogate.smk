"""Surrogates: fitted to an exploration, shared by the samplers that they drive."""


rule fit:
    """Fit a surrogate to the states of an exploration."""
    input:
        exploration=rules.explore.output.chain,
        code=lambda wc: code("scripts/fit.py", SURROGATES[problem(wc)["surrogates"][wc.surrogate]["type"]]),
    output:
        surrogate=f"{RESULTS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.npz",
        report=f"{RESULTS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.json",
    params:
        spec=lambda wc: {
            "problem": wc.problem,
            "name": wc.surrogate,
            "chain": chain_number(wc),
            "seed": config["seed"],
            "discard": config["iterations"]["discard"],
            "surrogate": problem(wc)["surrogates"][wc.surrogate],
            "entry": SURROGATES[problem(wc)["surrogates"][wc.surrogate]["type"]],
        },
    log:
        f"{LOGS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    script:
        "../scripts/fit.py"
