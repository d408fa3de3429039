"""Priors of parameters: cheap, with gradients, for many positions in one call."""
