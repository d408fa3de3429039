"""What decides about reruns: the code that a job uses, and the records of Snakemake."""
