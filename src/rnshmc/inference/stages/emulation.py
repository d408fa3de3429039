"""The mode of a forward model's posterior on emulated outputs, from a start."""

from dataclasses import replace

import numpy as np
from scipy import optimize

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.descent import Mode, region_factor
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.posterior import to_fit
from rnshmc.inference.surrogate.whitening import Whitening, improved
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import ROUNDS, TOLERATED
from rnshmc.types import Array

STAGE = "mode"


def seek(archive: Archive, start: Array, tuning: Tuning, coordinates: Whitening | None = None) -> Mode:
    """A mode of the potential by emulated outputs.

    A run along each input makes the emulator linear there; where enough runs are known, the search begins at the lowest
    of them, and no such runs are made. Each further run is at the minimum of the emulated potential
    within a trust region, whose coordinates its Hessian whitens. The posterior is expected to have a scale of one in
    ``coordinates``, if they are given.
    """
    own = tuning.seeking
    known = archive.has_enough_runs(tuning.training.fewest)
    if coordinates is None:
        coordinates = Whitening(start, np.diag(1.0 / np.maximum(1.0, np.abs(start))))
    best, whitening = _from_known(archive, coordinates) if known else _from_start(archive, start, coordinates, tuning)
    radius, largest, nearby_batches = own.felt, own.longest, 0
    nearby = region_factor(0.0) * own.felt  # the first region, rejected once
    for _ in range(tuning.descent.steps[0] + tuning.descent.steps[1] * archive.dim):
        potential = _whitened_emulator(archive, whitening.moved(best.point), tuning)
        whitening = potential.whitening
        target, predicted = minimum(potential, optimize.Bounds(-radius, radius))
        decrease = best.value - potential.offset - predicted
        if decrease < TOLERATED * np.sqrt(archive.dim):
            break
        if known and potential.covariance(target[None])[0, 0] < TOLERATED**2:
            # Known runs determine the potential there.
            best = Evaluation(whitening.unwhiten(target[None])[0], potential.offset + predicted)
            continue
        [found] = archive.evaluate(whitening.unwhiten(target[None]), STAGE)
        ratio = (best.value - found.value) / decrease
        length, factor = float(np.abs(target).max()), region_factor(ratio)
        if factor < 1.0:
            radius = factor * length
        elif factor > 1.0:
            # Precise data have narrow posteriors: the mode may be tens of regions away, and is predicted well.
            far = decrease > own.longest * largest**2 and abs(ratio - 1.0) < TOLERATED
            most = np.inf if far else largest
            radius = max(radius, min(factor * length, most))
        best = found if found.value < best.value else best
        if radius < nearby and nearby_batches < ROUNDS:
            # The emulator is wrong nearby: a run along each whitened axis gives the slopes there.
            around = whitening.moved(best.point).unwhiten(nearby * np.eye(archive.dim))
            best = min([best, *archive.evaluate(around, STAGE)], key=lambda one: one.value)
            radius, nearby_batches = own.felt, nearby_batches + 1
    potential = _whitened_emulator(archive, whitening.moved(best.point), tuning)
    target, _ = minimum(potential, optimize.Bounds(-largest, largest))
    centre = potential.whitening.unwhiten(target[None])[0]
    return Mode(potential.whitening.moved(centre), best.value, float(np.linalg.norm(target)))


def _from_known(archive: Archive, coordinates: Whitening) -> tuple[Evaluation, Whitening]:
    """The known run of lowest potential, and coordinates in units of the spread of all of them."""
    points = archive.training().points
    spread = np.subtract(*np.quantile(points, [0.75, 0.25], axis=0))
    # The parameters of a likelihood are the same at all runs.
    units = np.where(spread > 0.0, spread, np.linalg.norm(coordinates.steps(np.eye(archive.dim)), axis=0))
    return archive.lowest, Whitening(archive.lowest.point, np.diag(1.0 / units))


def _from_start(archive: Archive, start: Array, coordinates: Whitening, tuning: Tuning) -> tuple[Evaluation, Whitening]:
    """The start, and coordinates in which a step of one along each input changes the outputs by a few of their errors.

    Inputs whose step changed outputs too much or too little, or failed, take another one.
    """
    [first] = archive.evaluate(start[None], STAGE)
    if not np.isfinite(first.value):
        raise ParameterError(f"start: the potential cannot be evaluated at {start}; start elsewhere")
    forward_posterior = archive.forward_posterior
    assert forward_posterior is not None
    own, search = tuning.seeking, tuning.search
    axes = coordinates.steps(np.eye(archive.dim))[: forward_posterior.inputs]
    sizes, active = np.ones(len(axes)), np.arange(len(axes))
    for _ in range(ROUNDS):
        found = archive.evaluate(first.point + sizes[active, None] * axes[active], STAGE)
        changes = np.array([archive.change(first, one) for one in found])
        failed = ~np.isfinite(changes)
        factors = np.clip(own.felt / np.maximum(changes, own.felt / search.growth), 1.0 / search.growth, None)
        factors[failed] = search.shrinkage
        far = failed | (changes > search.growth) | (changes < 1.0 / search.growth)
        sizes[active[far]] *= factors[far]
        active = active[far]
        if not len(active):
            break
    scales = np.ones(archive.dim)
    scales[: len(axes)] = sizes
    return first, Whitening(first.point, coordinates.factor / scales)


def _whitened_emulator(archive: Archive, whitening: Whitening, tuning: Tuning) -> EmulatedPotential:
    """The emulator in coordinates that the Hessian of its own potential at the centre whitens."""
    everywhere = archive.training()
    for _ in range(2):
        # A linear emulator needs one more than there are inputs.
        training = to_fit(everywhere, whitening, tuning.fitting, fewest=archive.dim + 1)
        assert training.runs is not None
        potential = emulate(training, training.runs, whitening)
        hessian = potential.mean_hessian(np.zeros((1, archive.dim)))
        whitening = improved(whitening, hessian, tuning.curvatures)
    # The emulator has coordinates of its own.
    return replace(potential, whitening=whitening)


def minimum(potential: EmulatedPotential, box: optimize.Bounds) -> tuple[Array, float]:
    """The end of a descent on the emulated potential within a box, from the centre, and its value there."""

    def value(z: Array) -> tuple[float, Array]:
        values, gradients = potential.values_and_gradients(z[None])
        return float(np.nan_to_num(values[0], nan=1e300, posinf=1e300)), np.nan_to_num(gradients[0])

    found = optimize.minimize(value, np.zeros(potential.dim), jac=True, method="L-BFGS-B", bounds=box)
    return np.asarray(found.x), float(found.fun)
