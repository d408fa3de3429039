"""Findings of a verdict on modes and warps, and on standard errors and angles in the user's parameters."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rnshmc.diagnostics.importance import tail_shape
from rnshmc.inference.result.estimates import Estimate, spread
from rnshmc.inference.result.moments import Drawn
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.transforms import Transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.inference.tuning_shared import MANY, TOLERATED
from rnshmc.inference.warp import Warp, WarpLayer
from rnshmc.types import Array

LIMITS = DEFAULT.judging
SCALING, CURVING = 0.2, 0.5
"""Smallest reported change of a log scale over one width of the driver, and of a mean in its own scales."""
SMALL = 0.1
"""Curve that is not reported, relative to the largest one."""
MOST = 6
"""Maximum number of coordinates that are named one by one."""

Level = Literal["good", "doubtful", "bad"]


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    level: Level
    text: str


def searched(outcome: Outcome) -> str:
    """End of the first sentence of a good verdict: where modes were searched for."""
    count, starts = len(outcome.modes), outcome.starts
    if outcome.surveyed and np.isfinite(outcome.elsewhere):
        return f"; a search over the prior leaves at most {_share(outcome.elsewhere)} elsewhere"
    modes = f"{count} modes" if count > 1 else "one mode"
    if outcome.surveyed:
        return f" in the {modes} that a search over the prior found"
    if max(count, starts) > 1:
        return f" in the {modes} that {starts} starts found"
    return " in the one mode that was looked at; other modes were not searched for"


def _share(elsewhere: float) -> str:
    """A share of the posterior as a percentage, rounded up."""
    return f"{max(1, math.ceil(100.0 * elsewhere))}%"


def mode_findings(outcome: Outcome) -> Iterator[Finding]:
    """Number of modes, their shares of the posterior, and whether there may be more."""
    count, starts = len(outcome.modes), "One start" if outcome.starts == 1 else f"{outcome.starts} starts"
    if outcome.surveyed:
        starts = f"A search over the prior ({outcome.surveyed} runs)"
    if count > 1:
        yield _several_modes(outcome, starts)
    elif count == 1:
        yield _one_mode(outcome, starts)
    if outcome.elsewhere > DEFAULT.surveying.left:
        text = "The search ended before other modes were ruled out: they may hold up to"
        yield Finding("doubtful", f"{text} {_share(outcome.elsewhere)} of the posterior.")
    for mode in outcome.left_out:
        below = f"a log density {mode.value - min(one.value for one in outcome.modes):.3g} below the highest"
        text = f"A mode with {below} is left out: its mass is about {mode.share.value:.0e} of that mode's."
        yield Finding("good", text if mode.converged else f"A descent stopped before it reached a mode, at {below}.")
    if any(not mode.converged for mode in outcome.modes):
        text = "A descent found no mode: the potential may be noisy, flat, or without a minimum"
        yield Finding("doubtful", f"{text}. Is the target the log density, and not minus the log density?")


def _one_mode(outcome: Outcome, starts: str) -> Finding:
    """Whether there may be others than the only mode that counts."""
    others = sum(mode.converged for mode in outcome.left_out)
    ended = outcome.starts - (len(outcome.left_out) - others)
    text = f"{starts} found one mode" + (" with a share that matters" if others else "")
    if ended < outcome.starts:
        text = f"{ended} of {outcome.starts} starts found a mode; the others stopped before they reached one"
    # Where each start has a mode of its own, the next one may have, too.
    lonely = ended == others + 1 and not outcome.surveyed
    if outcome.starts == 1 and not outcome.surveyed:
        text = f"{text}; other modes were not searched for (x0 takes several starts as rows)"
    elif lonely and ended > 2:
        text = f"{ended} starts found {ended} modes, of which one has a share that matters; there may be better ones"
    # Where no surrogate is good enough, the posterior is not near a normal one, and more modes are likely.
    unsure = lonely and (outcome.refused or ended > 2)
    return Finding("doubtful" if unsure or 2 * ended <= outcome.starts else "good", f"{text}.")


def _several_modes(outcome: Outcome, starts: str) -> Finding:
    text = f"{starts} found {len(outcome.modes)} modes"
    if np.isfinite([mode.share.value for mode in outcome.modes]).all():
        shares = ", ".join(f"{mode.share.value:.3f} +- {mode.share.standard_error:.2g}" for mode in outcome.modes)
        text = f"{text}; their shares of the posterior are {shares}"
        # Of n starts in a row, none is among those of a share above 3 / n, by 95%.
        unseen = min(3.0 / max(outcome.quiet, 1), 1.0)
        if outcome.quiet >= DEFAULT.modes.quiet or outcome.surveyed:
            return Finding("good", f"{text}.")
        last = f"the last {outcome.quiet} starts found no new one, so at most {unseen:.0%} of starts find another"
        why = last if unseen < 1.0 else "too few starts were used"
        return Finding("doubtful", f"{text}. There may be others: {why}.")
    values = np.array([mode.value for mode in outcome.modes])
    heights = ", ".join(f"{height:.3g}" for height in values.min() - values)
    mixed = outcome.surrogate is None and outcome.rhat <= LIMITS.rhat_good
    text = f"{text}, with log densities {heights} relative to the highest"
    return Finding("doubtful" if mixed else "bad", f"{text}; the share of each in the result may be wrong.")


def coordinate_names(names: Sequence[str], transform: Transform) -> tuple[str, ...]:
    """Names of the unconstrained coordinates of parameters: that of a positive one is its logarithm."""
    kinds = zip(names, np.isfinite(transform.low), np.isfinite(transform.high), strict=True)
    return tuple(
        name if not low | high else f"the {'logit' if low & high else 'log'} of {name}" for name, low, high in kinds
    )


def warp_findings(bend: Warp, names: Sequence[str]) -> Iterator[Finding]:
    """Scales and curves along the drivers of a warp, in the names of the coordinates."""
    for driver in dict.fromkeys(layer.driver for layer in bend.layers):
        layers = [layer for layer in bend.layers if layer.driver == driver]
        scaled, slope = _scaled(layers)
        if len(scaled):
            verb = "scales" if len(scaled) == 1 else "scale"
            text = f"{_listed([names[j] for j in scaled])} {verb} with exp({slope:.2g} t), t = {names[driver]}."
            yield Finding("good", text)
        for layer in layers:
            if len(curved := _curved(layer)):
                verb = "curves" if len(curved) == 1 else "curve"
                yield Finding("good", f"{_listed([names[j] for j in curved])} {verb} along {names[driver]}.")


def _scaled(layers: Sequence[WarpLayer]) -> tuple[list[int], float]:
    """Coordinates that layers with one driver scale together, and the median slope of their log scales."""
    width = layers[-1].width
    slopes, turns = (sum(layer.scales[k] * width / layer.width for layer in layers) for k in range(2))
    chosen = np.flatnonzero(np.maximum(np.abs(slopes), np.abs(turns)) > SCALING).tolist()
    return chosen, float(np.median(np.asarray(slopes)[chosen])) / width if chosen else 0.0


def _curved(layer: WarpLayer) -> list[int]:
    """Coordinates whose mean is a curve along the driver."""
    bent = np.abs(layer.shifts[2])
    return [j for j in range(len(bent)) if bent[j] > max(CURVING * layer.units[j], SMALL * bent.max())]


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST:
        return f"{names[0]}, {names[1]} .. {names[-1]} ({len(names)} coordinates)"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def error_findings(mean: Estimate, sd: Estimate, draws: Array, names: Sequence[str]) -> Iterator[Finding]:
    """The largest standard error of the parameters, (d,), where few of the draws, (n, d), would have it.

    The other checks are of unconstrained coordinates, in which the tails of the logarithm of a parameter may be known
    well enough, and those of the parameter not.
    """
    if len(draws) < 2:
        return
    if not np.isfinite([mean.value, sd.value]).all():
        column = int(np.argmin(np.isfinite([mean.value, sd.value]).all(axis=0)))
        yield Finding("bad", f"The mean or standard deviation of {names[column]} is not finite.")
        return
    scale = spread(draws)
    squares = ((draws - draws.mean(axis=0)) / scale) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        of_mean = squares.mean(axis=0) / (mean.standard_error / scale) ** 2
        of_sd = squares.var(axis=0) / (2.0 * (sd.value / scale) * (sd.standard_error / scale)) ** 2
    # A variance that its correction made negative is not known at all.
    of_sd = np.where((sd.value == 0) & (squares.mean(axis=0) > 0), 0.0, of_sd)
    # Unknown errors are reported elsewhere, and what does not vary has none.
    worth = np.nan_to_num(np.stack((of_mean, of_sd)), nan=np.inf, posinf=np.inf)
    few = min(MANY, TOLERATED * len(draws))
    # Draws do not show the variance of squares with so heavy a tail, and so not how many have such an error.
    for k in np.flatnonzero((worth[1] < few) & (sd.standard_error < sd.value)):
        if tail_shape(squares[:, k]) > LIMITS.heavy:
            worth[1, k] = np.inf
    of, column = (int(place) for place in np.unravel_index(np.argmin(worth), worth.shape))
    if (count := worth[of, column]) < few:
        text = f"The {('mean', 'standard deviation')[of]} of {names[column]} is"
        how = f"only as precise as {count:.2g} independent draws" if count >= 1.0 else "less precise than one draw"
        yield Finding("doubtful", f"{text} {how} would make it.")


def angle_findings(drawn: Drawn, transform: Transform, names: Sequence[str]) -> Iterator[Finding]:
    """Findings on angles spread around the whole circle, by draws of the parameters."""
    if (angles := transform.angles) is None:
        return
    columns, periods = angles.columns, angles.periods

    def on_circles(theta: Array) -> Array:
        turned = 2.0 * np.pi * theta[..., columns] / periods
        return np.concatenate((np.cos(turned), np.sin(turned)), axis=-1)

    lengths = np.linalg.norm(drawn.expectation(on_circles).value.reshape(2, -1), axis=0)
    for k, length in zip(columns, lengths, strict=True):
        # A wrapped normal density with an sd of a third of the period has that length.
        if length < TOLERATED:
            yield Finding(
                "doubtful",
                f"{names[k]} is spread around the whole circle (mean resultant length {length:.2g}): its mean and sd "
                "depend on where the circle is cut.",
            )
