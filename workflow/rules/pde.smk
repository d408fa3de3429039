"""The elliptic forward model, solved by dolfinx under MPI."""

import json


rule warm_forms:
    """Compile dolfinx's forms once: parallel jobs would wait for each other behind the compiler's lock."""
    input:
        script="workflow/scripts/warm_forms.py",
        code=code("scripts/warm_forms.py"),
    output:
        stamp=f"{RESULTS}/forward/forms.json",
    log:
        f"{LOGS}/forward/warm_forms.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    shell:
        "python {input.script} --output {output.stamp} > {log} 2>&1"


rule forward_model:
    """Simulate the observations, or read a user's, and solve an ensemble from the prior, spread over MPI ranks."""
    input:
        script="workflow/scripts/forward_model.py",
        forms=rules.warm_forms.output.stamp,
        observations=config["forward"]["observations"] or [],
        code=code("scripts/forward_model.py"),
    output:
        data=f"{RESULTS}/forward/{{problem}}.npz",
    params:
        spec=lambda wc: json.dumps(
            {
                **config["forward"],
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
        mem_mb=2000,
        runtime=30,
    shell:
        # One BLAS thread per rank: the ranks share the cores that the rule was given.
        "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 {resources.mpi} -n {resources.tasks}"
        " python {input.script} --spec {params.spec:q} --output {output.data} > {log} 2>&1"
