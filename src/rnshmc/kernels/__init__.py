"""Markov kernels that leave the exact posterior invariant with any driver."""
