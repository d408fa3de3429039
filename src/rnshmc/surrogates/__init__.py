"""Surrogates: potentials fitted to evaluations of an exact one, cheap enough to drive trajectories in its place."""
