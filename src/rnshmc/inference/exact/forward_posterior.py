"""The posterior of a forward model, read off its outputs: what costs nothing once a run is made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.exact.evaluation import Evaluation, Run
from rnshmc.inference.exact.likelihoods.base import Observed
from rnshmc.inference.exact.priors.base import Prior
from rnshmc.types import Array

SAME = 1e-9
"""Relative difference of two vectors that are one up to rounding."""


@dataclass(frozen=True, eq=False)
class ForwardPosterior:
    """U = -log p(data | F(inputs), own) - log prior, in the user's coordinates theta = (inputs, own).

    Attributes
    ----------
    observed
        The likelihood, with its data.
    prior
        Of all parameters.
    inputs
        Number p of parameters of the model; those of the likelihood, its unknown scales, follow.
    data
        Observations by name, NaN where there is none. Outputs are in one vector, in the same order.
    """

    observed: Observed
    prior: Prior
    inputs: int
    data: Mapping[str, Array]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of outputs under each name."""
        return {str(name): array.size for name, array in self.data.items()}

    def key(self, theta: Array) -> Array:
        """The part of theta on which a run depends, shape (p,)."""
        return theta[: self.inputs]

    def structured(self, outputs: Array) -> Array | dict[str, Array]:
        """Rows of outputs, (k, m), with the structure of the data: one array, or one for each name, (k, ...)."""
        parts = np.split(outputs, np.cumsum([*self.sizes.values()])[:-1], axis=1)
        named = zip(self.data.items(), parts, strict=True)
        arrays = {name: part.reshape(len(outputs), *array.shape) for (name, array), part in named}
        return arrays[""] if list(arrays) == [""] else arrays

    def potential(self, theta: Array, predictors: Array) -> tuple[Array, Array, Array]:
        """U (k,), its derivatives by the predictors (k, m), and those by theta at given predictors (k, d)."""
        own = theta[:, self.inputs :]
        misfit, slopes, by_own = self.observed.potential(predictors, own)
        prior, by_theta = self.prior.potential(theta)
        by_theta = by_theta.copy()
        by_theta[:, self.inputs :] += by_own
        return misfit + prior, slopes, by_theta

    def pulling(self, theta: Array, outputs: Array) -> Array:
        """Derivative of U by the outputs of the run at theta, shape (m,)."""
        _, slopes, _ = self.potential(theta[None], self.observed.predictors(outputs[None]))
        return self.observed.pulled_back(outputs, slopes[0])

    def read(self, found: Evaluation, theta: Array) -> Evaluation:
        """U at theta from the run of its inputs, with its gradient where the run has what that takes."""
        if found.run is None:
            return replace(found, point=theta)
        predictors = self.observed.predictors(found.run.outputs[None])
        if not np.isfinite(predictors).all():
            present = self.observed.present
            finite = np.isfinite(found.run.outputs[present])
            if finite.all() and predictors.shape[1] == len(present):  # of a count below zero, say
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
        # A product with J' was for the slopes of another likelihood, or of other parameters of it.
        stale = pulled is None and found.run.along is not None
        return replace(
            found,
            point=theta,
            value=float(values[0]),
            gradient=gradient,
            with_gradient=found.with_gradient and not stale,
        )

    def _pulled(self, run: Run, slopes: Array) -> Array | None:
        """Gradient of the misfit by the inputs, if the run has a Jacobian, or its product with these slopes."""
        if run.jacobian is not None:
            return np.asarray(self.observed.jacobian(run.outputs, run.jacobian).T @ slopes)
        if run.along is None:
            return None
        wanted = self.observed.pulled_back(run.outputs, slopes)
        same = np.linalg.norm(wanted - run.along) <= SAME * np.linalg.norm(wanted)
        return run.pulled if same else None
