"""What a run returns: weights, expectations, the verdict and the result."""
