"""The forward-model stage: observations to condition on and a prior predictive ensemble, spread over MPI ranks.

Each draw has its own random stream and each solve runs on a single rank, so the results do not depend on the number of
ranks.
"""

from typing import Any

import numpy as np

from rnshmc.datasets.receipt import read_published
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.targets.elliptic import EllipticForwardModel
from rnshmc.targets.elliptic_settings import ForwardSettings
from rnshmc.targets.ensemble import map_over_ranks, together
from rnshmc.targets.forward_data import ForwardData, read_observations
from rnshmc.types import Array, Origin


def run_forward_model(comm: Any, settings: ForwardSettings) -> ForwardData | None:
    """Simulate or read observations, and solve the model for an ensemble from the prior. Collective.

    The true parameters are drawn from the prior with ``stream(seed, problem, "truth")``, the noise with ``stream(seed,
    problem, "noise")``, member i of the ensemble with ``stream(seed, problem, "prior", str(i))``. All results are on
    rank 0, None on the others. Raises `RnshmcError` on every rank if one fails. On the failing rank it is a `DataError`
    for unusable observations, a `ParameterError` for an invalid setting or one that does not fit published
    observations, or a `NumericalError` for a solve.
    """
    points, given, origin = together(comm, lambda: _observed(settings))
    model = together(comm, lambda: EllipticForwardModel(points, settings.model))
    theta = [_prior_draw(settings, "prior", str(member)) for member in range(settings.members)]
    predictive = map_over_ranks(comm, model.predict, theta)
    if given is None:
        truth = _prior_draw(settings, "truth")
        clean = together(comm, lambda: model.predict(truth))
        noise = settings.noise_sd * stream(settings.seed, settings.problem, "noise").standard_normal(len(points))
        observations = clean + noise
    else:
        truth, clean = np.full(model.dim, np.nan), np.full(len(points), np.nan)
        observations = given
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


def _observed(settings: ForwardSettings) -> tuple[Array, Array | None, Origin]:
    """Points of the observations, their values unless these are to be simulated, and their origin."""
    if settings.observations is not None:
        return *read_observations(settings.observations), "user"
    side = np.linspace(0.0, 1.0, settings.sensors)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    published = read_published(settings.published, "y") if settings.published is not None else None
    if published is None:
        return points, None, "simulated"
    (observations,) = published
    if len(observations) != len(points):
        raise ParameterError(
            f"sensors is {settings.sensors}, but there are {len(observations)} published observations; "
            "simulate them (forward.observations: null), or put 11 sensors along a side"
        )
    return points, observations, "published"


def _prior_draw(settings: ForwardSettings, *purpose: str) -> Array:
    return settings.prior_sd * stream(settings.seed, settings.problem, *purpose).standard_normal(settings.model.modes)
