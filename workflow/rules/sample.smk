"""Chains: explorations, the surrogates fitted to them, sampling, reference runs, and timing."""

# Explorations, fits and chains run first, so that short jobs remain to fill the cores at the end. Timing and tables run
# before the studies beyond the papers, which also need the whole machine.
CHAINS_FIRST = 1
# Chains without a surrogate run first: some take half an hour, and on many cores the last of them ends the run.
EXACT_FIRST = 2


rule explore:
    """Run exact HMC from the problem's start, by default the origin."""
    input:
        data=data_of,
    output:
        chain=f"{RESULTS}/explore/{{problem}}/{{chain}}.nc",
    wildcard_constraints:
        problem=one_of(name for name in PROBLEMS if name not in RECORDED),
    priority: EXACT_FIRST
    resources:
        **demand(mem_mb=2000, runtime=120),
    params:
        code=lambda wc: code("scripts/explore.py", target_entry(wc.problem), KERNELS["hmc"]),
        spec=lambda wc: {
            "problem": wc.problem,
            "chain": chain_number(wc),
            "seed": config["seed"],
            "target": problem_entry(wc)["target"],
            "hmc": dynamics_of(wc.problem, "hmc"),
            "entries": [target_entry(wc.problem), KERNELS["hmc"]],
            "iterations": iterations(wc.problem, "explore"),
            **given(wc.problem, "start"),
            **({"recorded_from": iterations(wc.problem, "discard")} if wc.problem in RECORDED else {}),
        },
    script:
        "../scripts/explore.py"


use rule explore as explore_recorded with:
    """Run exact HMC, and record the gradients along its trajectories."""
    output:
        chain=rules.explore.output.chain,
        gradients=f"{RESULTS}/explore/{{problem}}/{{chain}}_gradients.npz",
    wildcard_constraints:
        problem=one_of(RECORDED),


rule fit:
    """Fit a surrogate to the states of an exploration, or to the gradients along its trajectories."""
    input:
        exploration=lambda wc: exploration_of(wc.problem, wc.surrogate),
        gradients=lambda wc: (
            rules.explore_recorded.output.gradients
            if surrogate_type(wc.problem, wc.surrogate) in FITTED_TO_GRADIENTS
            else []
        ),
        # The ensemble of the forward model begins the training set (paper A, Algorithm 3).
        prior=lambda wc: data_of(wc) if problem_entry(wc)["surrogates"][wc.surrogate].get("from_prior") else [],
    output:
        surrogate=f"{RESULTS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.npz",
        report=f"{RESULTS}/surrogates/{{problem}}/{{surrogate}}/{{chain}}.json",
    priority: CHAINS_FIRST
    resources:
        **demand(mem_mb=2000, runtime=60),
    params:
        code=lambda wc: code("scripts/fit.py", SURROGATES[surrogate_type(wc.problem, wc.surrogate)]),
        spec=lambda wc: {
            "problem": wc.problem,
            "name": wc.surrogate,
            "chain": chain_number(wc),
            "seed": config["seed"],
            "discard": iterations(wc.problem, "discard"),
            "training_end": training_end(wc.problem, wc.surrogate),
            "surrogate": problem_entry(wc)["surrogates"][wc.surrogate],
        },
    script:
        "../scripts/fit.py"


use rule explore as explore_whitened with:
    """Run exact HMC in coordinates whitened at the mode, for nearly independent training states of a surrogate."""
    output:
        chain=f"{RESULTS}/explore/{{problem}}/{{surrogate}}/{{chain}}.nc",
    wildcard_constraints:
        problem=one_of(PROBLEMS),
    priority: CHAINS_FIRST
    params:
        code=lambda wc: code("scripts/explore.py", target_entry(wc.problem)),
        spec=lambda wc: {
            **target_spec(wc.problem),
            "surrogate": wc.surrogate,
            "chain": chain_number(wc),
            "whitened": problem_entry(wc)["surrogates"][wc.surrogate]["whitened"],
            "iterations": iterations(wc.problem, "explore"),
        },


rule sample:
    """Continue an exploration with a sampler and keep the draws."""
    input:
        data=data_of,
        exploration=lambda wc: exploration_of(wc.problem, surrogate_of(wc.problem, wc.sampler)),
        surrogate=lambda wc: fitted_surrogate(wc.problem, wc.sampler, wc.chain),
        fit_report=lambda wc: fitted_surrogate(wc.problem, wc.sampler, wc.chain, "json"),
    output:
        chain=f"{RESULTS}/chains/{{problem}}/{{sampler}}/{{chain}}.nc",
    priority: lambda wc: CHAINS_FIRST if surrogate_of(wc.problem, wc.sampler) else EXACT_FIRST
    resources:
        **demand(mem_mb=2000, runtime=240),
    params:
        code=lambda wc: code("scripts/sample.py", *sampler_code(wc)),
        spec=lambda wc: sampler_spec(wc, chain=chain_number(wc), iterations=kept(wc)),
    script:
        "../scripts/sample.py"


rule matching:
    """Measure how well a surrogate matches the exact potential on held-out states."""
    input:
        surrogate=rules.fit.output.surrogate,
        report=rules.fit.output.report,
        chain=f"{RESULTS}/chains/{{problem}}/hmc/{{chain}}.nc",
    output:
        matching=f"{RESULTS}/matching/{{problem}}/{{surrogate}}/{{chain}}.json",
    resources:
        **demand(mem_mb=2000, runtime=20),
    params:
        code=lambda wc: code("scripts/matching.py", SURROGATES[surrogate_type(wc.problem, wc.surrogate)]),
        spec=lambda wc: {
            "problem": wc.problem,
            "name": wc.surrogate,
            "chain": chain_number(wc),
            "surrogate": problem_entry(wc)["surrogates"][wc.surrogate],
        },
    script:
        "../scripts/matching.py"


rule reference:
    """Estimate a problem's posterior moments by a long exact run of another sampler."""
    input:
        data=data_of,
    output:
        reference=f"{RESULTS}/reference/{{problem}}.npz",
    resources:
        **demand(mem_mb=2000, runtime=120),
    params:
        code=lambda wc: code("scripts/reference.py", target_entry(wc.problem)),
        spec=lambda wc: {**target_spec(wc.problem), "reference": config["reference"]},
    script:
        "../scripts/reference.py"


rule timing:
    """Measure seconds per iteration of a problem's samplers, one after another, on the otherwise idle machine."""
    input:
        data=data_of,
        chains=lambda wc: [f"{RESULTS}/chains/{wc.problem}/{cell.sampler}/{CHAINS[0]}.nc" for cell in timed(wc.problem)],
        surrogates=lambda wc: [
            file for cell in timed(wc.problem) if (file := fitted_surrogate(cell.problem, cell.sampler, CHAINS[0]))
        ],
    output:
        timing=f"{RESULTS}/timing/{{problem}}.json",
    priority: CHAINS_FIRST
    threads: workflow.cores
    resources:
        **demand(mem_mb=2000, runtime=120),
        timing=1,
    params:
        code=lambda wc: code(
            "scripts/timing.py", *{entry for cell in timed(wc.problem) for entry in timed_spec(cell)["entries"]}
        ),
        spec=lambda wc: {
            "problem": wc.problem,
            "seed": config["seed"],
            "blas_threads": config["timing"]["blas_threads"],
            "samplers": [timed_spec(cell) for cell in timed(wc.problem)],
        },
    script:
        "../scripts/timing.py"


# `rnshmc.sample` explores and fits by itself: its chains need only the target, and are timed as they run.
if AUTOMATIC:

    rule sample_auto:
        """Sample with rnshmc.sample, and keep the draws."""
        input:
            data=data_of,
        output:
            chain=f"{RESULTS}/chains/{{problem}}/{{sampler}}/{{chain}}.nc",
        wildcard_constraints:
            problem=one_of(AUTOMATIC),
            sampler=AUTO,
        priority: CHAINS_FIRST
        resources:
            **demand(mem_mb=3000, runtime=240),
        params:
            code=lambda wc: code("scripts/sample_auto.py", target_entry(wc.problem)),
            spec=lambda wc: {
                **target_spec(wc.problem),
                "sampler": wc.sampler,
                "chain": chain_number(wc),
                "iterations": kept(wc),
                **given(wc.problem, "names"),
            },
        script:
            "../scripts/sample_auto.py"
