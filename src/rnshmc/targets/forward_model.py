"""The forward-model stage: observations to condition on and a prior predictive ensemble, spread over MPI ranks.

Each draw has a random stream of its own and each solve is made by one rank alone, so the results do not depend on the
number of ranks.
"""

from typing import Any

import numpy as np

from rnshmc.random import stream
from rnshmc.targets.elliptic import EllipticForwardModel
from rnshmc.targets.elliptic_settings import ForwardSettings
from rnshmc.targets.ensemble import map_over_ranks, together
from rnshmc.targets.forward_data import ForwardData, read_observations
from rnshmc.types import Array


def run_forward_model(comm: Any, settings: ForwardSettings) -> ForwardData | None:
    """Simulate observations, or read a user's, and solve the model for an ensemble from the prior. Collective.

    The true parameters are drawn from the prior with ``stream(seed, problem, "truth")``, the noise with
    ``stream(seed, problem, "noise")``, member i of the ensemble with ``stream(seed, problem, "prior", str(i))``.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Ranks that share the ensemble.
    settings
        What to compute.

    Returns
    -------
    ForwardData or None
        All results on rank 0, None on the others.

    Raises
    ------
    RnshmcError
        On every rank, if one fails: `DataError` for a user's observations that cannot be used, `ParameterError` for a
        setting that the model refuses, `NumericalError` for a solve, on the rank where it happened.
    """
    model, points, user_observations = together(comm, lambda: _model(settings))
    theta = [_prior_draw(settings, "prior", str(member)) for member in range(settings.members)]
    predictive = map_over_ranks(comm, model.predict, theta)
    if user_observations is None:
        truth = _prior_draw(settings, "truth")
        clean = together(comm, lambda: model.predict(truth))
        noise = settings.noise_sd * stream(settings.seed, settings.problem, "noise").standard_normal(len(points))
        observations, origin = clean + noise, "simulated"
    else:
        truth, clean = np.full(model.dim, np.nan), np.full(len(points), np.nan)
        observations, origin = user_observations, "user"
    if predictive is None:
        return None
    return ForwardData(
        points=points,
        observations=observations,
        observations_clean=clean,
        theta_true=truth,
        prior_theta=np.array(theta),
        prior_predictive=predictive,
        noise_sd=settings.noise_sd,
        prior_sd=settings.prior_sd,
        origin=origin,
    )


def _model(settings: ForwardSettings) -> tuple[EllipticForwardModel, Array, Array | None]:
    """The model, the points that it is observed at, and a user's observations there if the settings name a file."""
    if settings.observations is not None:
        points, observations = read_observations(settings.observations)
        return EllipticForwardModel(points, settings.model), points, observations
    side = np.linspace(0.0, 1.0, settings.sensors)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    return EllipticForwardModel(points, settings.model), points, None


def _prior_draw(settings: ForwardSettings, *purpose: str) -> Array:
    return settings.prior_sd * stream(settings.seed, settings.problem, *purpose).standard_normal(settings.model.modes)
