"""The potential of a forward model whose outputs are emulated: likelihood, prior and transform are exact."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rnshmc.errors import FitError
from rnshmc.inference.exact.archive import Training
from rnshmc.inference.exact.forward_posterior import ForwardPosterior, Runs
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import Transform
from rnshmc.surrogates.output_kernel import OutputKernel
from rnshmc.types import Array

HESSIANS, STEP = 64, 1e-3
"""Positions whose Hessians are averaged, and the whitened step of their differences."""
ENTRIES = 2_000_000
"""Numbers in the largest array of outputs at several positions: a likelihood makes a dozen such arrays."""


@dataclass(frozen=True, eq=False)
class EmulatedPotential:
    """V(z) = -log p(data | E, own) - log prior - log |dT/dx|, with emulated predictors E, in whitened coordinates z."""

    forward_posterior: ForwardPosterior
    """Likelihood and prior, as functions of the emulated quantities: predictors, or coefficients of them in a basis."""
    transform: Transform
    """From unconstrained coordinates x to the user's."""
    whitening: Whitening
    """From x to z."""
    inner: Whitening
    """From the model's own coordinates among x to inputs of the emulator."""
    outputs: OutputKernel
    """The emulator: processes of the predictors, or of the coefficients."""
    offset: float
    """Exact potential at V = 0."""
    runs: Runs
    """Training runs, one for each of the emulator's centres."""

    @property
    def dim(self) -> int:
        """Number of parameters, of the model and of the likelihood."""
        return self.transform.dim

    @property
    def noise(self) -> float:
        """Zero: the noise of outputs is in `covariance`."""
        return 0.0

    @property
    def centres(self) -> Array:
        """Inputs of the runs."""
        return self.outputs.centres

    def values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        """V at the rows of z, (k,), and its gradients, (k, d)."""
        parts = [self._values_and_gradients(some) for some in self._bearable(z)]
        return np.concatenate([values for values, _ in parts]), np.concatenate([slopes for _, slopes in parts])

    def _values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        x = self.whitening.unwhiten(z)
        theta, w = self.transform.parameters(x), self.inputs(x)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted, local = self.outputs.predict(w)
            values, slopes, by_theta = self.forward_posterior.potential(theta, predicted)
            gradients = -self.transform.pulled_back(-by_theta, x)
            by_inputs = self.outputs.pulled_back(w, local, slopes) @ self.inner.factor.T
            gradients[:, : self.forward_posterior.inputs] += by_inputs
            values = values - self.transform.log_jacobians(x) - self.offset
        if self.runs.part is not None:
            of_part, slopes_of_part = self.runs.part(x)
            values, gradients = values + of_part, gradients + slopes_of_part
        return np.where(np.isfinite(values), values, np.inf), self.whitening.slopes(gradients)

    def covariance(self, z: Array) -> Array:
        """Covariance of U - V at the rows of z, from the predictors' to second order: (k, k)."""
        x = self.whitening.unwhiten(z)
        shared = self.outputs.covariance(self.inputs(x))
        shared[np.diag_indices_from(shared)] += self.outputs.covariances.nugget
        parts = [self._read(some, self.outputs.predict(self.inputs(some))[0]) for some in self._bearable(x)]
        felt = np.concatenate([part for _, part, _ in parts])
        curved = np.sum([part for _, _, part in parts], axis=0) / len(z)
        return np.asarray(shared * (felt @ felt.T) + self._bent(curved) * shared**2)

    def log_likelihoods(self, z: Array, power: float) -> tuple[Array, Array]:
        """log p(data | E, own) at the rows of z, and the log of its mean over the predictors' processes: each (k,).

        The mean is Laplace's approximation by one Gauss-Newton step, which is exact for Gaussian errors. Its volume
        term, the share of errors that agree with the data, is raised to ``power``.
        """
        x, size = self.whitening.unwhiten(z), max(1, ENTRIES // self.outputs.roots.size)
        parts = [self._log_likelihoods(x[start : start + size], power) for start in range(0, len(x), size)]
        return np.concatenate([plain for plain, _ in parts]), np.concatenate([mean for _, mean in parts])

    def _log_likelihoods(self, x: Array, power: float) -> tuple[Array, Array]:
        observed, w = self.forward_posterior.observed, self.inputs(x)
        # The same covariance by no more columns than outputs.
        roots = np.asarray(np.linalg.qr(self.outputs.roots.T, mode="r")).T
        own = self.transform.parameters(x)[:, self.forward_posterior.inputs :]
        sds = np.sqrt(self.outputs.variances(w) + self.outputs.covariances.nugget)[:, None]
        predicted = self.outputs.predict(w)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            misfit, slopes, _ = observed.potential(predicted, own)
            curved = (sds * np.sqrt(observed.curvatures(predicted, own)))[..., None] * roots
            precisions = np.eye(roots.shape[1]) + curved.transpose(0, 2, 1) @ curved
            usable = np.isfinite(misfit) & np.isfinite(precisions).all(axis=(1, 2))
            # The errors at which likelihood times their density are largest, by a Gauss-Newton step.
            precisions[~usable], felt = np.eye(roots.shape[1]), sds * (slopes @ roots)
            errors = -np.linalg.solve(precisions, felt[..., None])[..., 0]
            nearest = observed.potential(predicted + sds * (errors @ roots.T), own)[0]
            mean = -nearest - 0.5 * (errors**2).sum(axis=1) - 0.5 * power * np.linalg.slogdet(precisions)[1]
        return np.where(usable, -misfit, -np.inf), np.where(usable & np.isfinite(mean), mean, -np.inf)

    def held_out(self, x: Array) -> tuple[Array, Array]:
        """V at the rows of x by emulators that are not fitted to runs there, and the variance of U - V: each (k,).

        Residuals of each run, left out on its own, follow from the fit to all (Dubrule 1983).
        """
        parts = [self._held_out(some) for some in self._bearable(x)]
        shared, values, felt = (np.concatenate([part[k] for part in parts]) for k in range(3))
        curved = np.sum([part[3] for part in parts], axis=0) / len(x)
        return values, shared * (felt**2).sum(axis=1) + self._bent(curved) * shared**2

    def left_out(self) -> tuple[Array, Array, Array, Array]:
        """Each run compared with the emulator that is fitted to all others.

        x of the runs, (n, d), with the likelihood's parameters at their centre; U there, U less V without the run, and
        the variance of that difference, each (n,).
        """
        own = np.tile(self.whitening.centre[self.forward_posterior.inputs :], (len(self.centres), 1))
        x = np.hstack((self.inner.unwhiten(self.centres), own))
        parts = zip(self._bearable(x), self._bearable(self.outputs.fitted), strict=True)
        values = np.concatenate([self._read(some, outputs)[0] for some, outputs in parts])
        without, variances = self.held_out(x)
        return x, values + self.offset, values - without, variances

    def _held_out(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Variances of the processes at the rows of x, and as `_read`."""
        w = self.inputs(x)
        runs, variances = self.outputs.held_out(w)
        return variances, *self._read(x, self.outputs.predict(w)[0] + runs)

    def _read(self, x: Array, predicted: Array) -> tuple[Array, Array, Array]:
        """V (k,) for given predictors, its derivatives by the processes (k, r), and the sum of curvatures."""
        theta = self.transform.parameters(x)
        values, slopes, _ = self.forward_posterior.potential(theta, predicted)
        values = values - self.transform.log_jacobians(x) - self.offset
        if self.runs.part is not None:
            values = values + self.runs.part(x)[0]
        curvatures = self.forward_posterior.observed.curvatures(predicted, theta[:, self.forward_posterior.inputs :])
        return np.where(np.isfinite(values), values, np.inf), slopes @ self.outputs.roots, curvatures.sum(axis=0)

    def _bent(self, curved: Array) -> float:
        """Variance of the second-order term of U - V where the variance of the processes is one."""
        squares = self.outputs.roots.T @ (self.outputs.roots * curved[:, None])
        return 0.5 * float((squares**2).sum())

    def _bearable(self, rows: Array) -> list[Array]:
        """The rows in parts for which arrays of all outputs are not too large."""
        size = max(1, ENTRIES // self.outputs.alpha.shape[1])
        return [rows[start : start + size] for start in range(0, len(rows), size)] or [rows]

    def mean_hessian(self, z: Array) -> Array:
        """Average of the Hessian of V over rows of z, shape (d, d), by differences of gradients."""
        some = z[:: max(1, len(z) // HESSIANS)]
        hessian = np.empty((self.dim, self.dim))
        for i, step in enumerate(STEP * np.eye(self.dim)):
            ahead, behind = (self.values_and_gradients(some + side * step)[1] for side in (1.0, -1.0))
            hessian[i] = ((ahead - behind) / (2.0 * STEP)).mean(axis=0)
        return np.asarray(0.5 * (hessian + hessian.T))

    def predictors(self) -> OutputKernel:
        """The emulator of the predictors; `outputs` may be one of their coefficients."""
        if self.runs.compression is None:
            return self.outputs
        predictors = self.runs.forward_posterior.observed.predictors(self.runs.outputs)
        units = np.ones(predictors.shape[1])
        return OutputKernel.fit(self.outputs.centres, predictors, units=units, like=self.outputs)

    def inputs(self, x: Array) -> Array:
        """Inputs of the emulator at the rows of x."""
        return self.inner.whiten(x[:, : self.forward_posterior.inputs])


def emulate(
    training: Training, runs: Runs, whitening: Whitening, *, like: "EmulatedPotential | None" = None
) -> EmulatedPotential:
    """Emulate the outputs of runs at points with finite potentials, in given whitened coordinates.

    Length scales and noise are those of ``like``, if it is an emulator in the same coordinates, or chosen. Raises
    FitError if there are too few runs, or no system can be solved.
    """
    forward_posterior, transform = runs.forward_posterior, runs.transform
    if len(training.values) < 2:
        raise FitError(f"{len(training.values)} of the runs nearby succeeded, too few to emulate the outputs")
    lowest = int(np.argmin(training.values))
    # The parameters of a likelihood may differ at equal inputs.
    _, first = np.unique(training.points[:, : forward_posterior.inputs], axis=0, return_index=True)
    first.sort()
    points, kept = training.points[first], runs.where(np.append(first, lowest))
    predictors, read = kept.emulated()
    own = transform.parameters(training.points[lowest])[forward_posterior.inputs :]
    units = 1.0 / np.sqrt(read.observed.curvatures(predictors[-1:].copy(), own[None])[0])

    def fitted(inner: Whitening, known: OutputKernel | None) -> OutputKernel:
        return OutputKernel.fit(
            inner.whiten(points[:, : forward_posterior.inputs]), predictors[:-1], units=units, like=known
        )

    if like is not None and like.whitening is whitening:
        inner, outputs = like.inner, fitted(like.inner, like.outputs)
    else:
        tried = [(inner, fitted(inner, None)) for inner in _frames(whitening, forward_posterior.inputs)]
        inner, outputs = min(tried, key=lambda pair: pair[1].covariances.loss)
    return EmulatedPotential(
        read, transform, whitening, inner, outputs, float(training.values[lowest]), runs.where(first)
    )


def _frames(whitening: Whitening, inputs: int) -> tuple[Whitening, ...]:
    """Coordinates of the inputs, whitened by their marginal covariance, and scaled one by one: parameters of a model
    are often those along which it varies more or less."""
    whitened = whitening.of_first(inputs)
    variances = linalg.cho_solve((whitened.factor, True), np.eye(inputs)).diagonal()
    return whitened, Whitening(whitened.centre, np.diag(1.0 / np.sqrt(variances)))
