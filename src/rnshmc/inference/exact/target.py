"""Targets of `rnshmc.sample` as one kind of model: functions, potentials, forward models and servers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.forward import Model, ModelValue, Posterior
from rnshmc.inference.exact.umbridge import UMBridge
from rnshmc.inference.given import numbers
from rnshmc.types import Array

Gradient = Callable[[Array], Any] | Literal[False] | None


def make_posterior(target: Any, gradient: Gradient, names: Sequence[str]) -> Posterior:
    """The posterior of parameters with these names; raises as `make_model`, and if a prior does not fit the names."""
    model = model_of(target)
    if model is None:
        return Posterior(make_model(target, gradient, len(names)))
    _check_dim(target, len(names))
    if gradient is not None and gradient is not False:
        raise ParameterError("gradient: of a Model, give jacobian= or vjp= to the Model instead")
    return model.posterior(names)


def model_of(target: Any) -> Model | None:
    """The forward model of a target whose outputs can be learnt; None where there is none."""
    if isinstance(target, UMBridge | ModelValue):
        return target.model
    return target if isinstance(target, Model) else None


def make_model(target: Any, gradient: Gradient, dim: int) -> Density:
    """The log density, of ``dim`` parameters, of a target of `rnshmc.sample` that is no `Model`, with its ``gradient``.

    Raises `ParameterError` if the target is not of a known kind, or has another number of parameters.
    """
    if gradient is not None and gradient is not False and not callable(gradient):
        raise ParameterError(f"gradient: expected a function of x, False or None, got {gradient!r}")
    slope = gradient if callable(gradient) else None
    _check_dim(target, dim)
    if isinstance(target, UMBridge):
        own = target.gradient if target.has_gradient else None
        return Density(target.log_density, slope or own)
    if callable(getattr(target, "value", None)):
        return _of_potential(target, slope)
    if callable(target):
        return Density(target, slope)
    hint = ""
    if isinstance(target, str):
        hint = "; for a model behind UM-Bridge: rnshmc.UMBridge(address, data=..., noise_sd=..., prior=...)"
    raise ParameterError(f"target: expected a function of x or a potential, got {target!r:.80}{hint}")


def _check_dim(target: Any, dim: int) -> None:
    if getattr(target, "dim", dim) != dim:
        raise ParameterError(f"x0: it has {dim} parameters, but the target has {target.dim}")


def with_arguments(
    target: Any, gradient: Gradient, args: Sequence[Any], kwargs: Mapping[str, Any] | None
) -> tuple[Any, Gradient]:
    """A target and its gradient as functions of x alone, with further arguments bound."""
    if isinstance(args, str) or not isinstance(args, Sequence):
        raise ParameterError(f"args: expected a sequence of further arguments of the target, got {args!r:.80}")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ParameterError(f"kwargs: expected a mapping of further arguments of the target, got {kwargs!r:.80}")
    if not args and not kwargs:
        return target, gradient
    if not is_function(target):
        name = "args" if args else "kwargs"
        raise ParameterError(f"{name}: further arguments are for a target that is a function, got {target!r:.80}")

    def bound(function: Callable[..., Any]) -> Callable[[Array], Any]:
        return lambda x: function(x, *args, **(kwargs or {}))

    return bound(target), bound(gradient) if callable(gradient) else gradient


def is_function(target: Any) -> bool:
    """Whether a target is a function of x, not a model, a potential or a server."""
    return callable(target) and model_of(target) is None and not callable(getattr(target, "value", None))


def digest_of(target: Any) -> str | None:
    """The attribute ``digest`` of a target, a string that changes whenever the target does; None if it has none."""
    digest = getattr(target, "digest", None)
    return digest if isinstance(digest, str) and digest else None


def _of_potential(potential: Any, slope: Callable[[Array], Any] | None) -> Density:
    """The log density of a potential, with a gradient of its own unless a separate one, ``slope``, is given."""

    def value(x: Array) -> Any:
        return -potential.value(x)

    def gradient(x: Array) -> Array:
        return -numbers(potential.gradient(x), "the gradient")

    def both(x: Array) -> tuple[Any, Array]:
        value, gradient = potential.value_and_grad(x)
        return -value, -numbers(gradient, "the gradient")

    if slope is None and callable(getattr(potential, "value_and_grad", None)):
        return Density(value, None, both)
    return Density(value, slope or (gradient if callable(getattr(potential, "gradient", None)) else None))
