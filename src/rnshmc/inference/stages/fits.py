"""Surrogates refitted as evaluations arrive, in coordinates whitened by their draws."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.gradient_kernel import LENGTHS, GradientKernel
from rnshmc.inference.surrogate.learning import SubspaceKernel
from rnshmc.inference.surrogate.posterior import Kernel, SurrogatePosterior, draw_chains, fit_posterior, plausible
from rnshmc.inference.surrogate.whitening import Whitening, improved
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import AGAIN
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Fit:
    """A surrogate posterior, the whitened positions of its chains (chains, d), and the share of draws at its wall."""

    posterior: SurrogatePosterior
    positions: Array
    at_wall: float

    @classmethod
    def drawn(cls, posterior: SurrogatePosterior, draws: Array) -> "Fit":
        """From draws of chains, (chains, n, d)."""
        norms, walls = posterior.walls(_settled(draws))
        return cls(posterior, draws[:, -1], float((norms > walls - 0.5).mean()))

    @property
    def points(self) -> int:
        """Number of training points."""
        return len(self.posterior.kernel.centres)

    @property
    def process(self) -> GradientKernel | EmulatedPotential:
        """The process in the directions that the surrogate learns."""
        kernel = self.posterior.kernel
        return kernel.process if isinstance(kernel, SubspaceKernel) else kernel


def first_fit(archive: Archive, whitening: Whitening, rng: np.random.Generator, tuning: Tuning) -> Fit:
    """The surrogate after the directions are probed."""
    posterior = fit_posterior(archive.training(), whitening, rng, tuning.fitting)
    positions = 0.7 * rng.standard_normal((tuning.training.chains, archive.dim))
    found = _rewhitened(archive, posterior, positions, rng, tuning)
    if archive.dim > tuning.training.cheap:
        return found
    return _without_wells(archive, Fit(posterior, positions, 0.0), found, rng, tuning)


def next_fit(archive: Archive, fit: Fit, rng: np.random.Generator, tuning: Tuning, *, search: bool, sound: bool) -> Fit:
    """The surrogate with all points evaluated by now.

    ``search``: whether length and noise are searched again. ``sound``: whether the last surrogate was good enough for
    its draws to whiten, and for its chains to continue.
    """
    like = None if search else fit.posterior.kernel
    whitening = fit.posterior.whitening
    posterior = fit_posterior(archive.training(), whitening, rng, tuning.fitting, like=like)
    if sound:
        found = _rewhitened(archive, posterior, fit.positions, rng, tuning)
        more = found.at_wall > AGAIN * fit.at_wall
        return _without_wells(archive, fit, found, rng, tuning) if more else found
    # Chains of a surrogate that was wrong may be anywhere: they start again at points known to be good.
    known = whitening.whiten(plausible(archive.training(), tuning.fitting).points)
    positions = known[rng.choice(len(known), tuning.training.chains)]
    draws = draw_chains(posterior, positions, transitions=tuning.training.transitions, rng=rng)
    return Fit.drawn(posterior, draws)


def _without_wells(archive: Archive, last: Fit, found: Fit, rng: np.random.Generator, tuning: Tuning) -> Fit:
    """The fit, or one of a shorter length if it has draws at its wall, and the last one had far fewer.

    A long length may be likely at the points and make a polynomial with wells beyond them, whose draws would whiten the
    coordinates. Where the density does reach there, a shorter length leaves more open, and the check of tails finds it.
    """
    tried = [found]
    while tried[-1].at_wall >= tuning.training.at_wall and (lengths := _shorter(tried[-1].process)):
        posterior = fit_posterior(archive.training(), last.posterior.whitening, rng, tuning.fitting, lengths=lengths)
        tried.append(_rewhitened(archive, posterior, last.positions, rng, tuning))
    return min(tried, key=lambda one: one.at_wall)


def _shorter(kernel: GradientKernel | EmulatedPotential) -> tuple[float, ...]:
    """Candidates shorter than the length of a process of the potential; none for emulated outputs."""
    if isinstance(kernel, EmulatedPotential):
        return ()
    # Neighbours are a quarter apart or more: the margin is no rounding.
    return tuple(length for length in LENGTHS if length < 0.9 * kernel.relative_length)


def _settled(draws: Array) -> Array:
    """The later half of chains, as rows."""
    return draws[:, draws.shape[1] // 2 :].reshape(-1, draws.shape[-1])


def _rewhitened(
    archive: Archive, posterior: SurrogatePosterior, positions: Array, rng: np.random.Generator, tuning: Tuning
) -> Fit:
    """Draws of a surrogate, and the surrogate fitted again in coordinates whitened by them where that changes them."""
    training = tuning.training
    draws = draw_chains(posterior, positions, transitions=training.transitions, rng=rng)
    try:
        centre, hessian = _centre_and_hessian(posterior.kernel, _settled(draws), training.bent)
    except np.linalg.LinAlgError:
        return Fit.drawn(posterior, draws)
    curvatures = np.linalg.eigvalsh(hessian)
    near_one = 1.0 / training.unchanged < curvatures[0] and curvatures[-1] < training.unchanged
    if near_one and np.linalg.norm(centre) < training.unchanged - 1.0:
        return Fit.drawn(posterior, draws)
    old = posterior.whitening
    whitening = improved(old.moved(old.unwhiten(centre[None])[0]), hessian, tuning.curvatures)
    positions = whitening.whiten(old.unwhiten(draws[:, -1]))
    try:
        refitted = fit_posterior(archive.training(), whitening, rng, tuning.fitting, like=posterior.kernel)
    except FitError:
        return Fit.drawn(posterior, draws)
    return Fit.drawn(refitted, draw_chains(refitted, positions, transitions=training.transitions, rng=rng))


def _centre_and_hessian(kernel: Kernel, pool: Array, bent: float) -> tuple[Array, Array]:
    """Mean of the draws, and their `_hessian`; where the density is normal by construction, nothing is estimated."""
    if not isinstance(kernel, SubspaceKernel):
        return pool.mean(axis=0), _hessian(kernel, pool, bent)
    along = pool @ kernel.subspace.basis
    return kernel.subspace.basis @ along.mean(axis=0), kernel.embedded(_hessian(kernel.process, along, bent))


def _hessian(kernel: GradientKernel | EmulatedPotential, pool: Array, bent: float) -> Array:
    """The mean Hessian over draws, or the inverse of their covariance where the density is bent.

    For a normal density the two agree; a bent one is narrower in each place than it is on the whole.
    """
    hessian = kernel.mean_hessian(pool[::5])
    spread = np.cov(pool.T).reshape(kernel.dim, kernel.dim)
    if np.linalg.eigvals(hessian @ spread).real.max() > bent:
        hessian = np.linalg.inv(spread)
    return hessian
