"""Surrogates: cheap approximations of an exact potential or its gradient that drive trajectories."""
