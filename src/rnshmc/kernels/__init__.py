"""Markov kernels that leave the exact posterior invariant, whatever drives their trajectories."""
