"""Reference moments of the comparison: their file, their errors, and variances of heavy tails."""

from pathlib import Path

import numpy as np
import pytest
from peers.measures import Moments
from peers.problems import Problem
from peers.reference import enough, read, reference, write

from rnshmc.errors import DataError, ParameterError
from rnshmc.types import Array
from tests.conftest import z_bound

STANDARD = Moments(np.zeros(3), np.ones(3), np.full(3, 3.0))


class HeavyTailed:
    """Two independent variables of Student's t with eight degrees of freedom, which cannot be drawn from directly."""

    dim = 2

    def value(self, q: Array) -> float:
        return float(4.5 * np.log1p(q**2 / 8.0).sum())

    def gradient(self, q: Array) -> Array:
        return np.asarray(9.0 * q / (8.0 + q**2))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)


def test_references_survive_their_file(tmp_path: Path) -> None:
    write(tmp_path / "q.csv", STANDARD, (5000.0, 3000.0))
    moments, draws = read(tmp_path / "q.csv")
    np.testing.assert_array_equal(moments.kurtosis, STANDARD.kurtosis)
    assert draws == (5000.0, 3000.0)
    (tmp_path / "r.csv").write_text("mean\nx\n")
    with pytest.raises(DataError, match=r"r\.csv"):
        read(tmp_path / "r.csv")


def test_a_reference_with_large_errors_is_refused() -> None:
    assert enough("q", (4000.0, 3500.0)) == (4000.0, 3500.0)
    with pytest.raises(ParameterError, match="6 independent draws"):
        enough("q", (4000.0, 6.0))


def test_a_reference_has_the_variances_of_heavy_tails() -> None:
    """By draws of the Laplace approximation they would be 4% low, by 30000 of them."""
    problem = Problem(HeavyTailed(), np.ones(2), 1.0, np.full(2, -8.0), np.full(2, 8.0), np.ones(2))
    found, worth = reference(problem, "heavy", 30000)
    spread = np.sqrt((found.kurtosis - 1.0) / worth[1])
    assert (spread < 0.03).all()
    assert (np.abs(found.variance / (8.0 / 6.0) - 1.0) < z_bound(2) * spread).all()
