"""Forward models with several modes; `peers.nested` samples them.

A source in a plate is observed by fifteen sensors that hardly distinguish it from its mirror image. A sum of two
exponentials, and one of two peaks, may exchange their terms. A period of 12.6 days has an alias of 25. On a line, a
source is two standard deviations of the prior from the middle, and the start is on the side of its weaker image. The
faint image has a negligible mass, and the rise has one mode.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array

SENSORS = np.array([(x, y) for x in (0.1, 0.3, 0.5, 0.7, 0.9) for y in (0.2, 0.5, 0.8)])
TIMES = np.array([0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
SOURCE = {"x": ("uniform", 0, 1), "y": ("uniform", 0, 1), "w": ("normal", 0, 1), "sigma": ("halfnormal", 0.2)}
START = {"x": 0.4, "y": 0.7, "w": 0.2, "sigma": 0.05}
LINE = np.linspace(-2.5, 2.5, 9)
LINE_SD = 0.15
NIGHTS = np.array([3.0, 6.1, 16.1, 17.1, 18.0, 19.0, 27.1, 32.1, 34.1, 34.0, 43.0, 49.1])
VELOCITIES = np.array([0.83, -0.5, -0.33, -0.88, -0.28, -1.27, 1.52, -0.78, -0.52, -0.59, -0.19, 0.52])
"""A sine of amplitude 1 and period 12.3 with errors of 0.5: seed 6 of twenty, of which most have one period."""
PLACES = np.linspace(0.0, 1.0, 21)
RATES = {"a": ("lognormal", 0, 1), "k": ("lognormal", 0, 1), "b": ("lognormal", 0, 1), "l": ("lognormal", 0, 1)}
PEAKS = {"a": ("lognormal", 0, 0.5), "p": ("uniform", 0, 1), "b": ("lognormal", 0, 0.5), "q": ("uniform", 0, 1)}
PERIOD = {"P": ("loguniform", 5, 30), "c": ("normal", 0, 1), "s": ("normal", 0, 1)}
IMAGE = {"a": ("normal", 0.0, 0.5), "y": ("normal", 0.0, 1.0)}
RISE = {"rise": ("lognormal", 1, 0.5), "rate": ("lognormal", -1.5, 0.7), "noise": ("halfnormal", 1)}


def folded(x: Array) -> Array:
    """The sensors' heat where the plate is nearly symmetrical about y = 1 / 2."""
    across = (np.abs(x[1] - 0.5) - np.abs(SENSORS[:, 1] - 0.5)) ** 2 + 0.02 * (x[1] - 0.5) * (SENSORS[:, 1] - 0.5)
    return np.asarray(np.exp(x[2] - ((SENSORS[:, 0] - x[0]) ** 2 + across) / 0.1))


def faint(x: Array) -> Array:
    """The same where a source has a mirror image that is half as strong."""
    along = (SENSORS[:, 0] - x[0]) ** 2
    own, image = (np.exp(-(along + (y - SENSORS[:, 1]) ** 2) / 0.1) for y in (x[1], 1.0 - x[1]))
    return np.asarray(np.exp(x[2]) * (own + 0.5 * image))


def exchanged(x: Array) -> Array:
    """A sum of two exponentials."""
    return np.asarray(x[0] * np.exp(-x[1] * TIMES) + x[2] * np.exp(-x[3] * TIMES))


def parted(x: Array) -> Array:
    """Two peaks of the same width."""
    one, other = (np.exp(-0.5 * ((PLACES - place) / 0.08) ** 2) for place in (x[1], x[3]))
    return np.asarray(x[0] * one + x[2] * other)


def velocity(x: Array) -> Array:
    """A velocity of period x0, on twelve nights."""
    turned = 2.0 * np.pi * NIGHTS / x[0]
    return np.asarray(x[1] * np.cos(turned) + x[2] * np.sin(turned))


def imaged(x: Array) -> Array:
    """A source of amplitude exp(x0) at x1 on a line, and its weaker image at -x1: outputs (9,), or (..., 9)."""
    own, image = (np.exp(-((LINE - np.asarray(place)[..., None]) ** 2) / 0.5) for place in (x[1], -x[1]))
    return np.asarray(np.exp(x[0])[..., None] * (own + 0.85 * image))


def imaged_data(k: int) -> Array:
    """Data of `imaged` at a draw of the prior of `imaging`."""
    rng = stream(25, "calibration", "modes", str(k))
    return imaged(rng.normal(0.0, (0.5, 1.0))) + LINE_SD * rng.standard_normal(len(LINE))


def imaging(k: int) -> rnshmc.Model:
    return rnshmc.Model(imaged, imaged_data(k), likelihood=rnshmc.Gaussian(sd=LINE_SD), prior=IMAGE)


def source(forward: Callable[[Array], Array]) -> rnshmc.Model:
    data = forward(np.array([0.4, 0.7, 0.3])) + 0.05 * np.random.default_rng(1).standard_normal(len(SENSORS))
    return rnshmc.Model(forward, data, likelihood=rnshmc.Gaussian(sd="sigma"), prior=SOURCE)


def rates() -> rnshmc.Model:
    data = exchanged(np.array([2.0, 0.3, 1.5, 2.0])) + 0.03 * np.random.default_rng(3).standard_normal(len(TIMES))
    return rnshmc.Model(exchanged, data, likelihood=rnshmc.Gaussian(sd=0.03), prior=RATES)


def peaks() -> rnshmc.Model:
    data = parted(np.array([1.2, 0.35, 0.9, 0.6])) + 0.1 * np.random.default_rng(7).standard_normal(len(PLACES))
    return rnshmc.Model(parted, data, likelihood=rnshmc.Gaussian(sd=0.1), prior=PEAKS)


def period() -> rnshmc.Model:
    return rnshmc.Model(velocity, VELOCITIES, likelihood=rnshmc.Gaussian(sd=0.5), prior=PERIOD)


def rise() -> rnshmc.Model:
    """A saturating rise, which has one mode."""
    minutes = np.arange(1.0, 25.0)

    def warming(x: Array) -> Array:
        return np.asarray(x[0] * (1.0 - np.exp(-x[1] * minutes)))

    data = warming(np.array([5.2, 0.21])) + 0.3 * np.random.default_rng(5).standard_normal(len(minutes))
    return rnshmc.Model(warming, data, likelihood=rnshmc.Gaussian(sd="noise"), prior=RISE)


@dataclass(frozen=True)
class Case:
    """A model and its prior, a start, and whether draws, (n, d), are on one of two sides; None: one mode counts."""

    model: Callable[[], rnshmc.Model]
    prior: Mapping[str, tuple[str | float, ...]]
    start: Mapping[str, float]
    side: Callable[[Array], npt.NDArray[np.bool_]] | None = None


CASES = {
    "folded_plate": Case(lambda: source(folded), SOURCE, START, lambda x: x[:, 1] > 0.5),
    "two_exponentials": Case(rates, RATES, {"a": 2.0, "k": 0.4, "b": 1.0, "l": 1.5}, lambda x: x[:, 1] > x[:, 3]),
    "two_peaks": Case(peaks, PEAKS, {"a": 1.0, "p": 0.3, "b": 1.0, "q": 0.5}, lambda x: x[:, 1] > x[:, 3]),
    "period": Case(period, PERIOD, {"P": 12.0, "c": 0.5, "s": 0.5}, lambda x: x[:, 0] > 18.0),
    "line": Case(lambda: imaging(26), IMAGE, {"a": 0.0, "y": 1.0}, lambda x: x[:, 1] > 0.0),
    "faint_image": Case(lambda: source(faint), SOURCE, START),
    "rise": Case(rise, RISE, {"rise": 5.0, "rate": 0.5, "noise": 0.5}),
}
