"""Exact potentials: the posteriors that are sampled."""
