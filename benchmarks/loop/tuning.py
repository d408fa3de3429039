"""Numbers of the experiment."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Covariances:
    """Covariances of the process that are tried."""

    lengths: tuple[float, ...] = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)
    """Lengths of the isotropic part, in units of sqrt(d)."""
    weights: tuple[float, ...] = (0.1, 1.0, 10.0, 1000.0)
    """Variances of the other parts, in units of that one's."""
    axis_lengths: tuple[float, ...] = (0.3, 0.6, 1.2, 2.5, 5.0, 10.0)
    """Lengths of the other parts."""
    nuggets: tuple[float, ...] = (1e-7, 1e-5, 1e-3)
    """Variances of noise, in the same unit."""
    rows: int = 800
    """Equations of the system by which one is chosen."""


COVARIANCES = Covariances()


@dataclass(frozen=True)
class Learning:
    """Batches of exact evaluations at draws of the surrogate, each of which checks it and is then learnt."""

    chains: int = 64
    """Chains of the surrogate at each temperature."""
    settle: int = 10
    """Draws that are left out of each chain."""
    kept: int = 15
    """Draws taken of each chain between two fits."""
    last: int = 100
    """Draws taken of each chain of the surrogate in use."""
    farther: tuple[float, ...] = (1.25, 4.3)
    """Tempered draws are so many standard deviations farther out in radius: temperatures 3 and 12 in 3 dimensions."""
    members: int = 300
    """Draws at which errors are known."""
    batch: int = 8
    """Points of a batch, at least."""
    shoulders: float = 8.0
    """Half of a batch is tempered in up to this many dimensions, and less in more."""
    share: int = 8
    """A batch has one point for so many training points, if that is more."""
    least: int = 2
    """Batches before a surrogate is accepted."""
    shifts: int = 2
    """Batches whose changes of V count as errors of it."""
    most_points: int = 320
    """Points that are evaluated at most."""
    hopeless: float = 6.0
    """A surrogate that is far off after this many times d + 20 points is given up."""
    far: float = 4.0
    """Variance of the importance weights from which on a surrogate is far off."""
    lacking: float = 0.1
    """Part of a variance that exact values beyond all draws may show, in standard deviations of a normal square."""
    stale: float = 1.3
    """The covariance is searched again at this many times the points of the last search."""
    unchanged: tuple[float, float] = (0.2, 5.0)
    """Whitened variances of draws within which coordinates stay as they are."""

    def temperatures(self, dim: int) -> tuple[float, ...]:
        """1, and those at which a standard normal density is `farther` standard deviations wider in radius."""
        return (1.0, *((1.0 + beyond / np.sqrt(dim)) ** 2 for beyond in self.farther))


LEARNING = Learning()
