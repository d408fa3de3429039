"""Surrogates are refitted as evaluations arrive."""

from dataclasses import replace

import numpy as np
import pytest
from peers.known_laws import Law

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages import fits
from rnshmc.inference.stages.decision import Tally
from rnshmc.inference.stages.fits import Fit, first_fit, next_fit
from rnshmc.inference.stages.training import State, _fill
from rnshmc.inference.surrogate.gradient_kernel import LENGTHS, GradientKernel
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, fit_posterior
from rnshmc.inference.surrogate.uncertainty import no_tails
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of_potential


class Skewed(Law):
    """A standard normal, and t^3 / (10 + 0.4 t^2) in each of twenty directions: nearly cubic where draws are."""

    dim = 10

    def __init__(self) -> None:
        directions = np.random.default_rng(1).standard_normal((20, self.dim))
        self._directions: Array = directions / np.linalg.norm(directions, axis=1)[:, None]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        t = self._directions @ q
        rest = 1.0 + t**2 / 25.0
        slope = (3.0 * t**2 * rest - 2.0 * t**4 / 25.0) / rest**2
        return 0.5 * float(q @ q) + 0.1 * float((t**3 / rest).sum()), q + 0.1 * slope @ self._directions


EYE = Whitening(np.zeros(10), np.eye(10))
SHORTEST = LENGTHS[0]
POINTS = stream(10, "wells").standard_normal((28, 10))


@pytest.fixture
def archive() -> Archive:
    made = Archive.of(evaluations_of_potential(Skewed()))
    made.evaluate(POINTS[:20], "start")
    return made


@pytest.fixture
def last(archive: Archive) -> Fit:
    """A first surrogate, without draws at its wall."""
    found = first_fit(archive, EYE, stream(10, "first"), DEFAULT)
    return replace(found, at_wall=0.0)


@pytest.mark.parametrize("search", [False, True])
def test_a_surrogate_with_wells_is_fitted_with_a_shorter_length(search: bool, archive: Archive, last: Fit) -> None:
    """A process of long length is a polynomial around its points, and eight more points make wells beyond them.

    Without the shorter length, 16 of 1664 draws are at its wall; more than half of them where the length is searched.
    """
    archive.evaluate(POINTS[20:], "more")
    found = next_fit(archive, last, stream(0, "next"), DEFAULT, search=search, sound=True)
    assert found.at_wall < DEFAULT.training.at_wall


def test_the_fewest_draws_at_the_wall_are_taken_where_every_length_has_some(
    archive: Archive, last: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heavy tails have them rightly: where the last surrogate had nearly as many, other lengths are not tried."""
    shares = [0.6, 0.4, 0.3, 0.5]

    def with_a_share(archive: Archive, posterior: SurrogatePosterior, positions: Array, *_: object) -> Fit:
        return Fit(posterior, positions, shares.pop())

    monkeypatch.setattr(fits, "_rewhitened", with_a_share)
    found = next_fit(archive, last, stream(0, "next"), DEFAULT, search=False, sound=True)
    assert found.at_wall == 0.3
    shares[:] = [0.3, 0.5]
    found = next_fit(archive, replace(last, at_wall=0.4), stream(0, "next"), DEFAULT, search=True, sound=True)
    assert found.at_wall == 0.5
    shares[:] = [0.3, 0.4, 0.3, 0.5]
    found = next_fit(archive, replace(last, at_wall=0.2), stream(0, "next"), DEFAULT, search=True, sound=True)
    assert found.at_wall == 0.3


def test_the_first_surrogate_has_no_wells_either(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """All draws of one on a hierarchical regression, of length 1.5, were at its wall."""
    shares = [0.0, 0.4, 1.0]

    def with_a_share(archive: Archive, posterior: SurrogatePosterior, positions: Array, *_: object) -> Fit:
        return Fit(posterior, positions, shares.pop())

    monkeypatch.setattr(fits, "_rewhitened", with_a_share)
    assert first_fit(archive, EYE, stream(10, "first"), DEFAULT).at_wall == 0.0
    shares[:] = [0.0, 0.4, 1.0]
    few = replace(DEFAULT, training=replace(DEFAULT.training, cheap=9))
    assert first_fit(archive, EYE, stream(10, "first"), few).at_wall == 1.0


@pytest.mark.parametrize(("searched", "again"), [(18, True), (19, False)])
def test_points_where_much_is_open_lead_to_another_search_of_the_length_too(
    searched: int, again: bool, archive: Archive, last: Fit
) -> None:
    """A length that was too short leaves as much open with any number of points: on a9a, 410 in place of 99.

    28 points are more than 1.5 times 18, and not more than 1.5 times 19.
    """
    short = fit_posterior(archive.training(), EYE, stream(0, "short"), DEFAULT.fitting, lengths=(SHORTEST,))
    tally = Tally(dim=10, informed=10, learnt="gradients", aim=500, most_rows=9000, rows=11, used=20)
    state = State(replace(last, posterior=short), tally, searched, 0.1, (), POINTS[20:], no_tails(10))
    filled = _fill(archive, state, stream(1, "fill"), DEFAULT)
    kernel = filled.fit.posterior.kernel
    assert isinstance(kernel, GradientKernel)
    assert (kernel.relative_length > SHORTEST) == again
    assert filled.searched == (28 if again else 19)
