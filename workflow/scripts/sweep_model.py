"""Make the logistic regression of one dimension of the sweeps, and tune the step size of HMC."""

from pathlib import Path

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.experiments.step_size import tune_step_size
from rnshmc.files import write_json
from rnshmc.random import stream
from rnshmc.run.job import job
from rnshmc.targets.logistic import LogisticRegression

spec = snakemake.params.spec
names = ("sweep", f"d{spec['d']}")

with job(snakemake.log[0]):
    data = simulate_logistic(spec["observations"], spec["d"], stream(spec["seed"], *names, "data"))
    data.save(snakemake.output.data)
    step_size = tune_step_size(
        LogisticRegression(data.X, data.y, spec["prior_sd"]),
        n_steps=tuple(spec["n_steps"]),
        acceptance=spec["acceptance"],
        iterations=spec["tuning"],
        rng=stream(spec["seed"], *names, "step_size"),
    )
    write_json(Path(snakemake.output.step_size), {"step_size": step_size})
