"""The surrogate posterior: coordinates, chains on it, and the Gaussian process behind it."""
