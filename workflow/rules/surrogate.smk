"""Surrogates: fitted to an exploration, shared by the samplers that they drive."""


rule fit:
    """Fit a surrogate to the states of an exploration, or to the gradients along its trajectories."""
    input:
        exploration=lambda wc: exploration_of(wc.problem, wc.surrogate),
        gradients=lambda wc: (
            rules.explore_recorded.output.gradients
            if surrogate_type(wc.problem, wc.surrogate) in FITTED_TO_GRADIENTS
            else []
        ),
    output:
        surrogate=f"{RESULTS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.npz",
        report=f"{RESULTS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.json",
    params:
        code=lambda wc: code("scripts/fit.py", SURROGATES[surrogate_type(wc.problem, wc.surrogate)]),
        spec=lambda wc: {
            "problem": wc.problem,
            "name": wc.surrogate,
            "chain": chain_number(wc),
            "seed": config["seed"],
            "discard": iterations(wc.problem, "discard"),
            "training_end": training_end(wc.problem, wc.surrogate),
            "surrogate": problem(wc)["surrogates"][wc.surrogate],
            "entry": SURROGATES[surrogate_type(wc.problem, wc.surrogate)],
        },
    log:
        f"{LOGS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=2000, runtime=60),
    script:
        "../scripts/fit.py"


rule matching:
    """Measure how well a surrogate matches the exact potential on states that it has not seen."""
    input:
        surrogate=rules.fit.output.surrogate,
        report=rules.fit.output.report,
        chain=f"{RESULTS}/chains/{{problem}}/hmc/{{chain}}.nc",
    output:
        matching=f"{RESULTS}/matching/{{problem}}/{{surrogate}}/{{chain}}.json",
    params:
        code=lambda wc: code("scripts/matching.py", SURROGATES[surrogate_type(wc.problem, wc.surrogate)]),
        spec=lambda wc: {
            "problem": wc.problem,
            "name": wc.surrogate,
            "chain": chain_number(wc),
            "surrogate": problem(wc)["surrogates"][wc.surrogate],
        },
    log:
        f"{LOGS}/matching/{{problem}}/{{surrogate}}/{{chain}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=20),
    script:
        "../scripts/matching.py"
