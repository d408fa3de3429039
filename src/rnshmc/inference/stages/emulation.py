"""Modes of a forward model's posterior on emulated outputs: from a start, and from draws of its prior."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import optimize
from scipy.cluster.vq import kmeans2
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from rnshmc.errors import ParameterError
from rnshmc.factors import log_diagonal
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.descent import Mode, region_factor
from rnshmc.inference.stages.starts import PriorDraws
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.posterior import to_fit
from rnshmc.inference.surrogate.whitening import Whitening, improved
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import ROUNDS, TOLERATED
from rnshmc.inference.tuning_start import Surveying
from rnshmc.types import Array

STAGE, SURVEY = "mode", "survey"
FLAT = 0.1
"""Smallest curvature at a minimum, in units of that of the prior."""
LOWEST = -1e9
"""Log likelihood that stands for lower ones, whose differences overflow."""


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


def minimum(potential: EmulatedPotential, box: optimize.Bounds, start: Array | None = None) -> tuple[Array, float]:
    """The end of a descent on the emulated potential within a box, from a start or the centre, and its value there."""

    def value(z: Array) -> tuple[float, Array]:
        values, gradients = potential.values_and_gradients(z[None])
        return float(np.nan_to_num(values[0], nan=1e300, posinf=1e300)), np.nan_to_num(gradients[0])

    begun = np.zeros(potential.dim) if start is None else start
    found = optimize.minimize(value, begun, jac=True, method="L-BFGS-B", bounds=box)
    return np.asarray(found.x), float(found.fun)


@dataclass(frozen=True, eq=False)
class Survey:
    """Minima of the emulated potential, (k, d) in x, the lowest first, and the number of runs that the search took.

    ``elsewhere`` is the largest share of the posterior outside of these modes.
    """

    minima: Array
    runs: int
    elsewhere: float


@dataclass(frozen=True, eq=False)
class _Minima:
    """Minima of an emulated potential, (k, d) in z, the lowest first."""

    places: Array
    known: npt.NDArray[np.bool_]
    """Whether the emulator is certain of each, (k,); at least one is known."""
    log_masses: Array
    """Logarithms of their masses relative to those of all that are known, (k,)."""
    hidden: float
    """Mass that the emulator's errors add at draws of the prior, in the same units."""

    @property
    def elsewhere(self) -> float:
        """Share of the posterior outside of the known minima."""
        mass = self.hidden + float(np.exp(self.log_masses[~self.known]).sum())
        return mass / (1.0 + mass)

    def open(self, tuning: Surveying) -> Array:
        """Minima whose mass may matter and is not known, the largest first."""
        chosen = np.flatnonzero(~self.known & (self.log_masses > -tuning.hopeless))
        return np.asarray(self.places[chosen[np.argsort(-self.log_masses[chosen])]])


def survey(archive: Archive, draws: PriorDraws, modes: Array, rng: np.random.Generator, tuning: Tuning) -> Survey:
    """Search draws of the prior, in x, for minima of the emulated potential other than the known modes, (k, d).

    The outputs are emulated from all runs, the first of which are at draws of the prior. In each round the model is run
    at uncertain minima, found by descents on the emulator, and at draws of the prior that are weighted by the emulated
    posterior, at a temperature at which `Surveying.effective` of them have weight. The search ends after rounds in
    which nothing is found or left open. Raises FitError if the outputs cannot be emulated.
    """
    own = tuning.surveying
    whitening, runs = Whitening.of_draws(draws.points), 0
    z, found, certain, quiet = whitening.whiten(draws.points), whitening.whiten(modes), len(modes), 0
    points = draws.points[_scattered(z, own.first[0] + own.first[1] * archive.dim, rng)]
    for _ in range(own.rounds):
        runs += len(archive.evaluate(points, SURVEY))
        training = archive.training()
        assert training.runs is not None
        potential = emulate(training, training.runs, whitening)
        chances = _tempered(_plausible(potential, z, own), own.effective)
        lowest = whitening.whiten(archive.lowest.point[None])
        starts = np.concatenate((lowest, found, z[rng.choice(len(z), own.descents, p=chances)]))
        minima = _minima(potential, z, starts, draws.log_weights, own)
        unsure, found = minima.open(own), minima.places
        settled = minima.hidden <= own.left and not len(unsure) and minima.known.sum() <= certain
        quiet, certain = quiet + 1 if settled else 0, int(minima.known.sum())
        spread = z[rng.choice(len(z), own.spread, p=chances)]
        points = whitening.unwhiten(np.concatenate((unsure[: own.each], spread)))
        if quiet > own.quiet:
            break
    kept = minima.places[minima.known & (minima.log_masses > -own.highest)]
    return Survey(whitening.unwhiten(kept), runs, minima.elsewhere)


def _scattered(z: Array, count: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Indices of the rows of z, (n, d), nearest to the centres of ``count`` clusters: each stands for a part."""
    centres, _ = kmeans2(z, min(count, len(z)), minit="++", seed=rng)
    return np.asarray(np.unique(cdist(centres, z).argmin(axis=1)))


def _minima(potential: EmulatedPotential, z: Array, starts: Array, log_weights: Array, tuning: Surveying) -> _Minima:
    """Minima where descents from starts end, within the box of draws, and masses there and at draws, (n, d)."""
    box = optimize.Bounds(np.minimum(z.min(axis=0), starts.min(axis=0)), np.maximum(z.max(axis=0), starts.max(axis=0)))
    places = _distinct(potential, np.array([minimum(potential, box, start)[0] for start in starts]), tuning)
    known = potential.covariance(places).diagonal() <= tuning.sure
    known[0] |= not known.any()
    log_masses = np.array([_log_mass(potential, place) for place in places])
    total = logsumexp(log_masses[known])
    plain, mean = (logsumexp(some + log_weights) - total for some in potential.log_likelihoods(z))
    hidden = np.exp(min(mean, 0.0)) - np.exp(min(plain, 0.0))
    return _Minima(places, known, log_masses - total, max(float(hidden), 0.0))


def _log_mass(potential: EmulatedPotential, z: Array) -> float:
    """log of the integral of exp(-U) around a minimum, averaged over the emulator's errors, by Laplace's method."""
    curvatures, axes = np.linalg.eigh(potential.mean_hessian(z[None]))
    curvatures = np.maximum(curvatures, FLAT)
    steps = (axes / np.sqrt(curvatures)).T
    around = np.concatenate((z[None], z + steps, z - steps))
    plain, mean = (np.maximum(some, LOWEST) for some in potential.log_likelihoods(around))
    heights = potential.values_and_gradients(around)[0] + potential.offset + plain - mean
    # Errors widen a mode: there is mass at more places, and less at each.
    ahead, behind = heights[1:].reshape(2, -1)
    curvatures = np.clip((ahead + behind - 2.0 * heights[0]) * curvatures, FLAT, curvatures)
    volume = 0.5 * (potential.dim * np.log(2.0 * np.pi) - np.log(curvatures).sum())
    return float(volume - heights[0] - log_diagonal(potential.whitening.factor).sum())


def _plausible(potential: EmulatedPotential, z: Array, tuning: Surveying) -> Array:
    """The lowest plausible values of U at rows of z, (k,), by the emulator: a mode may be where it is unsure.

    None is below the lowest V: otherwise the least known points would be the most plausible.
    """
    values = potential.values_and_gradients(z)[0]
    sds = np.sqrt(potential.covariance(z).diagonal())
    return np.asarray(np.maximum(values - tuning.hope * sds, values.min()))


def _tempered(values: Array, effective: float) -> Array:
    """Probabilities in proportion to exp(-V / T), (n,), with the smallest T for which so many draws have weight."""
    heights = np.where(np.isfinite(values), values - values.min(), np.inf)

    def weights(log_temperature: float) -> Array:
        found = np.exp(-heights / np.exp(log_temperature))
        return np.asarray(found / found.sum())

    def excess(log_temperature: float) -> float:
        return float(1.0 / (weights(log_temperature) ** 2).sum() - effective)

    low, high = 0.0, float(np.log1p(heights[np.isfinite(heights)].max())) + np.log(len(heights))
    if excess(low) >= 0.0 or excess(high) <= 0.0:
        return weights(low if excess(low) >= 0.0 else high)
    return weights(optimize.brentq(excess, low, high, xtol=0.01))


def _distinct(potential: EmulatedPotential, minima: Array, tuning: Surveying) -> Array:
    """The minima that a higher potential divides from all lower ones, and that are not too high, the lowest first."""
    values, plausible = potential.values_and_gradients(minima)[0], _plausible(potential, minima, tuning)
    kept: list[Array] = []
    for k in np.argsort(values):
        low = plausible[k] <= values.min() + tuning.highest
        if low and all(_divided(potential, minima[k], other, values[k] + tuning.barrier) for other in kept):
            kept.append(minima[k])
    return np.array(kept)


def _divided(potential: EmulatedPotential, one: Array, other: Array, height: float) -> bool:
    """Whether the potential is that high anywhere on the straight line between two points."""
    line = one + np.linspace(0.0, 1.0, 34)[1:-1, None] * (other - one)
    return bool(potential.values_and_gradients(line)[0].max() > height)
