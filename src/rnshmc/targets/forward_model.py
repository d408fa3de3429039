"""The forward-model stage: observations to condition on and a prior predictive ensemble, spread over MPI ranks.

Each draw has a random stream of its own and each solve is made by one rank alone, so the results do not depend on the
number of ranks.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from rnshmc.errors import RnshmcError
from rnshmc.random import stream
from rnshmc.targets.elliptic import EllipticForwardModel
from rnshmc.targets.elliptic_settings import ForwardSettings
from rnshmc.targets.forward_data import ForwardData, read_observations
from rnshmc.types import Array

T = TypeVar("T")


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
    share = _together(comm, lambda: _share(settings, comm.rank, comm.size))
    shares = comm.gather(share, root=0)
    return None if shares is None else _merged(shares)


def _together(comm: Any, work: Callable[[], T]) -> T:
    """Result of this rank's work, or an error on all ranks: no rank waits for one that has failed."""
    try:
        result, error = work(), None
    except Exception as caught:
        result, error = None, caught
    messages = comm.allgather(None if error is None else str(error))
    if error is not None:
        raise error
    for rank, message in enumerate(messages):
        if message is not None:
            raise RnshmcError(f"rank {rank}: {message}")
    return result  # type: ignore[return-value]


def _share(settings: ForwardSettings, rank: int, size: int) -> ForwardData:
    """The observations, which every rank makes, and every ``size``-th member of the ensemble, from ``rank`` on."""
    points, user_observations = _observed(settings)
    model = EllipticForwardModel(points, settings.model)
    if user_observations is None:
        truth = _prior_draw(settings, "truth")
        clean = model.predict(truth)
        noise = settings.noise_sd * stream(settings.seed, settings.problem, "noise").standard_normal(len(points))
        observations, origin = clean + noise, "simulated"
    else:
        truth, clean = np.full(model.dim, np.nan), np.full(len(points), np.nan)
        observations, origin = user_observations, "user"
    theta = [_prior_draw(settings, "prior", str(member)) for member in range(rank, settings.members, size)]
    return ForwardData(
        points=points,
        observations=observations,
        observations_clean=clean,
        theta_true=truth,
        prior_theta=np.reshape(theta, (-1, model.dim)),
        prior_predictive=np.reshape([model.predict(draw) for draw in theta], (-1, len(points))),
        noise_sd=settings.noise_sd,
        prior_sd=settings.prior_sd,
        origin=origin,
    )


def _observed(settings: ForwardSettings) -> tuple[Array, Array | None]:
    """Observation points, and a user's observations there if the settings name a file."""
    if settings.observations is not None:
        return read_observations(settings.observations)
    side = np.linspace(0.0, 1.0, settings.sensors)
    return np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2), None


def _prior_draw(settings: ForwardSettings, *purpose: str) -> Array:
    return settings.prior_sd * stream(settings.seed, settings.problem, *purpose).standard_normal(settings.model.modes)


def _merged(shares: list[ForwardData]) -> ForwardData:
    """The ranks' shares of the ensemble, dealt out in turn, put back in order."""
    return replace(
        shares[0],
        prior_theta=_dealt_back([share.prior_theta for share in shares]),
        prior_predictive=_dealt_back([share.prior_predictive for share in shares]),
    )


def _dealt_back(hands: list[Array]) -> Array:
    rows = np.empty((sum(map(len, hands)), hands[0].shape[1]))
    for rank, hand in enumerate(hands):
        rows[rank :: len(hands)] = hand
    return rows
