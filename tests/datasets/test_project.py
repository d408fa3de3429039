"""The random projection: whitened, reproducible, of full rank."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.project import project, project_file, whitened
from rnshmc.datasets.receipt import Receipt
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from tests.datasets.conftest import prepared, receipt_of

EPS = float(np.finfo(np.float64).eps)


@pytest.fixture
def data() -> LogisticData:
    X = stream(0, "project").exponential(size=(200, 12))
    return LogisticData(X, (np.arange(200) % 2).astype(np.uint8), "stand-in", tuple(f"c{k}" for k in range(12)))


def test_columns_are_centred_and_white_beside_an_intercept(data: LogisticData) -> None:
    projected = project(data, dim=5, rng=stream(1, "p"))
    assert projected.X.shape == (200, 6)
    assert projected.columns[:2] == ("intercept", "projection 1")
    # With the intercept, second moments are the identity. Rounding: 200 terms, and a condition number under 100.
    np.testing.assert_allclose(projected.X.T @ projected.X / 200, np.eye(6), rtol=0, atol=200 * 100 * EPS)
    np.testing.assert_array_equal(projected.y, data.y)
    assert projected.origin == "stand-in"


def test_they_span_the_gaussian_projection_of_the_centred_data(data: LogisticData) -> None:
    projected = project(data, dim=5, rng=stream(1, "p"))
    Z = (data.X - data.X.mean(axis=0)) @ stream(1, "p").standard_normal((12, 5))
    white = projected.X[:, 1:]
    np.testing.assert_allclose(white @ (white.T @ Z) / 200, Z, rtol=0, atol=200 * 100 * EPS * np.abs(Z).max())


def test_components_come_largest_first_with_a_sign_that_no_rotation_of_signs_changes() -> None:
    rng = stream(2, "white")
    Z = rng.standard_normal((500, 3)) * (1.0, 5.0, 0.2)
    Z -= Z.mean(axis=0)
    white = whitened(Z)
    # Nearly the axes: the second is the widest, the third the narrowest, and each looks along its own.
    for component, axis in zip(white.T, (1, 0, 2), strict=True):
        assert np.corrcoef(component, Z[:, axis])[0, 1] > 0.9


def test_a9a_is_projected_to_60_columns_of_full_rank(adult: Receipt, raw_dir: Path, tmp_path: Path) -> None:
    prepared("a9a_encoded", receipt_of(adult.verified(raw_dir))).save(tmp_path / "encoded.npz")
    projected = project_file(tmp_path / "encoded.npz", dim=60, rng=stream(1, "a9a"))
    assert projected.X.shape == (32561, 61)
    assert np.linalg.matrix_rank(projected.X) == 61


@pytest.mark.parametrize("dim", [0, 13])
def test_a_dimension_out_of_range_is_named(dim: int, data: LogisticData) -> None:
    with pytest.raises(ParameterError, match=f"dim is {dim}, expected from 1 to 12"):
        project(data, dim=dim, rng=stream(1))


def test_more_columns_than_the_rank_of_the_data_are_refused(data: LogisticData) -> None:
    """Columns of two categories add up to one: centred, one of them is the other's negative."""
    X = np.column_stack((data.X[:, :4], data.X[:, 4] > 1, data.X[:, 4] <= 1))
    six = LogisticData(X, data.y, data.origin, data.columns[:6])
    assert project(six, dim=5, rng=stream(1)).X.shape == (200, 6)
    with pytest.raises(ParameterError, match="dim is 6, but the centred data have rank 5"):
        project(six, dim=6, rng=stream(1))
