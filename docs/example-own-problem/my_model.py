"""Two Poisson counts of 40 events, each in a time of 10: at the rate exp(a), and at the rate exp(a + b)."""

import numpy as np


class Counts:
    """U = -log density of (a, b), up to a constant, with normal priors."""

    dim = 2

    def __init__(self, prior_sd):
        self.prior_sd = prior_sd

    def value(self, q):
        """U at q."""
        return self.value_and_grad(q)[0]

    def value_and_grad(self, q):
        """U and its gradient at q, in one call."""
        first, second = 10.0 * np.exp(q[0]), 10.0 * np.exp(q[0] + q[1])
        value = first + second - 80.0 * q[0] - 40.0 * q[1] + 0.5 * q @ q / self.prior_sd**2
        return value, np.array([first + second - 80.0, second - 40.0]) + q / self.prior_sd**2


def posterior(prior_sd):
    """The potential. The config names this function as `make` and gives its arguments as `settings`."""
    return Counts(prior_sd)
