"""Rules under MPI: the elliptic forward model, the scaling study, and the mesh study."""

import json

# Receipts of the observations published by paper A's authors, if requested.
PUBLISHED_OBSERVATIONS = [f"{RAW}/pde-observations.json"] if config["forward"]["observations"] == "published" else []
OBSERVATIONS = None if PUBLISHED_OBSERVATIONS else config["forward"]["observations"]

FORWARD_RANKS = min(config["mpi"]["ranks"], CORES or config["mpi"]["ranks"])


rule warm_forms:
    """Compile dolfinx's forms once, since parallel jobs would wait for each other at the compiler's lock."""
    output:
        stamp=f"{RESULTS}/forward/forms.json",
    priority: DATA_FIRST
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        code=code("scripts/warm_forms.py"),
    shell:
        # Twice: with ffcx 0.5, form names differ between a process that compiles elements and one that finds them compiled.
        f"python {SCRIPTS}/warm_forms.py {{output.stamp}} {{log}} && python {SCRIPTS}/warm_forms.py {{output.stamp}} {{log}}"


rule forward_model:
    """Read published or a user's observations, or simulate them, and solve an ensemble from the prior over MPI ranks."""
    input:
        forms=rules.warm_forms.output.stamp,
        observations=OBSERVATIONS or [],
        published=PUBLISHED_OBSERVATIONS,
    output:
        data=f"{RESULTS}/forward/{{problem}}.npz",
    priority: DATA_FIRST
    threads: FORWARD_RANKS
    resources:
        **demand(mem_mb=2000, runtime=30),
        mpi=config["mpi"]["launcher"],
        tasks=FORWARD_RANKS,
    params:
        code=code("scripts/forward_model.py"),
        spec=lambda wc: json.dumps(
            {
                **config["forward"],
                "observations": OBSERVATIONS,
                "published": next(iter(PUBLISHED_OBSERVATIONS), None),
                "seed": config["seed"],
                "problem": wc.problem,
                "model": target_settings(problem_entry(wc)["target"]),
            }
        ),
    shell:
        on_ranks("forward_model.py --spec {params.spec:q} --output {output.data}")


# Draws from the posterior, evenly spaced over the chains of a sampler.
PREDICTIVE_DRAWS = 100


rule posterior_predictive:
    """Solve the forward model at draws from the posterior by the problem's first sampler, spread over MPI ranks."""
    input:
        data=data_of,
        chains=lambda wc: chain_files(rules.sample.output.chain, wc.problem, samplers(wc.problem)[0]),
    output:
        predictions=f"{RESULTS}/predictive/{{problem}}.npz",
    wildcard_constraints:
        problem=one_of(ELLIPTIC),
    threads: FORWARD_RANKS
    resources:
        **demand(mem_mb=2000, runtime=30),
        mpi=config["mpi"]["launcher"],
        tasks=FORWARD_RANKS,
    params:
        code=code("scripts/posterior_predictive.py"),
        spec=lambda wc: json.dumps({"draws": PREDICTIVE_DRAWS, "model": target_settings(problem_entry(wc)["target"])}),
    shell:
        on_ranks(
            "posterior_predictive.py --spec {params.spec:q} --data {input.data} --chains {input.chains}"
            " --output {output.predictions}"
        )


SCALING = config["scaling"]
SCALING_RANKS = on_cores(SCALING["ranks"])


rule scaling_ensemble:
    """Make a training set from solves at many states on a number of ranks, and check its gradients by differences."""
    input:
        data=data_of,
    output:
        evaluations=f"{RESULTS}/scaling/ensemble/{{problem}}/ranks{{ranks}}.npz",
        seconds=f"{RESULTS}/scaling/ensemble/{{problem}}/ranks{{ranks}}.csv",
    wildcard_constraints:
        problem=one_of(ELLIPTIC),
    # All cores, not only those of its ranks: a timed job has the machine to itself.
    threads: workflow.cores
    resources:
        **demand(mem_mb=2000, runtime=30),
        **TIMED_ON_RANKS,
    params:
        code=code("scripts/scaling_ensemble.py", TARGETS["elliptic"]),
        spec=lambda wc: json.dumps({**target_spec(wc.problem), "repeats": SCALING["repeats"], **SCALING["ensemble"]}),
    shell:
        on_ranks(
            "scaling_ensemble.py --spec {params.spec:q} --data {input.data}"
            " --output {output.evaluations} --seconds {output.seconds}"
        )


rule scaling_logistic:
    """Simulate a logistic regression with rows distributed over ranks, evaluate it and run a chain."""
    output:
        results=f"{RESULTS}/scaling/logistic/ranks{{ranks}}.npz",
        seconds=f"{RESULTS}/scaling/logistic/ranks{{ranks}}.csv",
    threads: workflow.cores
    resources:
        # Twice the memory of the rows, which are copied into blocks.
        **demand(
            mem_mb=1000 + 20 * SCALING["logistic"]["rows"] * SCALING["logistic"]["dimension"] // 1_000_000, runtime=30
        ),
        **TIMED_ON_RANKS,
    params:
        code=code("scripts/scaling_logistic.py", KERNELS["hmc"]),
        spec=json.dumps({"seed": config["seed"], **SCALING["logistic"]}),
    shell:
        on_ranks("scaling_logistic.py --spec {params.spec:q} --output {output.results} --seconds {output.seconds}")


rule table_scaling:
    """Check that results do not depend on the number of ranks, and gather the seconds."""
    input:
        logistic=expand(rules.scaling_logistic.output.results, ranks=SCALING_RANKS),
        ensembles=expand(rules.scaling_ensemble.output.evaluations, problem=ELLIPTIC, ranks=SCALING_RANKS),
        seconds=[
            *expand(rules.scaling_ensemble.output.seconds, problem=ELLIPTIC, ranks=SCALING_RANKS),
            *expand(rules.scaling_logistic.output.seconds, ranks=SCALING_RANKS),
        ],
    output:
        table=f"{RESULTS}/tables/scaling.csv",
        agreement=f"{RESULTS}/tables/scaling_agreement.csv",
        gradients=f"{RESULTS}/tables/gradient_check.csv",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={
            "seed": config["seed"],
            "problems": ELLIPTIC,
            "ranks": SCALING_RANKS,
            "checked": SCALING["ensemble"]["checked"],
        },
    script:
        "../scripts/scaling_table.py"


MESH_STUDY = config["mesh_study"]
# The problem whose chains, effective sample sizes and surrogate are used on every mesh.
STUDIED = "pde"
MESH_POINTS = [
    {"cells": cells, "solver": solver, "ranks": ranks}
    for solver in ("direct", "multigrid")
    for cells in MESH_STUDY[solver]
    for ranks in on_cores(MESH_STUDY["ranks"])
]


rule mesh_study_point:
    """Solve the elliptic problem on one mesh and number of ranks; time evaluations and iterations of both samplers."""
    input:
        data=f"{RESULTS}/forward/{STUDIED}.npz",
        chain=f"{RESULTS}/chains/{STUDIED}/hmc/{CHAINS[0]}.nc",
        surrogate=lambda wc: fitted_surrogate(STUDIED, "rns_hmc", CHAINS[0]),
    output:
        solutions=f"{RESULTS}/mesh_study/{{solver}}/cells{{cells}}/ranks{{ranks}}.npz",
        seconds=f"{RESULTS}/mesh_study/{{solver}}/cells{{cells}}/ranks{{ranks}}.csv",
    wildcard_constraints:
        solver="direct|multigrid",
    # All cores, not only those of its ranks: a timed job has the machine to itself.
    threads: workflow.cores
    resources:
        **TIMED_ON_RANKS,
        runtime=lambda wildcards, attempt: 30 * attempt,
        # Two kB for each cell.
        mem_mb=lambda wildcards, attempt: attempt * (1000 + int(wildcards.cells) ** 2 // 500),
    params:
        code=code("scripts/mesh_study_point.py", TARGETS["elliptic"], KERNELS["hmc"], SURROGATES["random_network"]),
        spec=lambda wc: json.dumps(
            {
                **{key: MESH_STUDY[key] for key in ("states", "repeats", "work")},
                "seed": config["seed"],
                "model": {**target_settings(PROBLEMS[STUDIED]["target"]), "cells": int(wc.cells), "solver": wc.solver},
                "samplers": {name: dynamics_of(STUDIED, name) for name in ("hmc", "rns_hmc")},
            }
        ),
    shell:
        on_ranks(
            "mesh_study_point.py --spec {params.spec:q} --data {input.data} --chain {input.chain}"
            " --surrogate {input.surrogate} --output {output.solutions} --seconds {output.seconds}"
        )


rule table_mesh_study:
    """Check that numbers of ranks agree on every mesh, and gather errors, seconds and gains."""
    input:
        solutions=[rules.mesh_study_point.output.solutions.format(**point) for point in MESH_POINTS],
        seconds=[rules.mesh_study_point.output.seconds.format(**point) for point in MESH_POINTS],
        metrics=[f"{RESULTS}/metrics/{STUDIED}.json"],
    output:
        table=f"{RESULTS}/tables/mesh_study.csv",
    resources:
        **demand(mem_mb=1000, runtime=10),
    params:
        spec={"points": [tuple(point.values()) for point in MESH_POINTS]},
    script:
        "../scripts/mesh_study_table.py"
