"""The potential of a forward model whose outputs are emulated: likelihood, prior and transform are exact."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rnshmc.inference.exact.archive import Runs, Training
from rnshmc.inference.exact.posed import Posed
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import Transform
from rnshmc.surrogates.output_kernel import OutputKernel
from rnshmc.types import Array

HESSIANS, STEP = 64, 1e-3
"""Positions whose Hessians are averaged, and the whitened step of their differences."""


@dataclass(frozen=True, eq=False)
class EmulatedPotential:
    """V(z) = -log p(data | E, own) - log prior - log |dT/dx|, with emulated predictors E, in whitened coordinates z.

    Attributes
    ----------
    posed
        Likelihood and prior.
    transform
        From unconstrained coordinates x to the user's.
    whitening
        From x to z.
    inner
        From the model's own coordinates among x to inputs of the emulator.
    outputs
        The emulator: its processes are those of the predictors.
    offset
        Exact potential at V = 0.
    """

    posed: Posed
    transform: Transform
    whitening: Whitening
    inner: Whitening
    outputs: OutputKernel
    offset: float
    noise: float = 0.0
    """That of outputs is in `covariance`."""

    @property
    def dim(self) -> int:
        """Number of parameters, of the model and of the likelihood."""
        return self.transform.dim

    @property
    def centres(self) -> Array:
        """Inputs of the runs."""
        return self.outputs.centres

    def values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        """V at the rows of z, (k,), and its gradients, (k, d)."""
        x = self.whitening.unwhiten(z)
        theta, w = self.transform.parameters(x), self.inputs(x)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted, local = self.outputs.predict(w)
            values, slopes, by_theta = self.posed.potential(theta, predicted)
            gradients = -self.transform.pulled_back(-by_theta, x)
            by_inputs = self.outputs.pulled_back(w, local, slopes) @ self.inner.factor.T
            gradients[:, : self.posed.inputs] += by_inputs
            values = values - self.transform.log_jacobians(x) - self.offset
        return np.where(np.isfinite(values), values, np.inf), self.whitening.slopes(gradients)

    def covariance(self, z: Array) -> Array:
        """Covariance of U - V at the rows of z, from that of the predictors to second order: (k, k)."""
        x = self.whitening.unwhiten(z)
        theta, w = self.transform.parameters(x), self.inputs(x)
        predicted = self.outputs.predict(w)[0]
        _, slopes, _ = self.posed.potential(theta, predicted)
        shared = self.outputs.covariance(w)
        shared[np.diag_indices_from(shared)] += self.outputs.covariances.nugget
        felt = slopes @ self.outputs.roots
        curved = self.posed.observed.curvatures(predicted, theta[:, self.posed.inputs :]).mean(axis=0)
        squares = self.outputs.roots.T @ (self.outputs.roots * curved[:, None])
        return np.asarray(shared * (felt @ felt.T) + 0.5 * float((squares**2).sum()) * shared**2)

    def mean_hessian(self, z: Array) -> Array:
        """Average of the Hessian of V over rows of z, shape (d, d), by differences of gradients."""
        some = z[:: max(1, len(z) // HESSIANS)]
        hessian = np.empty((self.dim, self.dim))
        for i, step in enumerate(STEP * np.eye(self.dim)):
            ahead, behind = (self.values_and_gradients(some + side * step)[1] for side in (1.0, -1.0))
            hessian[i] = ((ahead - behind) / (2.0 * STEP)).mean(axis=0)
        return np.asarray(0.5 * (hessian + hessian.T))

    def inputs(self, x: Array) -> Array:
        """Inputs of the emulator at the rows of x."""
        return self.inner.whiten(x[:, : self.posed.inputs])


def emulate(
    training: Training, runs: Runs, whitening: Whitening, *, like: "EmulatedPotential | None" = None
) -> EmulatedPotential:
    """Emulate the outputs of runs, in given whitened coordinates.

    Parameters
    ----------
    training, runs
        Points with finite potentials, and the runs there.
    whitening
        Coordinates in which the posterior has a scale of one.
    like
        An emulator in the same coordinates whose length scales and noise are used instead of choosing them.

    Raises
    ------
    FitError
        If there are too few runs, or no system can be solved.
    """
    posed, transform = runs.posed, runs.transform
    lowest = int(np.argmin(training.values))
    # The parameters of a likelihood may differ at equal inputs.
    _, first = np.unique(training.points[:, : posed.inputs], axis=0, return_index=True)
    first.sort()
    points, predictors = training.points[first], posed.observed.predictors(runs.outputs[first])
    own = transform.parameters(training.points[lowest])[posed.inputs :]
    at_lowest = posed.observed.predictors(runs.outputs[lowest][None])
    units = posed.observed.curvatures(at_lowest, own[None])[0] ** -0.5

    def fitted(inner: Whitening, known: OutputKernel | None) -> OutputKernel:
        return OutputKernel.fit(inner.whiten(points[:, : posed.inputs]), predictors, units=units, like=known)

    if like is not None and like.whitening is whitening:
        inner, outputs = like.inner, fitted(like.inner, like.outputs)
    else:
        tried = [(inner, fitted(inner, None)) for inner in _frames(whitening, posed.inputs)]
        inner, outputs = min(tried, key=lambda pair: pair[1].covariances.loss)
    return EmulatedPotential(posed, transform, whitening, inner, outputs, float(training.values[lowest]))


def _frames(whitening: Whitening, inputs: int) -> tuple[Whitening, ...]:
    """Coordinates of the inputs, whitened by their marginal covariance, and scaled one by one: parameters of a model
    are often those along which it varies more or less."""
    covariance = linalg.cho_solve((whitening.factor, True), np.eye(len(whitening.centre)))[:inputs, :inputs]
    root = linalg.cholesky(covariance, lower=True)
    inverse = linalg.solve_triangular(root, np.eye(inputs), lower=True)
    centre = whitening.centre[:inputs]
    # QR of the inverse makes the factor of the precision triangular.
    whitened = Whitening(centre, np.linalg.qr(inverse)[1].T)
    return whitened, Whitening(centre, np.diag(covariance.diagonal() ** -0.5))
