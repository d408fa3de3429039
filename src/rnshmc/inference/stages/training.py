"""Batches of exact evaluations at draws of the surrogate, until the surrogate is good enough."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.batches import STAGE, evaluated_batch, look_along, look_out, look_size
from rnshmc.inference.stages.bends import better_bend
from rnshmc.inference.stages.decision import (
    WORTH,
    Decision,
    Tally,
    batch_size,
    checks_for,
    decide,
    fill_size,
    is_full,
    lenience,
)
from rnshmc.inference.stages.fits import Fit, first_fit, next_fit
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, within_reach
from rnshmc.inference.surrogate.uncertainty import (
    Paths,
    Tails,
    doubt,
    draw_paths,
    expected_tails,
    missed,
    no_tails,
    open_points,
    surprises,
)
from rnshmc.inference.surrogate.weights import weight_variance
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import AGAIN, ROUNDS
from rnshmc.inference.warp import STRAIGHT, Warp
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Trained:
    """A surrogate posterior and its accuracy."""

    posterior: SurrogatePosterior
    """Fitted to all points within reach."""
    positions: Array
    """Whitened positions of its chains, (chains, d)."""
    variance: float
    """Variance of the importance weights at the last draws, before they became training points; inf before any. A small
    one has to be seen twice."""
    latest: float
    """The same, by the last batch alone."""
    tails: Tails
    """Mass that it may miss in its tails."""
    good: bool
    """Whether it is accurate enough to draw with; False while training continues."""
    missing: float = 0.0
    """Mass on the shoulders that it misses, relative to its own."""
    filling: float = 0.0
    """Points that were evaluated where too much was open, relative to all others."""


@dataclass(frozen=True, eq=False)
class State:
    """A step of training."""

    fit: Fit
    """The surrogate."""
    tally: Tally
    """The numbers that decide on the next step."""
    searched: int
    """Training points when length and noise were last searched."""
    latest: float
    """Variance of the weights at the last batch alone."""
    surprised: tuple[Array, ...]
    """`surprises` of each batch."""
    points: Array
    tails: Tails
    """Mass that tails may miss, and ``points`` that the last examination leaves to evaluate, (k, d)."""

    def trained(self, *, good: bool) -> Trained:
        """The surrogate, with the numbers that are of use after training."""
        tally, surrogate = self.tally, (self.fit.posterior, self.fit.positions)
        return Trained(*surrogate, tally.variance, self.latest, self.tails, good, tally.missing, tally.filling)


def train(
    archive: Archive, whitening: Whitening, rng: np.random.Generator, tuning: Tuning, *, aim: float
) -> Iterator[Trained]:
    """The surrogate after each step of its training; the last one is good, or training has given up.

    `decide` chooses each step. ``aim`` is the number of independent draws whose errors corrected expectations are to
    have. Raises FitError if no surrogate can be fitted.
    """
    state = _begun(archive, whitening, rng, tuning, aim)
    while (decision := decide(state.tally, tuning.training)) in _STEPS:
        yield state.trained(good=False)
        state = _STEPS[decision](archive, state, rng, tuning)
    good = decision is Decision.ACCEPT or state.tally.variance < tuning.training.usable
    if decision is Decision.GIVE_UP:
        paths, tails = _open(state, rng, tuning)
        state = replace(state, tails=tails.joined(_look(archive, state, paths, rng, tuning)) if good else tails)
    yield state.trained(good=good)


def _begun(archive: Archive, whitening: Whitening, rng: np.random.Generator, tuning: Tuning, aim: float) -> State:
    fit = first_fit(archive, whitening, rng, tuning)
    tally = Tally(
        dim=archive.dim,
        informed=fit.process.dim,
        learnt="outputs" if archive.emulating else "gradients" if archive.has_gradient else "values",
        aim=aim,
        most_rows=tuning.fitting.most_rows,
        rows=tuning.fitting.rows_of(archive.dim) if archive.has_gradient else 1,
        used=fit.points,
        probed=0 if archive.dim <= tuning.fitting.whole else fit.points,
        at_wall=fit.at_wall,
        # Given runs of another data set may have trained the emulator, whose processes then show how well.
        variance=_expected_variance(fit) if archive.emulating else np.inf,
    )
    nothing = no_tails(archive.dim)
    return State(fit, tally, fit.points, np.inf, (), nothing.points, nothing)


def _batch(archive: Archive, state: State, rng: np.random.Generator, tuning: Tuning) -> State:
    """Evaluate at draws of the surrogate, and fit again."""
    training, tally, final = tuning.training, state.tally, is_full(state.tally, tuning.training)
    batch = evaluated_batch(archive, state.fit, batch_size(tally, training), rng, tuning)
    latest = weight_variance(batch.differences)
    # A few draws are weak evidence, unless far below the limit: the batch before counts, too. It does not where no
    # more points will change the surrogate.
    weak = 4.0 * training.shrunk * tally.aim * latest > WORTH * tally.used
    before = min(state.latest, training.sound) if weak else latest
    variance = latest if final else 0.5 * (latest + before)
    archive.note_error(float(np.sqrt(variance)))
    state = _fitted(archive, state, rng, tuning, evaluated=batch.size, sound=latest < training.sound)
    if archive.emulating:
        # A handful of draws shows a small variance by chance; the processes of outputs include theirs.
        variance = max(variance, _expected_variance(state.fit))
    return replace(
        state,
        tally=replace(state.tally, final=final, variance=variance, missing=batch.missing),
        latest=latest,
        surprised=(*state.surprised, batch.surprised),
    )


def _expected_variance(fit: Fit) -> float:
    """Variance of the importance weights at draws, by the process."""
    expected = float(fit.posterior.covariance(fit.positions).diagonal().mean())
    return float(np.expm1(min(expected, 1.0)))


def _examine(archive: Archive, state: State, rng: np.random.Generator, tuning: Tuning) -> State:
    """Points where the process leaves too much open; where there are none, by exact values further out."""
    posterior, aim, most = state.fit.posterior, state.tally.aim, fill_size(state.tally)
    tails_aim = aim / lenience(state.tally, tuning.training) ** 2
    paths, tails = _open(state, rng, tuning)
    points, looked = missed(tails, paths, posterior, rng, tuning.tails, aim=tails_aim, most=most), 0
    if not len(points) and not archive.emulating:
        checks = checks_for(aim, state.tally.variance, tuning.training)
        points = open_points(paths, posterior.whitening, rng, checks=checks, aim=aim, reach=posterior.reach, most=most)
    # Every surrogate is checked: points do not change a full one, but its tails are to be known.
    if not len(points) or is_full(state.tally, tuning.training):
        seen = _look(archive, state, paths, rng, tuning)
        points = missed(seen, paths, posterior, rng, tuning.tails, aim=tails_aim, most=most)
        looked = int(len(seen.points) > 0)
        tails = tails.joined(seen)
    tally = replace(state.tally, left=len(points), looks=state.tally.looks + looked)
    return replace(state, tally=tally, points=points, tails=tails)


def _look(archive: Archive, state: State, paths: Paths, rng: np.random.Generator, tuning: Tuning) -> Tails:
    """Mass that the surrogate misses, by exact values further out."""
    posterior, seen = state.fit.posterior, no_tails(archive.dim)
    if count := look_size(posterior, tuning.tails, known=archive.has_enough_runs(tuning.training.fewest)):
        seen = look_out(archive, posterior, paths, rng, tuning.tails, count=count)
    return seen.joined(look_along(archive, posterior, paths, rng, tuning.tails, _suspected(archive, posterior, tuning)))


def _suspected(archive: Archive, posterior: SurrogatePosterior, tuning: Tuning) -> Warp:
    """A bend that explains gradients better than straight coordinates, where these fit a normal density badly.

    A surrogate may be right wherever its draws are, which is not in the neck of an undetected funnel.
    """
    if archive.bend.layers or archive.part is not None or not tuning.bending.most:
        return STRAIGHT
    found = better_bend(archive, posterior.whitening, tuning.bending, above=tuning.bending.suspect)
    return STRAIGHT if found is None else found.bend


def _fill(archive: Archive, state: State, rng: np.random.Generator, tuning: Tuning) -> State:
    """Evaluate where too much is open, and fit again."""
    found = archive.evaluate(state.points, STAGE)
    seen = surprises(state.fit.posterior, state.points, np.array([one.value for one in found]))
    state = _fitted(archive, state, rng, tuning, evaluated=len(found), sound=True)
    tally = replace(state.tally, filled=state.tally.filled + len(found))
    return replace(state, tally=tally, surprised=(*state.surprised, seen))


def _fitted(
    archive: Archive, state: State, rng: np.random.Generator, tuning: Tuning, *, evaluated: int, sound: bool
) -> State:
    """With a surrogate of all points evaluated by now; its length and noise are searched where many are new."""
    there = within_reach(archive.training(), state.fit.posterior.whitening, tuning.fitting)
    search = len(there.values) > AGAIN * state.searched
    fit = next_fit(archive, state.fit, rng, tuning, search=search, sound=sound)
    tried = state.tally.tried + evaluated
    tally = replace(state.tally, used=fit.points, informed=fit.process.dim, tried=tried, at_wall=fit.at_wall, left=None)
    return replace(state, fit=fit, tally=tally, searched=fit.points if search else state.searched)


_STEPS: dict[Decision, Callable[[Archive, State, np.random.Generator, Tuning], State]] = {
    Decision.BATCH: _batch,
    Decision.EXAMINE: _examine,
    Decision.FILL: _fill,
}


def _open(state: State, rng: np.random.Generator, tuning: Tuning) -> tuple[Paths, Tails]:
    """Posteriors that the process leaves open, and the mass in tails, with the doubt that recent surprises raise."""
    posterior = state.fit.posterior
    paths, variances = draw_paths(posterior, state.fit.positions, rng, tuning.process)
    recent = state.surprised[-ROUNDS:]
    # The processes of outputs are vague far out, and runs there show by how much.
    believed = tuning.training.believed if isinstance(posterior.kernel, EmulatedPotential) else None
    doubted = doubt(recent, believed=believed) * variances
    return paths, expected_tails(paths, posterior, tuning.tails, variances=doubted)
