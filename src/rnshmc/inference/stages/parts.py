"""Parts of a density, one for each mode, and the images of modes one period away along angles."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, product

import numpy as np
from scipy.special import logsumexp, softmax

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.descent import Mode
from rnshmc.types import Array

REACH = 20.0
"""Whitened distance from which on the images of a single mode are left out. Von Mises' density with that period is 4e-9
of its maximum halfway to the next mode."""
SMOOTH = 5.0
"""Whitened distance of the nearest image of a single mode at which its normal density is narrow enough: r is one then
to 2e-3 within a quarter of the way, and falls over a quarter of a radian, which a surrogate learns."""
CLOSEST = 2.5
"""Minimum whitened period of an angle in a part. Sums over images up to `FARTHEST` periods are then those over all of
them to 1e-6, however wide the density is."""
FARTHEST = 2
"""Periods up to which a mode has images."""
TOGETHER = 3
"""Maximum number of angles of which combinations have images; of more, each alone."""


@dataclass(frozen=True, eq=False)
class Part:
    """A mode's part of a density: exp(-U) r, where r is the mode's share of normal densities at all modes.

        r_k(x) = exp(-h_k(x)) / sum_j exp(-h_j(x)),  h_j = `Mode.heights`

    The parts of all modes add up to the density, however far they are apart, and the part of a normal mode among normal
    ones is that mode. ``others`` are all other modes. A density that is periodic in an angle has each mode once in each
    period; with its images among the others, the integral of a mode's part over the line is its integral over the
    circle.
    """

    mode: Mode
    others: tuple[Mode, ...]

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """-log r at the rows of x, (k,), and its gradients, (k, d)."""
        found = [mode.heights(x) for mode in (self.mode, *self.others)]
        heights, slopes = (np.array([one[i] for one in found]) for i in range(2))
        weights = softmax(-heights, axis=0)
        return heights[0] + logsumexp(-heights, axis=0), slopes[0] - np.einsum("jk,jkd->kd", weights, slopes)


def of_part(archive: Archive, mode: Mode, others: Iterable[Mode]) -> Archive:
    """The archive of a mode's part of the density; of all of it where there is nothing else."""
    every = (mode, *others)
    if archive.coordinates.transform.angles is not None:
        own, *rest = (images(archive, _narrowed(archive, one), mode.whitening.centre) for one in every)
        every = (*(own if rest else _alone(own)), *chain.from_iterable(rest))
    return replace(archive, part=Part(every[0], every[1:]) if len(every) > 1 else None)


def images(archive: Archive, mode: Mode, near: Array) -> tuple[Mode, ...]:
    """A mode moved by whole periods of angles: first to the period around a point, (d,), and then to those next to it.

    Without angles it is the mode alone.
    """
    angles, bend, centre = archive.coordinates.transform.angles, archive.bend, mode.whitening.centre
    if angles is None:
        return (mode,)
    straight, there = bend.forward(np.array([centre, near]))
    turns = np.zeros((1, len(centre)))
    turns[0, angles.columns] = np.rint((there - straight)[angles.columns] / angles.periods) * angles.periods
    numbers = _turns(len(angles.columns))
    steps = np.tile(turns, (len(numbers), 1))
    steps[:, angles.columns] += numbers * angles.periods
    # An image at the mode's own place is exactly the mode.
    places = [centre if not step.any() else bend.inverse((straight + step)[None])[0] for step in steps]
    return tuple(replace(mode, whitening=mode.whitening.moved(place)) for place in places)


def nearest_image(archive: Archive, mode: Mode, near: Array) -> Mode:
    """The image of a mode in the period around a point, (d,)."""
    return min(images(archive, mode, near), key=lambda one: float(np.linalg.norm(one.whitening.whiten(near[None]))))


def all_images(archive: Archive, modes: Iterable[Mode]) -> tuple[Mode, ...]:
    """Modes with their images in neighbouring periods."""
    return tuple(image for mode in modes for image in images(archive, mode, mode.whitening.centre))


def _turns(count: int) -> Array:
    """Numbers of periods by which a number of angles are moved, rows of (n, count), the first of which is zero."""
    every = range(-FARTHEST, FARTHEST + 1)
    if count > TOGETHER:
        alone = [turn * row for row in np.eye(count) for turn in every if turn]
        return np.array([np.zeros(count), *alone])
    together = sorted(product(every, repeat=count), key=lambda turns: sum(abs(turn) for turn in turns))
    return np.array(together, dtype=np.float64)


def _alone(every: tuple[Mode, ...]) -> tuple[Mode, ...]:
    """A single mode and its images within reach, with normal densities that are no narrower than needed.

    The width of equal normal densities does not change where they are equal.
    """
    near = (every[0], *(one for one in every[1:] if _distance(every[0], one) < REACH))
    if len(near) == 1:
        return near
    wider = min(1.0, SMOOTH / min(_distance(near[0], one) for one in near[1:]))
    return tuple(replace(one, whitening=replace(one.whitening, factor=wider * one.whitening.factor)) for one in near)


def _distance(mode: Mode, image: Mode) -> float:
    return mode.whitening.length(image.whitening.centre - mode.whitening.centre)


def _narrowed(archive: Archive, mode: Mode) -> Mode:
    """The mode with angles so narrow that their images are at least `CLOSEST` apart, for the division into parts."""
    angles = archive.coordinates.transform.angles
    assert angles is not None
    columns, periods = angles.columns, angles.periods
    precision = mode.whitening.factor @ mode.whitening.factor.T
    among = precision[np.ix_(columns, columns)] * np.outer(periods, periods)
    lacking = CLOSEST**2 - float(np.linalg.eigvalsh(among)[0])
    if lacking <= 0.0:
        return mode
    precision[columns, columns] += lacking / periods**2
    return replace(mode, whitening=replace(mode.whitening, factor=np.linalg.cholesky(precision)))
