"""Decisions about reruns: digests of the code that a job uses, and the records of Snakemake."""
