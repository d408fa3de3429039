"""A model behind UM-Bridge as a potential of the workflow: ``target: {kind: umbridge, url: ...}``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rnshmc.inference.exact.forward import ModelValue
from rnshmc.inference.exact.umbridge import UMBridge
from rnshmc.types import Array


def from_server(
    record: Path,  # noqa: ARG001
    *,
    prior: Mapping[str, Any] | None = None,
    **settings: Any,
) -> "UMBridgeValue | ModelValue":
    """The potential behind a server; without a gradient, for `rnshmc.sample` alone, where the model has none.

    Parameters
    ----------
    record
        The workflow's record of the model. It is not read: jobs depend on it, as they do on a data set.
    prior
        ``mean`` and ``sd`` of independent normal priors; None for a flat one.
    settings
        The other arguments of `UMBridge`, which also raises the errors.
    """
    normal = None if prior is None else (prior["mean"], prior["sd"])
    model = UMBridge(**settings, prior=normal)
    if model.model is not None:
        return model.model.potential(model.dim)
    return UMBridgePotential(model) if model.has_gradient else UMBridgeValue(model)


class UMBridgeValue:
    """U = -log density of a `UMBridge` whose output is the log density.

    If the server reports that it cannot evaluate, a `NumericalError` rejects the proposal; a server that stops
    answering ends the job.
    """

    def __init__(self, model: UMBridge) -> None:
        self._model = model
        self.dim: int = model.dim

    def value(self, q: Array) -> float:
        """U(q), for one request."""
        return -self._model.log_density(q)


class UMBridgePotential(UMBridgeValue):
    """The same with its gradient."""

    def gradient(self, q: Array) -> Array:
        """Gradient of U at ``q``, for one request."""
        return -self._model.gradient(q)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, for two requests."""
        return self.value(q), self.gradient(q)
