"""A training set from independent forward and adjoint solves over MPI ranks, with gradients checked by differences."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.errors import RnshmcError
from rnshmc.random import stream
from rnshmc.surrogates.storage import Stored
from rnshmc.targets.ensemble import map_over_ranks
from rnshmc.types import Array, Potential

STEPS = 2.0 ** -np.arange(1, 16)
"""Steps of the central differences, from the range dominated by truncation to the one dominated by rounding."""
TOLERANCE = 1e-6
"""Maximum relative error of a correct gradient at the best step in double precision; wrong gradients exceed it."""

CHECK_COLUMNS = ("state", "step", "slope", "difference", "relative_error")


@dataclass(frozen=True, eq=False)
class Evaluations(Stored):
    """A potential at many states."""

    states: Array
    potentials: Array
    gradients: Array
    """States, (m, d), with values, (m,), and gradients, (m, d), there: the training set of a surrogate."""
    differences: Array
    """Central differences at the first c states, along the unit vectors of `directions`, (c, len(STEPS))."""


def prior_states(count: int, dim: int, *, prior_sd: float, seed: int, problem: str) -> Array:
    """States drawn from N(0, prior_sd^2 I), shape (count, dim), each from its own stream."""
    draws = [stream(seed, problem, "training", f"state{i}").standard_normal(dim) for i in range(count)]
    return prior_sd * np.array(draws)


def values_and_gradients(comm: Any, potential: Potential, states: Array) -> tuple[Array, Array] | None:
    """Potentials (m,) and gradients (m, d) at the rows of ``states``, on rank 0; None on the others. Collective."""
    packed = map_over_ranks(comm, lambda q: np.append(*potential.value_and_grad(q)), list(states))
    return None if packed is None else (packed[:, 0].copy(), packed[:, 1:].copy())


def central_differences(comm: Any, potential: Potential, states: Array, along: Array) -> Array | None:
    """(U(q + h v) - U(q - h v)) / 2h for each state q, its direction v and each h of `STEPS`. Collective.

    The result has shape (c, len(STEPS)) on rank 0, by 2 len(STEPS) independent solves for each state; it is None on the
    others. States and directions are rows, (c, dim).
    """
    ends = [q + sign * h * v for q, v in zip(states, along, strict=True) for h in STEPS for sign in (1.0, -1.0)]
    values = map_over_ranks(comm, potential.value, ends)
    if values is None:
        return None
    ahead, behind = np.moveaxis(values.reshape(len(states), len(STEPS), 2), -1, 0)
    return np.asarray((ahead - behind) / (2.0 * STEPS))


def directions(count: int, dim: int, *, seed: int, problem: str) -> Array:
    """Random unit vectors, shape (count, dim)."""
    vectors = stream(seed, problem, "directions").standard_normal((count, dim))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def gradient_check(evaluations: Evaluations, along: Array) -> pd.DataFrame:
    """Compare slopes of the adjoint with finite differences: `CHECK_COLUMNS`, one row per state and step.

    Errors are relative to the norm of the gradient, for a slope may happen to be near zero. Raises `RnshmcError` if the
    error at the best step of a state exceeds `TOLERANCE`: the gradient is not that of the potential.
    """
    gradients = evaluations.gradients[: len(along)]
    slopes = np.einsum("cd,cd->c", gradients, along)[:, np.newaxis]
    errors = np.abs(evaluations.differences - slopes) / np.linalg.norm(gradients, axis=1, keepdims=True)
    wrong = np.flatnonzero(errors.min(axis=1) > TOLERANCE)
    if wrong.size:
        raise RnshmcError(f"state {wrong[0]}: slope and differences disagree by {errors[wrong[0]].min():.1e} at best")
    columns = np.broadcast_arrays(np.arange(len(along))[:, np.newaxis], STEPS, slopes, evaluations.differences, errors)
    return pd.DataFrame(dict(zip(CHECK_COLUMNS, map(np.ravel, columns), strict=True)))
