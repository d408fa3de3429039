"""The random projection: orthonormal, reproducible, standardised."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.matrix import LogisticData, standardise
from rnshmc.datasets.project import project, project_file, random_basis
from rnshmc.datasets.receipt import Receipt
from rnshmc.errors import DataError, ParameterError
from rnshmc.random import stream
from tests.datasets.conftest import prepared, receipt_of


@pytest.fixture
def data() -> LogisticData:
    X = stream(0, "project").exponential(size=(200, 12))
    return LogisticData(X, (np.arange(200) % 2).astype(np.uint8), "stand-in", tuple(f"c{k}" for k in range(12)))


def test_the_basis_is_orthonormal() -> None:
    basis = random_basis(123, 59, stream(1, "basis"))
    assert basis.shape == (123, 59)
    np.testing.assert_allclose(basis.T @ basis, np.eye(59), rtol=0, atol=1e-13)


def test_the_basis_is_gram_schmidt_of_the_draws() -> None:
    """A basis that the draws alone define, signs included: no LAPACK and no number of threads can change it."""
    draws = stream(1, "basis").standard_normal((123, 59))
    expected = np.zeros((123, 59))
    for k in range(59):
        rest = draws[:, k] - expected @ (expected.T @ draws[:, k])
        expected[:, k] = rest / np.linalg.norm(rest)
    # Classical Gram-Schmidt loses the square of the condition number, here about 5, so 25 times a few 1e-15.
    np.testing.assert_allclose(random_basis(123, 59, stream(1, "basis")), expected, rtol=0, atol=1e-12)


def test_the_projection_is_standardised_twice_and_has_an_intercept(data: LogisticData) -> None:
    projected = project(data, dim=5, rng=stream(1, "p"))
    basis = random_basis(12, 4, stream(1, "p"))
    Z = standardise(data).X @ basis
    np.testing.assert_array_equal(projected.X[:, 0], 1.0)
    np.testing.assert_allclose(projected.X[:, 1:], (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(projected.y, data.y)
    assert projected.origin == "stand-in"


def test_a9a_is_projected_to_60_columns_of_full_rank(adult: Receipt, raw_dir: Path, tmp_path: Path) -> None:
    prepared("a9a_encoded", receipt_of(adult.verified(raw_dir))).save(tmp_path / "encoded.npz")
    projected = project_file(tmp_path / "encoded.npz", dim=60, rng=stream(1, "a9a"))
    assert projected.X.shape == (32561, 60)
    assert np.linalg.matrix_rank(projected.X) == 60


@pytest.mark.parametrize("dim", [1, 14])
def test_a_dimension_out_of_range_is_named(dim: int, data: LogisticData) -> None:
    with pytest.raises(ParameterError, match=f"dim is {dim}, expected from 2 to 13"):
        project(data, dim=dim, rng=stream(1))


def test_a_constant_column_is_named(data: LogisticData) -> None:
    X = data.X.copy()
    X[:, 4] = 0.0
    with pytest.raises(DataError, match="column 'c4' is constant"):
        project(LogisticData(X, data.y, data.origin, data.columns), dim=5, rng=stream(1))
