"""Variances that rest on a few draws in a long tail."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from rnshmc.inference.exact.archive import Archive, Training
from rnshmc.inference.stages.correction import Checked, choose, with_more
from rnshmc.inference.surrogate.posterior import fit_posterior
from rnshmc.inference.surrogate.uncertainty import Paths
from rnshmc.inference.surrogate.weights import Chosen, Influence, measured_shift, smoothed
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.inference.tuning_shared import MANY
from rnshmc.random import stream
from rnshmc.types import Array
from tests.inference.clouds import cloud, even_paths
from tests.inference.conftest import evaluations_of

CHECKED, CHOSEN = 50, 16
SHARE, FAR = 0.01, 6.0
"""Of the surrogate's mass in a wide component, and its standard deviation; the posterior is N(0, 1)."""


def too_wide(rng: np.random.Generator, count: int) -> Array:
    """Draws (count, 1) of a surrogate whose variance is 1.35 for 1, by one draw in a hundred."""
    return np.asarray(np.where(rng.uniform(size=count) < SHARE, FAR, 1.0) * rng.standard_normal(count))[:, None]


def differences(x: Array) -> Array:
    """U - V there, up to a constant."""
    parts = np.stack((norm.logpdf(x[:, 0]), norm.logpdf(x[:, 0], scale=FAR)))
    weights = np.array([[1.0 - SHARE], [SHARE]])
    return np.asarray(logsumexp(parts, axis=0, b=weights) - norm.logpdf(x[:, 0]))


def errors(*, chosen: bool) -> Array:
    """Of the corrected variance, over 100 sets of draws; the process knows nothing."""
    rng, found = stream(1, "influence"), np.empty(100)
    for r in range(len(found)):
        draws, checked = too_wide(rng, 6400), too_wide(rng, CHECKED)
        more = choice(draws, checked, even_paths(draws[:640]), rng) if chosen else None
        variance = cloud(draws, checked, differences(checked), chosen=more).variance()
        found[r] = variance.value[0] - 1.0
    return found


def choice(draws: Array, checked: Array, paths: Paths, rng: np.random.Generator) -> Chosen:
    """Some of the draws by their influence."""
    influence = Influence.over(draws, lambda x: x)
    shares = influence.at(draws)
    points = draws[rng.choice(len(draws), CHOSEN, replace=False, p=shares / shares.sum())]
    both = np.concatenate((checked, points))
    base = influence.base(both, CHECKED, CHOSEN)
    return Chosen(points, differences(points), base, influence.base(paths.points, CHECKED, CHOSEN))


def test_draws_chosen_by_their_influence_show_a_tail_that_is_too_heavy() -> None:
    """Of 50 draws most have one in the tail or none: the variance stays too large by a third of what it is."""
    found, alone = errors(chosen=True), errors(chosen=False)
    assert np.abs(found).mean() < np.abs(alone).mean() / 3.0
    assert np.median(alone) > 0.25
    assert np.abs(found.mean()) < 0.1


def test_weights_of_checked_and_chosen_draws_are_those_to_the_surrogate() -> None:
    """Weighted means of 1 and of x^2 are the surrogate's, within four standard errors."""
    rng = stream(2, "influence")
    draws = too_wide(rng, 25600)
    paths = even_paths(draws[:9])
    found = []
    for _ in range(400):
        checked = draws[rng.choice(len(draws), CHECKED)]
        chosen = choice(draws, checked, paths, rng)
        both = np.concatenate((checked, chosen.points))[:, 0]
        found.append([chosen.base.mean(), (chosen.base * both**2).mean()])
    errors = np.mean(found, axis=0) - np.array([1.0, (draws**2).mean()])
    assert (np.abs(errors) < 4.0 * np.std(found, axis=0) / np.sqrt(len(found))).all()


def test_an_exact_surrogate_has_no_measured_shift() -> None:
    """Weights to the surrogate, whose mean is not 1 by chance, are no shift."""
    rng = stream(3, "influence")
    draws = too_wide(rng, 6400)
    paths = even_paths(draws[:9])
    checked, weights = draws[:CHECKED], smoothed(np.zeros(CHECKED))
    chosen = choice(draws, checked, paths, rng)
    exact = replace(chosen, differences=np.zeros(CHOSEN))
    squares = np.concatenate((checked, chosen.points)) ** 2 - (draws**2).mean()
    shift, noise = measured_shift(exact.weights(weights), exact.base, squares)
    assert abs(float(shift[0])) < 1e-12
    assert float(noise[0]) < 1e-20


def test_chosen_draws_leave_nothing_open_where_the_surrogate_is_exact() -> None:
    """And a draw that it hardly has, of any weight, leaves much open, and nothing that is not finite."""
    rng = stream(5, "influence")
    draws = too_wide(rng, 6400)
    influence, weights = Influence.over(draws, lambda x: x), smoothed(np.zeros(CHECKED))
    chosen = choice(draws, draws[:CHECKED], even_paths(draws[:9]), rng).points
    left = [
        influence.noise(draws[:CHECKED], weights, chosen, np.where(np.arange(CHOSEN) == 0, lower, 0.0))
        for lower in (0.0, -1000.0)
    ]
    assert left[0] < 1e-20
    assert 1e-3 < left[1] < np.inf


def test_coordinates_that_overflow_have_no_influence() -> None:
    """A bend may take far draws beyond the largest number, and nothing of them is known."""
    draws = np.column_stack((too_wide(stream(4, "influence"), 1000)[:, 0], np.linspace(0.0, 800.0, 1000)))
    found = Influence.over(draws, lambda x: np.column_stack((x[:, 0], np.exp(np.minimum(x[:, 1], 709.0)))))
    np.testing.assert_array_equal(found.columns, [0])
    assert np.isfinite(found.at(draws)).all()


@pytest.mark.parametrize(
    ("roughness", "fewest", "most"),
    [
        (0.0, DEFAULT.correction.influential, DEFAULT.correction.influential),
        (2.0, 5 * DEFAULT.correction.influential, MANY),
    ],
)
def test_rounds_of_chosen_draws_end_when_variances_are_known(roughness: float, fewest: int, most: int) -> None:
    """After one where the surrogate is right in its tail; much later where it is off by a factor of e^2 up or down."""
    rng = stream(6, "influence")
    points = rng.standard_normal((8, 1))
    training = Training(points, 0.5 * points[:, 0] ** 2, points)
    posterior = fit_posterior(training, Whitening(np.zeros(1), np.eye(1)), rng, DEFAULT.fitting)

    def density(x: Array) -> float:
        off = roughness * np.sign(np.sin(50.0 * x[0])) * (abs(x[0]) > 3.0)
        return float(off - posterior.values(x[None])[0])

    archive = Archive.of(evaluations_of(density, 1))
    draws, near = too_wide(rng, 6400).reshape(64, 100, 1), rng.uniform(-1.0, 1.0, (CHECKED, 1))
    checked = with_more(archive, posterior, near, Checked.none(1), CHECKED)
    found = choose(archive, posterior, draws, checked, rng, DEFAULT, aim=1000.0)
    assert found is not None
    assert fewest <= len(found[1].points) <= most
