"""Run an experiment that reads only its settings, and write its tables by the names of the outputs."""

from pkgutil import resolve_name

from rnshmc.run.job import job

spec = snakemake.params.spec

with job(snakemake.log[0]):
    found = resolve_name(spec["experiment"])(seed=spec["seed"], **spec["settings"])
    if "run" in spec:
        found = resolve_name(spec["run"])(found, **spec["arguments"])
    tables = found._asdict() if hasattr(found, "_asdict") else {"table": found}
    for name, table in tables.items():
        table.to_csv(snakemake.output[name], index=False, float_format="%.6g")
