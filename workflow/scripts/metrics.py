"""Measure the chains of a problem."""

from itertools import groupby
from pathlib import Path

from rnshmc.results.measure import chain_metrics, convergence
from rnshmc.results.metrics import write_metrics
from rnshmc.run.job import job
from rnshmc.store.chains import read_chain
from rnshmc.store.reference import read_reference

with job(snakemake.log[0]):
    mean = next((read_reference(Path(path)).mean for path in snakemake.input.reference), None)
    discard = snakemake.params.spec["discard"]
    metrics, diagnosed = [], []
    # One sampler at a time, since all chains of a problem together may not fit into memory.
    for _, paths in groupby(map(Path, snakemake.input.chains), key=lambda path: path.parent):
        chains = [read_chain(path) for path in paths]
        metrics += [chain_metrics(chain, reference_mean=mean, discard=discard) for chain in chains]
        diagnosed.append(convergence(chains))
    write_metrics(Path(snakemake.output.metrics), metrics, diagnosed)
