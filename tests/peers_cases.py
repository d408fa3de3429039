"""A linear model with normal errors and priors: what peers of the comparison are tested on, in any environment."""

import numpy as np
from peers.forward import ForwardProblem
from peers.likelihoods import Gaussian, Prior
from peers.problems import Problem


def linear_gaussian() -> ForwardProblem:
    """Four outputs, linear in three parameters, with normal errors of 0.5 and standard normal priors."""
    matrix = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.5], [0.3, 0.0, 1.0], [1.0, 1.0, 1.0]])
    prior = Prior(np.zeros(3), np.ones(3), np.zeros(3, dtype=bool))
    names = ("a", "b", "c")
    data = np.array([1.0, -0.5, 0.2, 0.7])
    return ForwardProblem(
        lambda x: np.asarray(matrix @ x),
        lambda _, v: np.asarray(matrix @ v),
        lambda _, w: np.asarray(w @ matrix),
        data,
        Gaussian(0.5),
        prior,
        np.zeros(3),
        names,
        np.zeros(3, dtype=bool),
    )


def as_problem(model: ForwardProblem) -> Problem:
    wide = np.full(model.dim, 5.0)
    return Problem(model.potential, model.coordinates(model.start), 0.1, -wide, wide, model.width, model)
