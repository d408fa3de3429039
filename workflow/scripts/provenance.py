"""Record the provenance of a run: versions, commit, machine, settings, and the hashes and sources of its data."""

import json
from pathlib import Path

from rnshmc.files import sha256, write_json
from rnshmc.masking import masked
from rnshmc.run.job import job
from rnshmc.store.provenance import provenance

with job(snakemake.log[0]):
    content = provenance(snakemake.params.spec, {path: sha256(Path(path)) for path in snakemake.input.data})
    receipts = {path: json.loads(Path(path).read_text(encoding="utf-8")) for path in snakemake.input.receipts}
    content["sources"] = masked(receipts)
    write_json(Path(snakemake.output.provenance), content)
