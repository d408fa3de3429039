"""Make a user's model, check it at the start, and record which model it is."""

import json
from pathlib import Path

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.files import atomic_path, sha256
from rnshmc.random import stream
from rnshmc.run.argument_checks import check_potential
from rnshmc.run.job import job
from rnshmc.run.phases import start_point
from rnshmc.run.registry import load_target

spec, output = snakemake.params.spec, Path(snakemake.output.data)

with job(snakemake.log[0]):
    try:
        model = load_target(spec["target"], output)
        start = start_point(spec, model.dim)
        # Not a parameter of the job: a change of names repeats no sampling.
        names = snakemake.config["problems"][spec["problem"]].get("names", start)
        if len(names) != model.dim:
            raise ParameterError(f"names has {len(names)} entries, but the model has dim {model.dim}")
        own = getattr(model, "names", None)
        if own is not None and names is not start and list(names) != list(own):
            raise ParameterError(f"names are {', '.join(names)}, but the model's prior has {', '.join(own)}")
        # Only `rnshmc.sample` works without a gradient.
        if spec["moved"] or hasattr(model, "gradient"):
            check_potential(model, start, stream(spec["seed"], spec["problem"], "check"))
    except ParameterError as error:
        where = spec["target"].get("path") or spec["target"]["url"]
        raise ParameterError(f"problems.{spec['problem']} ({where}): {error}") from error
    read = {path: sha256(Path(path)) for path in snakemake.input}
    with atomic_path(output) as temporary:
        np.savez(temporary, origin="user", dim=model.dim, model=json.dumps({**spec["target"], "reads": read}))
