"""A forward model: its runs on a worker, and its posterior, computed from them at no cost."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import EvaluationError, ParameterError
from rnshmc.inference.angles import Angles
from rnshmc.inference.exact.density import reason
from rnshmc.inference.exact.evaluation import Answer, Cost, Evaluation, Run, failed
from rnshmc.inference.exact.likelihoods.base import Observed, structured
from rnshmc.inference.exact.likelihoods.compressed import Compression
from rnshmc.inference.exact.priors.base import Prior
from rnshmc.inference.given import numbers
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

SAME = 1e-9
"""Relative difference of two vectors that are equal up to rounding."""
Forward = Callable[[Array], Any]
Part = Callable[[Array], tuple[Array, Array]]
"""A part of a potential: values (k,) and gradients (k, d) at the rows of x, (k, d)."""


@dataclass(frozen=True, eq=False)
class ForwardPosterior:
    """U = -log p(data | F(inputs), own) - log prior, in the user's coordinates theta = (inputs, own).

    theta has the p ``inputs`` of the model and then the likelihood's own parameters, its unknown scales. Data are NaN
    where there is none; outputs are one vector in the order of the data.
    """

    observed: Observed
    prior: Prior
    inputs: int
    data: Mapping[str, Array]
    angles: Angles | None = None
    """Angles, which the prior receives in their intervals; None where there is none."""

    @property
    def sizes(self) -> dict[str, int]:
        """Number of outputs under each name."""
        return {str(name): array.size for name, array in self.data.items()}

    def key(self, theta: Array) -> Array:
        """The part of theta on which a run depends, shape (p,)."""
        return theta[: self.inputs]

    def structured(self, outputs: Array) -> Array | dict[str, Array]:
        """Rows of outputs, (k, m), with the structure of the data: one array, or one per name, (k, ...)."""
        found: Array | dict[str, Array] = structured(outputs, {name: y.shape for name, y in self.data.items()})
        return found

    def potential(self, theta: Array, predictors: Array) -> tuple[Array, Array, Array]:
        """U (k,), its derivatives by the predictors (k, m), and those by theta at given predictors (k, d)."""
        own = theta[:, self.inputs :]
        misfit, slopes, by_own = self.observed.potential(predictors, own)
        prior, by_theta = self.prior.potential(theta if self.angles is None else self.angles.wrapped(theta))
        by_theta = by_theta.copy()
        by_theta[:, self.inputs :] += by_own
        return misfit + prior, slopes, by_theta

    def pulling(self, theta: Array, outputs: Array) -> Array:
        """Derivative of U by the outputs of the run at theta, shape (m,)."""
        _, slopes, _ = self.potential(theta[None], self.observed.predictors(outputs[None]))
        return self.observed.pulled_back(outputs, slopes[0])

    def read(self, found: Evaluation, theta: Array) -> Evaluation:
        """U at theta from the run of its inputs, with its gradient where the run has the derivatives for it."""
        if found.run is None:
            return replace(found, point=theta)
        predictors = self.observed.predictors(found.run.outputs[None])
        if not np.isfinite(predictors).all():
            present = self.observed.present
            finite = np.isfinite(found.run.outputs[present])
            if finite.all():  # of a count below zero, say
                finite = np.isfinite(predictors[0])
            which = present[np.argmin(finite)]
            failure = f"the model's output {which} is {found.run.outputs[which]:g}"
            return replace(found, point=theta, value=math.inf, gradient=None, failure=failure)
        values, slopes, by_theta = self.potential(theta[None], predictors)
        pulled = self._pulled(found.run, slopes[0])
        gradient = None
        if pulled is not None:
            gradient = by_theta[0].copy()
            gradient[: self.inputs] += pulled
        # A product with J' may be for the slopes of another likelihood, or of other parameters of it.
        asked = found.with_gradient and (pulled is not None or found.run.along is None)
        return replace(found, point=theta, value=float(values[0]), gradient=gradient, with_gradient=asked)

    def _pulled(self, run: Run, slopes: Array) -> Array | None:
        """Gradient of the misfit by the inputs, if the run has a Jacobian, or its product with these slopes."""
        if run.jacobian is not None:
            return np.asarray(self.observed.jacobian(run.outputs, run.jacobian).T @ slopes)
        if run.along is None:
            return None
        wanted = self.observed.pulled_back(run.outputs, slopes)
        same = np.linalg.norm(wanted - run.along) <= SAME * np.linalg.norm(wanted)
        return run.pulled if same else None


@dataclass(frozen=True, eq=False)
class Runs:
    """Outputs of runs of a forward model, each of shape (m,), and the posterior that is computed from them.

    ``part`` is that of the `Archive`; ``compression`` is None where the outputs themselves are emulated.
    """

    rows: Sequence[Array]
    forward_posterior: ForwardPosterior
    transform: Transform
    compression: Compression | None = None
    part: Part | None = None

    @cached_property
    def outputs(self) -> Array:
        """Outputs of all runs, shape (n, m)."""
        return np.array(self.rows)

    def where(self, chosen: npt.NDArray[np.intp]) -> "Runs":
        """The runs with these indices."""
        return replace(self, rows=[self.rows[i] for i in chosen])

    def emulated(self) -> tuple[Array, ForwardPosterior]:
        """Emulated numbers of each run, (n, r), predictors or coefficients, and the posterior as a function of them."""
        if self.compression is None:
            return self.forward_posterior.observed.predictors(self.outputs), self.forward_posterior
        coefficients, observed = self.compression.compressed(self.rows)
        return coefficients, replace(self.forward_posterior, observed=observed)


@dataclass(frozen=True, eq=False)
class Runner:
    """A forward model on a worker; errors in it become failed evaluations."""

    forward: Forward
    forward_posterior: ForwardPosterior
    jacobian: Callable[[Array], Any] | None
    vjp: Callable[[Array, Array], Any] | None

    @property
    def products(self) -> int:
        """Products with the Jacobian or its transpose per gradient; 0 without derivatives."""
        if self.vjp is not None:
            return 1
        return 0 if self.jacobian is None else self.forward_posterior.inputs

    def evaluate(self, x: Array, *, gradient: bool) -> Answer:
        """A run at the inputs of ``x``, shape (d,); with derivatives of its outputs if requested and there are any.

        The value of the evaluation is 0: `ForwardPosterior.read` computes it. Raises as `Density.evaluate`.
        """
        inputs = self.forward_posterior.key(x)
        gradient = gradient and self.products > 0
        try:
            outputs = _flattened(self.forward(inputs.copy()), self.forward_posterior.data)
        except (EvaluationError, KeyboardInterrupt):
            raise
        except BaseException as error:  # `sys.exit` in a wrapped program, and panics of Rust, which are no `Exception`
            return failed(inputs, reason(error), gradient=False)
        plain = Evaluation(inputs, 0.0, with_gradient=gradient or not self.products, run=Run(outputs))
        if not gradient or not np.isfinite(self.forward_posterior.observed.predictors(outputs[None])).all():
            return plain, Cost()
        cost = Cost(gradients=self.products)
        try:
            return Evaluation(inputs, 0.0, run=self._differentiated(x, outputs)), cost
        except (EvaluationError, KeyboardInterrupt):
            raise
        except BaseException as error:
            return Evaluation(inputs, 0.0, None, reason(error), run=Run(outputs)), cost

    def _differentiated(self, x: Array, outputs: Array) -> Run:
        inputs = self.forward_posterior.key(x)
        if self.jacobian is not None:
            jacobian = numbers(self.jacobian(inputs.copy()), "the Jacobian")
            _check_shape("the Jacobian", jacobian, (len(outputs), len(inputs)))
            return Run(outputs, jacobian)
        assert self.vjp is not None
        along = self.forward_posterior.pulling(x, outputs)
        pulled = numbers(self.vjp(inputs.copy(), along.copy()), "vjp")
        _check_shape("vjp", pulled, inputs.shape)
        return Run(outputs, along=along, pulled=pulled)


def _flattened(returned: Any, data: Mapping[str, Array]) -> Array:
    """Outputs of a forward model as one vector in the order of the data; a `ParameterError` if shapes differ."""
    arrays = []
    for name, given in data.items():
        what = f"the forward model's output {name!r}" if name else "the forward model's output"
        if name and not (isinstance(returned, Mapping) and name in returned):
            raise ParameterError(f"{what} is missing: the data name it")
        array = numbers(returned[name] if name else returned, what)
        if array.ndim < given.ndim:
            array = np.atleast_1d(array)
        _check_shape(what, array, given.shape)
        arrays.append(array.ravel())
    outputs: Array = np.concatenate(arrays)
    outputs[~np.isfinite(outputs)] = np.nan
    return outputs


def _check_shape(what: str, array: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ParameterError(f"{what} has shape {array.shape}, expected {shape}")
