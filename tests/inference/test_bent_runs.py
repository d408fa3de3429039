"""Whole runs on bent posteriors."""

from pathlib import Path

import numpy as np
import pytest
from peers.known_laws import Funnel, KnownMoments, TwistedGaussian

import rnshmc
from tests.conftest import z_bound


@pytest.mark.parametrize(
    ("problem", "log_evidence", "units", "largest"),
    [
        (TwistedGaussian(), 5.0 * np.log(2.0 * np.pi) + np.log(10.0), 400, 1500),
        (Funnel(), 3.0 * np.log(2.0 * np.pi) + np.log(3.0), 600, 2000),
    ],
    ids=["twisted", "funnel"],
)
def test_bent_posteriors_are_sampled_for_hundreds_of_units(
    problem: KnownMoments, log_evidence: float, units: int, largest: int
) -> None:
    """Two seeds; which of them is the slow one, if any is, rounding decides."""
    found = [_sampled_rightly(problem, log_evidence, seed) for seed in (1, 2)]
    assert min(found) <= units
    assert max(found) <= largest


def _sampled_rightly(problem: KnownMoments, log_evidence: float, seed: int) -> int:
    """Units that it took.

    Means and the driver's variance are right; those of the others are of variables with long tails. The evidence is
    that of x.
    """
    start = 0.1 * np.random.default_rng(seed).standard_normal(problem.dim)
    names = [f"x{k}" for k in range(problem.dim)]
    result = rnshmc.sample(problem, start, seed=seed, names=names, progress_bar=False)
    assert result.outcome.method == "surrogate"
    bound, sd = z_bound(problem.dim), np.sqrt(problem.variance)
    assert np.all(np.abs(result.mean.value) < bound * result.mean.standard_error + 0.05 * sd)
    assert np.all(result.mean.standard_error < 0.2 * sd)
    assert result.sd.value[0] == pytest.approx(sd[0], rel=0.1)
    error = abs(result.log_evidence.value - log_evidence)
    assert error < bound * result.log_evidence.standard_error + 0.02
    densities = [-problem.value(x) for x in result.chains[0, :5]]
    np.testing.assert_allclose(result.log_densities[0, :5], densities, rtol=0, atol=1e-8)
    assert "x0" in str(result.verdict)
    return result.spent.units


def test_a_run_resumes_behind_its_bends(tmp_path: Path) -> None:
    """Bends follow from the evaluations alone: the second call asks for the same points, and evaluates one anew."""
    start = np.full(10, 0.1)
    first, second = (
        rnshmc.sample(TwistedGaussian(), start, draws=200, filepath=tmp_path / "evaluations.jsonl", progress_bar=False)
        for _ in range(2)
    )
    assert first.outcome.bend.layers
    np.testing.assert_array_equal(first.draws, second.draws)
    assert second.spent.values <= 1
