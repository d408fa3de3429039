"""Two counts of 40 events, each in a time of 10: at the rate exp(a), and at the rate exp(a + b)."""

import numpy as np

import rnshmc

TIME = 10.0


def expected(x):
    """The forward model: expected numbers of events of each kind."""
    a, b = x
    return TIME * np.exp([a, a + b])


def jacobian(x):
    """Derivatives of the two by a and b, for samplers that need them; `auto` does without."""
    first, second = expected(x)
    return np.array([[first, 0.0], [second, second]])


def posterior(prior_sd):
    """The posterior. The config names this function as `make` and gives its arguments as `settings`."""
    model = rnshmc.Model(
        expected, [40, 40], likelihood=rnshmc.Poisson(), prior=rnshmc.Normal(0.0, prior_sd), jacobian=jacobian
    )
    return model.potential(dim=2)
