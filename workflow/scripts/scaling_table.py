"""Make the tables of the scaling study after checking that its results do not depend on the number of ranks."""

from pathlib import Path

import pandas as pd

from rnshmc.experiments.ensemble import CHECK_COLUMNS, Evaluations, directions, gradient_check
from rnshmc.experiments.scaling import agreement
from rnshmc.run.job import job

spec = snakemake.params.spec
LOGISTIC_TOLERANCE = 1e-10

with job(snakemake.log[0]):
    seconds = pd.concat([pd.read_csv(path) for path in snakemake.input.seconds], ignore_index=True)
    seconds.to_csv(snakemake.output.table, index=False)
    logistic = dict(zip(spec["ranks"], map(Path, snakemake.input.logistic), strict=True))
    compared = [agreement("logistic regression", logistic, tolerance=LOGISTIC_TOLERANCE)]
    checks = []
    for number, problem in enumerate(spec["problems"]):
        start = number * len(spec["ranks"])
        files = dict(zip(spec["ranks"], map(Path, snakemake.input.ensembles[start:]), strict=False))
        compared.append(agreement(problem, files, tolerance=0.0))
        evaluations = Evaluations.load(files[spec["ranks"][0]])
        along = directions(spec["checked"], evaluations.states.shape[1], seed=spec["seed"], problem=problem)
        check = gradient_check(evaluations, along)
        check.insert(0, "problem", problem)
        checks.append(check)
    pd.concat(compared).to_csv(snakemake.output.agreement, index=False)
    gradients = pd.concat(checks) if checks else pd.DataFrame(columns=["problem", *CHECK_COLUMNS])
    gradients.to_csv(snakemake.output.gradients, index=False)
