"""The elliptic forward model, solved by dolfinx under MPI."""

import json

# Receipts of what paper A's authors published, where it is asked for.
PUBLISHED_OBSERVATIONS = [f"{RAW}/pde-observations.json"] if config["forward"]["observations"] == "published" else []
OBSERVATIONS = None if PUBLISHED_OBSERVATIONS else config["forward"]["observations"]
RECEIPTS |= {f"{RESULTS}/forward/{name}.npz": PUBLISHED_OBSERVATIONS for name in ELLIPTIC}


rule warm_forms:
    """Compile dolfinx's forms once: parallel jobs would wait for each other behind the compiler's lock."""
    output:
        stamp=f"{RESULTS}/forward/forms.json",
    params:
        code=code("scripts/warm_forms.py"),
    log:
        f"{LOGS}/forward/warm_forms.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    shell:
        # Twice: with ffcx 0.5 a process that compiles elements gives forms other names than one that finds them compiled.
        "python workflow/scripts/warm_forms.py --output {output.stamp} --log {log} &&"
        " python workflow/scripts/warm_forms.py --output {output.stamp} --log {log}"


rule forward_model:
    """Read published or a user's observations, or simulate them, and solve an ensemble from the prior, spread over MPI ranks."""
    input:
        forms=rules.warm_forms.output.stamp,
        observations=OBSERVATIONS or [],
        published=PUBLISHED_OBSERVATIONS,
    output:
        data=f"{RESULTS}/forward/{{problem}}.npz",
    params:
        code=code("scripts/forward_model.py"),
        spec=lambda wc: json.dumps(
            {
                **config["forward"],
                "observations": OBSERVATIONS,
                "published": next(iter(PUBLISHED_OBSERVATIONS), None),
                "seed": config["seed"],
                "problem": wc.problem,
                "model": target_settings(problem(wc)["target"]),
            }
        ),
    log:
        f"{LOGS}/forward/{{problem}}.log",
    conda:
        "../../environment.yml"
    threads: config["mpi"]["ranks"]
    resources:
        mpi=config["mpi"]["launcher"],
        tasks=config["mpi"]["ranks"],
        **demand(mem_mb=2000, runtime=30),
    shell:
        # One BLAS thread per rank: the ranks share the cores that the rule was given.
        "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 {resources.mpi} -n {resources.tasks}"
        " python workflow/scripts/forward_model.py --spec {params.spec:q} --output {output.data} > {log} 2>&1"
