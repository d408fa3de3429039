"""Emulated outputs of a forward model: at draws, with their errors, and at runs that are left out of the fit."""

import math

import numpy as np

from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.surrogates.output_kernel import OutputKernel
from rnshmc.types import Array

MOST = 20_000_000
"""Numbers that are predicted at most: outputs at all draws."""


def draw_outputs(potential: EmulatedPotential, x: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Outputs (k, m), and new observations (k, m), at the rows of x; NaN where there is no emulator, or no data.

    Outputs with data are emulated through their predictors, the others themselves, unless they are not finite in some
    of the runs. Of very many outputs, at every second or every tenth row only, or at still fewer.
    """
    rows, forward_posterior = potential.runs.rows, potential.runs.forward_posterior
    x = x[:: max(1, math.ceil(len(x) * len(rows[0]) / MOST))]
    theta, w = potential.transform.parameters(x), potential.inputs(x)
    present = forward_posterior.observed.present
    outputs, observations = (np.full((len(x), len(rows[0])), np.nan) for _ in range(2))
    predictors = _drawn(potential.predictors(), w, rng)
    outputs[:, present] = forward_posterior.observed.outputs(predictors)
    observations[:, present] = forward_posterior.observed.simulated(
        predictors, theta[:, forward_posterior.inputs :], rng
    )
    rest = np.setdiff1d(np.arange(len(rows[0])), present)
    others = np.array([row[rest] for row in rows])
    finite = np.isfinite(others).all(axis=0)
    rest, others = rest[finite], others[:, finite]
    if len(rest):
        kernel = OutputKernel.fit(potential.centres, others, units=np.ones(len(rest)), like=potential.outputs)
        outputs[:, rest] = _drawn(kernel, w, rng)
    return outputs, observations


def _drawn(kernel: OutputKernel, w: Array, rng: np.random.Generator) -> Array:
    """Draws of the processes, independent from row to row."""
    errors = rng.standard_normal((len(w), kernel.roots.shape[1])) @ kernel.roots.T
    return np.asarray(kernel.predict(w)[0] + np.sqrt(kernel.variances(w))[:, None] * errors)


def roughest(potential: EmulatedPotential) -> tuple[str, float]:
    """The name of the output with the largest emulation error, and that error in units of the error of its datum.

    The error is the root mean square difference of runs from predictions by all others.
    """
    kernel, forward_posterior = potential.predictors(), potential.runs.forward_posterior
    x = potential.whitening.centre[None]
    predicted = kernel.predict(potential.inputs(x))[0]
    own = potential.transform.parameters(x)[:, forward_posterior.inputs :]
    errors = np.sqrt((kernel.left_out**2).mean(axis=0) * forward_posterior.observed.curvatures(predicted, own)[0])
    worst = int(np.argmax(errors))
    index = int(forward_posterior.observed.present[worst])
    for name, array in forward_posterior.data.items():
        if index < array.size:
            where = ", ".join(map(str, np.unravel_index(index, array.shape)))
            return f"output {name}[{where}]" if name else f"output [{where}]", float(errors[worst])
        index -= array.size
    raise AssertionError("an output without data has no error")


def leave_one_out(posterior: SurrogatePosterior) -> tuple[Array, Array, Array]:
    """Runs at plausible heights, each left out of the emulator in turn.

    Whitened distances of the runs from the centre, U less V by the emulator without the run, and the variances of these
    differences by the processes, each (n,).
    """
    assert isinstance(posterior.kernel, EmulatedPotential)
    points, values, differences, variances = posterior.kernel.left_out()
    near = values < posterior.offset + posterior.tuning.plausible_height(posterior.dim)
    return np.linalg.norm(posterior.whitening.whiten(points[near]), axis=1), differences[near], variances[near]
