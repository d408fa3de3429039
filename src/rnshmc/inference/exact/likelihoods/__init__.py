"""Likelihoods of the outputs of a forward model: cheap, with derivatives, for many positions in one call."""
