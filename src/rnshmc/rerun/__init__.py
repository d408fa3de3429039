"""Decisions about reruns: digests of the code that a job uses, and results kept until a run has replaced them."""
