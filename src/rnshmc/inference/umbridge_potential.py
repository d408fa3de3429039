"""A model behind UM-Bridge as a potential of the workflow: ``target: {kind: umbridge, url: ...}``."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.inference.umbridge import ModelError, UMBridge
from rnshmc.types import Array

R = TypeVar("R")


def from_server(
    record: Path,  # noqa: ARG001
    *,
    prior: Mapping[str, Any] | None = None,
    **settings: Any,
) -> "UMBridgePotential":
    """The potential behind a server.

    Parameters
    ----------
    record
        What the workflow wrote down of the model. It is not read: jobs depend on it, as they do on a data set.
    prior
        ``mean`` and ``sd`` of independent normal priors; none for a flat one.
    settings
        The other arguments of `UMBridge`, by name.

    Raises
    ------
    ParameterError
        If an argument cannot be used, or the model has no gradient.
    EvaluationError
        If no server answers.
    """
    normal = None if prior is None else (prior["mean"], prior["sd"])
    return UMBridgePotential(UMBridge(**settings, prior=normal), settings["url"])


class UMBridgePotential:
    """U = -log density of a `UMBridge`, which moves trajectories as well.

    Where the server says that it cannot evaluate, `NumericalError` is raised: the proposal is rejected. A server that
    does not answer any more ends the job.
    """

    def __init__(self, model: UMBridge, url: str) -> None:
        if not model.has_gradient:
            raise ParameterError(f"target: the model at {url} has no gradient, by which HMC moves")
        self._model = model
        self.dim: int = model.dim

    def value(self, q: Array) -> float:
        """U(q), for one request."""
        return -_evaluated(self._model.log_density, q)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at ``q``, for two requests, or one where the value was asked for there before."""
        return -_evaluated(self._model.gradient, q)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, for two requests."""
        return self.value(q), self.gradient(q)


def _evaluated(function: Callable[[Array], R], q: Array) -> R:
    try:
        return function(q)
    except ModelError as error:
        raise NumericalError(str(error)) from error
