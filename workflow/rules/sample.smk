"""Chains: exploration, sampling, the reference run, and timing."""

# Some chains take half an hour: explorations, fits and chains go first, so that short jobs are left to fill the cores at the end.
CHAINS_FIRST = 1


rule explore:
    """Run exact HMC from the problem's start: the origin, unless it says otherwise."""
    input:
        data=data_of,
        forms=target_inputs,
    output:
        chain=f"{RESULTS}/explore/{{problem}}/{{chain}}.nc",
    params:
        code=lambda wc: code("scripts/explore.py", target_code(wc), KERNELS["hmc"]),
        spec=explore_spec,
    wildcard_constraints:
        problem="|".join(name for name in PROBLEMS if name not in RECORDED),
    log:
        f"{LOGS}/explore/{{problem}}/{{chain}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=2000, runtime=120),
    script:
        "../scripts/explore.py"


use rule explore as explore_recorded with:
    output:
        chain=rules.explore.output.chain,
        gradients=f"{RESULTS}/explore/{{problem}}/{{chain}}_gradients.npz",
    wildcard_constraints:
        problem="|".join(RECORDED) or "none",


rule sample:
    """Continue an exploration with a sampler and keep the draws."""
    input:
        data=data_of,
        forms=target_inputs,
        exploration=rules.explore.output.chain,
        surrogate=lambda wc: fitted_surrogate(wc, wc.chain),
        fit_report=lambda wc: fitted_surrogate(wc, wc.chain, "json"),
    output:
        chain=f"{RESULTS}/chains/{{problem}}/{{sampler}}/{{chain}}.nc",
    params:
        code=lambda wc: code("scripts/sample.py", *sampler_code(wc)),
        spec=lambda wc: sampler_spec(
            wc,
            chain=chain_number(wc),
            iterations=sampler_setting(wc.problem, wc.sampler, "keep", iterations(wc.problem, "keep")),
        ),
    log:
        f"{LOGS}/chains/{{problem}}/{{sampler}}/{{chain}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=2000, runtime=240),
    script:
        "../scripts/sample.py"


rule reference:
    """Estimate a problem's posterior moments by a long exact run of another sampler."""
    input:
        data=data_of,
        forms=target_inputs,
    output:
        reference=f"{RESULTS}/reference/{{problem}}.npz",
    params:
        code=lambda wc: code("scripts/reference.py", target_code(wc)),
        spec=lambda wc: {
            "problem": wc.problem,
            "seed": config["seed"],
            "target": problem(wc)["target"],
            "reference": config["reference"],
            "entry": target_code(wc),
        },
    log:
        f"{LOGS}/reference/{{problem}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=120),
    script:
        "../scripts/reference.py"


rule timing:
    """Measure a sampler's seconds per iteration with the machine to itself."""
    input:
        data=data_of,
        forms=target_inputs,
        chain=f"{RESULTS}/chains/{{problem}}/{{sampler}}/{CHAINS[0]}.nc",
        surrogate=lambda wc: fitted_surrogate(wc, CHAINS[0]),
    output:
        timing=f"{RESULTS}/timing/{{problem}}/{{sampler}}.json",
    params:
        code=lambda wc: code("scripts/timing.py", *sampler_code(wc)),
        spec=lambda wc: sampler_spec(wc, **timing_settings(wc.problem, wc.sampler)),
    log:
        f"{LOGS}/timing/{{problem}}/{{sampler}}.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores
    resources:
        **demand(mem_mb=2000, runtime=60),
        timing=1,
    script:
        "../scripts/timing.py"


use rule timing as timing_baseline with:
    input:
        data=data_of,
        forms=target_inputs,
        chain=f"{RESULTS}/chains/{{problem}}/hmc/{CHAINS[0]}.nc",
    output:
        timing=f"{RESULTS}/timing/{{problem}}/{PUBLISHED_BASELINE}.json",
    params:
        code=lambda wc: code("scripts/timing.py", target_code(wc), KERNELS["hmc"]),
        spec=lambda wc: baseline_spec(wc),
    wildcard_constraints:
        problem=one_of(WASTED),
    log:
        f"{LOGS}/timing/{{problem}}/{PUBLISHED_BASELINE}.log",
