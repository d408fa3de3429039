"""Finite elements for the elliptic inverse problem: Karhunen-Loeve field, diffusion solver, observations."""
