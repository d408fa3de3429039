"""Expensive forward models whose outputs are observed, with a likelihood and a prior that cost nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.inference.angles import Angles
from rnshmc.inference.exact.evaluation import Evaluable, Evaluation
from rnshmc.inference.exact.forward_posterior import Forward, ForwardPosterior, Runner
from rnshmc.inference.exact.likelihoods.base import Bound, Likelihood
from rnshmc.inference.exact.likelihoods.groups import make_likelihood
from rnshmc.inference.exact.likelihoods.named import Gaussian
from rnshmc.inference.exact.names import make_names
from rnshmc.inference.exact.priors.making import make_prior
from rnshmc.inference.given import numbers
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Posterior:
    """The model that workers evaluate, and the posterior of its outputs."""

    evaluable: Evaluable
    forward_posterior: ForwardPosterior | None = None
    """Computes the potential from runs of a forward model; None where the density is evaluated."""
    slope_price: int = 1
    """Units that a gradient costs."""
    bounds: Mapping[int, Bound] = field(default_factory=dict)
    """Bounds implied by likelihood and prior, by the index of the parameter."""
    angles: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """Ends of the intervals of angles by the prior, by the index of the parameter."""


class Model:
    """A forward model, observations of its outputs, and a prior.

    `rnshmc.sample` emulates the outputs F, not the density. Likelihood and prior are evaluated exactly: an unknown
    scale of the noise costs no run, and runs can be reused with new data.

    Parameters
    ----------
    forward
        F(x) for the model's parameters, shape (p,): a vector, a matrix, or a mapping from names to arrays.
    data
        Observations, in the structure of the outputs; NaN where data are missing. Outputs of a mapping that the data do
        not name are ignored.
    likelihood
        Such as ``rnshmc.Gaussian(sd=0.1)``. Unknown scales, ``rnshmc.Gaussian(sd="sigma")``, are parameters that follow
        the model's in x. For data in a mapping: one for all, or a mapping with one for each.
    prior
        See `rnshmc.inference.exact.priors.making.make_prior`; None for a flat one.
    jacobian
        J(x), shape (m, p), of the outputs in one vector.
    vjp
        J(x)'v, shape (p,), as ``vjp(x, v)``: an adjoint solve. Give at most one of the two. Emulation needs no
        derivatives. They are used if it fails: for a surrogate of the density, or adapted HMC.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(
        self,
        forward: Forward,
        data: Any,
        *,
        likelihood: Likelihood | Mapping[str, Likelihood],
        prior: Any = None,
        jacobian: Callable[[Array], Any] | None = None,
        vjp: Callable[[Array, Array], Any] | None = None,
    ) -> None:
        if not callable(forward):
            raise ParameterError(f"forward: expected a function of the parameters, got {forward!r:.80}")
        if jacobian is not None and vjp is not None:
            raise ParameterError("jacobian, vjp: give one of them")
        self._data = _named(data)
        self._likelihood = make_likelihood(likelihood, list(self._data))
        self._observed = self._likelihood.observing(self._data)
        self._prior = prior
        self._forward, self._jacobian, self._vjp = forward, jacobian, vjp

    @property
    def has_gradient(self) -> bool:
        """Whether the outputs have derivatives."""
        return self._jacobian is not None or self._vjp is not None

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the parameters of the likelihood, which follow the model's."""
        return self._likelihood.names

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the parameters by the keys of the prior, the likelihood's last.

        None if the prior is not a mapping, or has the default names x0, x1, ...
        """
        if not isinstance(self._prior, Mapping):
            return None
        keys = [name for key in self._prior for name in (key if isinstance(key, tuple) else (key,))]
        if not keys or all(re.fullmatch(r"x\d+", str(name)) for name in keys):
            return None
        return (*(name for name in keys if name not in self.own), *self.own)

    @property
    def digest(self) -> str | None:
        """Digest of the forward model, if it has one: it identifies stored runs."""
        return getattr(self._forward, "digest", None)

    def potential(self, dim: int | None = None) -> "ModelValue":
        """U = -log density of ``dim`` parameters, for the workflow's samplers; with a gradient if there is one.

        ``dim`` may be omitted where the prior names the parameters; otherwise `ParameterError` is raised.
        """
        if dim is None and self.names is None:
            raise ParameterError("dim: give the number of parameters, or a prior that names them")
        if self.names is not None and dim not in (None, len(self.names)):
            raise ParameterError(f"dim: got {dim}, but the prior names {len(self.names)}: {', '.join(self.names)}")
        dim = len(self.names or ()) if dim is None else dim
        return ModelPotential(self, dim) if self.has_gradient else ModelValue(self, dim)

    def posterior(self, names: Sequence[str]) -> Posterior:
        """The posterior of the parameters with these names, the likelihood's last."""
        inputs = len(names) - len(self.own)
        forward_posterior = ForwardPosterior(self._observed, make_prior(self._prior, names), inputs, self._data)
        bounds: dict[int, Bound] = dict(forward_posterior.prior.bounds)
        for k, name in enumerate(self.own, start=inputs):
            bounds[k] = _intersection(bounds.get(k, (None, None)), self._likelihood.bounds[name])
        runner = Runner(self._forward, forward_posterior, self._jacobian, self._vjp)
        return Posterior(runner, forward_posterior, runner.products, bounds, forward_posterior.prior.angles)


class LeastSquares(Model):
    """The `Model` with log density -sum_i ((F_i(x) - y_i) / s_i)^2 / 2 + log prior(x), constants included.

    Parameters
    ----------
    noise_sd
        Standard deviation s of the Gaussian noise, one number or one for each datum.
    forward, data, prior, jacobian, vjp
        As in `Model`.
    """

    def __init__(
        self,
        forward: Forward,
        data: npt.ArrayLike,
        noise_sd: npt.ArrayLike,
        *,
        prior: Any = None,
        jacobian: Callable[[Array], Any] | None = None,
        vjp: Callable[[Array, Array], Any] | None = None,
    ) -> None:
        super().__init__(forward, data, likelihood=Gaussian(sd=noise_sd), prior=prior, jacobian=jacobian, vjp=vjp)


class ModelValue:
    """U = -log density of a `Model` with ``dim`` parameters, those of the likelihood included, without a gradient.

    It is a potential for the samplers of the workflow; `rnshmc.sample` learns the outputs of its ``model``.
    """

    def __init__(self, model: Model, dim: int) -> None:
        self.model, self.dim, self.names = model, dim, model.names
        self._posterior = model.posterior(make_names(model.names, dim, model.own))
        self._angles = Angles.of(self._posterior.angles, dim)

    def value(self, q: Array) -> float:
        """U(q), for one run; `NumericalError` if the run fails."""
        return self._evaluated(q, gradient=False).value

    def _evaluated(self, q: Array, *, gradient: bool) -> Evaluation:
        run, _ = self._posterior.evaluable.evaluate(self._angles.wrapped(q), gradient=gradient)
        assert self._posterior.forward_posterior is not None
        found = self._posterior.forward_posterior.read(run, q)
        if found.failure is not None:
            raise NumericalError(found.failure)
        return found


class ModelPotential(ModelValue):
    """The same with a gradient."""

    def gradient(self, q: Array) -> Array:
        """Gradient of U at ``q``, for a run and its derivatives. Raises as `value`."""
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, for a run and its derivatives. Raises as `value`."""
        found = self._evaluated(q, gradient=True)
        # Outside the support the density is zero, and the gradient is arbitrary.
        return found.value, found.gradient if found.gradient is not None else np.zeros(self.dim)


def _named(data: Any) -> dict[str, Array]:
    """Data by name; a plain array has the name ""."""
    given = data if isinstance(data, Mapping) else {"": data}
    if not given:
        raise ParameterError("data: expected at least one array, got an empty mapping")
    return {name: np.atleast_1d(numbers(array, f"data of {name}" if name else "data")) for name, array in given.items()}


def _intersection(first: Bound, second: Bound) -> Bound:
    low, high = ([bound for bound in side if bound is not None] for side in zip(first, second, strict=True))
    return max(low, default=None), min(high, default=None)
