"""Hamiltonian Monte Carlo with random-network surrogates.

A Hamiltonian sampler has two potentials: one decides (the exact potential, in the Metropolis step) and one drives (the
potential whose gradient moves the trajectory). Every sampler of this package is one kernel with another driver; see
`rnshmc.run.recipes` for their names and `rnshmc.run.sample` to run them on a potential of your own.
"""
