"""Tuned numbers of `rnshmc.sample` for bent coordinates."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bending:
    """Bent coordinates, fitted by a match of gradients. Varied on the twisted Gaussian and the funnel where stated."""

    first: tuple[int, int] = (15, 3)
    """Gradients, and more for each dimension, at which a descent has taken long. Few descents take as many."""
    again: float = 1.5
    """Growth of their number until one is looked for again: in a descent, beyond `cheap`, while tails stay open."""
    wrong: float = 1.0
    """Variance of the importance weights from which on a bend is looked for between batches. Not varied."""
    filling: float = 0.25
    """Points where too much was open, relative to all others, from which on a bend is looked for. Not varied."""
    most: int = 8
    """Bends taken in a run at most. Not varied."""
    most_dim: int = 40
    """Dimensions up to which bends are looked for: a fit takes d^4 operations."""
    cheap: int = 12
    """Dimensions up to which a bend is searched while the first good draws are not believed yet. Banana, median of 20
    seeds: 133 units, and 160 without that; on Bank, in 25 dimensions, it took eleven of fourteen seconds."""
    points: int = 150
    """Latest gradients that are matched, times max(1, d / 10). Not varied."""
    height: tuple[float, float] = (8.0, 1.0)
    """Height above the lowest potential, and more for each dimension, up to which gradients are matched."""
    fewest: float = 1.5
    """The lowest gradients that are matched, at least, besides `folds`, for each dimension. Not varied."""
    drivers: int = 4
    """Drivers that are fitted: those of which the residuals of a plain match depend most."""
    finalists: int = 2
    """Bends that are compared by held-out gradients."""
    folds: int = 5
    """Parts in which gradients are held out. Not varied."""
    level: float = 0.05
    """Share of the gradient by a centre that those of what is centred on it leave, at most. Not varied."""
    near: float = 0.1
    """Distance from an integer within which a coefficient of a centre is that integer. Eight schools, three seeds: as
    fitted, 0.96 to 1.03, no surrogate behind them was good."""
    coupled: float = 0.5
    """Squared partial correlations, in all, of effects around their centre, at most. Around one of them it is one: each
    of J has -1 / sqrt(J) with it. Where few gradients leave all of that open, eight schools had 1.03 to 6.5."""
    powers: tuple[float, ...] = (0.5, 1.0, 2.0)
    """Powers of exp(driver) that are simple. Not varied."""
    nearly: float = 4.0
    """Factor within which the steepest fitted slope is near a power. Not varied."""
    suspect: float = 0.15
    """Loss of held-out gradients above which a bend is suspected. Hospitals, centred: 0.2; Bank has 0.1 and none."""
    share: float = 0.5
    """Loss of held-out gradients, relative to that of the current coordinates, up to which a bend is taken.

    At 0.8, and without standard errors, log-gamma densities were bent, and needed up to five times the units."""
    again_share: float = 0.8
    """The same for the bend that there is, fitted to more points. At 0.5, one funnel of three fell back."""
    sure: float = 2.0
    """Standard errors by which it has to be smaller."""
    everywhere: float = 0.9
    """Share of the points at which the loss of a new bend has to be smaller. On 24 seeds of log-gamma densities, 0.57
    to 0.82 for bends that the other criteria took, of which half led to 1000 units and more; on twisted Gaussians,
    funnels and eight schools, 0.94 to 1."""
    better: float = 0.02
    """How much smaller it has to be: losses are 0 for coordinates that explain everything, and 1 for no point."""
    shift: float = 10.0
    """Prior scale of shifts, in conditional standard deviations of each coordinate. Not varied."""
    slope: float = 2.0
    """Prior scale of the slope of log scales, per standard deviation of the driver. Not varied."""
    turn: float = 0.5
    """The same of the change of that slope, which the points may not show on both sides. Not varied."""
    affine: float = 3.0
    """Prior scale of scales and shifts of whitened coordinates. Not varied."""
    steepest: float = 3.0
    """Largest slope of log scales that a fit starts from. Not varied."""
    rounds: int = 3
    """Fits of a layer, each followed by one of a Hessian. With 0 of these, funnels were missed."""
    turns: int = 6
    """Hessians fitted in turn behind a layer that is given. With 3, one of centred eight schools was far from there."""
    most_curved: float = 10.0
    """Largest curvature that a round adds, and inverse of the smallest. Not varied."""
    steps: int = 12
    """Steps of least squares in a round. Not varied."""
    tries: int = 8
    """Dampings tried in each. Not varied."""
    damping: float = 1e-2
    """First damping. Not varied."""
    least_damping: float = 1e-8
    factor: float = 5.0
    """Factor between two dampings. Not varied."""
    longest: float = 10.0
    """Largest change of a parameter in a step. Not varied."""
    settled: float = 1e-3
    """Relative decrease at which steps end. Not varied."""
