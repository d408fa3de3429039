"""Run an experiment on its settings and inputs, and write its tables by the names of the outputs."""

from pkgutil import resolve_name

from rnshmc.run.job import job

spec = snakemake.params.spec

with job(snakemake.log[0]):
    inputs = {name: resolve_name(reader)(snakemake.input[name]) for name, reader in spec.get("readers", {}).items()}
    found = resolve_name(spec["experiment"])(seed=spec["seed"], **spec["settings"], **inputs)
    if "run" in spec:
        module = spec["experiment"].partition(":")[0]
        found = resolve_name(f"{module}:{spec['run']}")(found, **spec["arguments"])
    tables = found._asdict() if hasattr(found, "_asdict") else {"table": found}
    for name, table in tables.items():
        table.to_csv(snakemake.output[name], index=False, float_format="%.6g")
