from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from rnshmc.errors import ParameterError
from rnshmc.fem import random_field
from rnshmc.fem.random_field import RandomField, karhunen_loeve
from rnshmc.random import stream
from rnshmc.types import Array

CELL_TYPES = ("quadrilateral", "triangle")


def expand(cell_type: str, cells: int = 8, modes: int = 20, *, variance: float = 1.0) -> RandomField:
    return karhunen_loeve(cell_type, cells, modes, length_scale=0.2, variance=variance)


def kernel_matrix(points: Array) -> Array:
    matrix: Array = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2) / (2 * 0.2**2))
    return matrix


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_modes_are_the_leading_eigenvectors_of_the_kernel_matrix(cell_type: str) -> None:
    field = expand(cell_type)
    matrix = kernel_matrix(field.points)
    np.testing.assert_allclose(matrix @ field.modes, field.eigenvalues * field.modes, rtol=0, atol=1e-12 * len(matrix))
    np.testing.assert_allclose(
        field.modes.T @ field.modes, np.diag(field.eigenvalues), rtol=0, atol=1e-12 * len(matrix)
    )
    np.testing.assert_allclose(field.eigenvalues, np.linalg.eigvalsh(matrix)[::-1][:20], rtol=1e-11)


def test_eigenvalues_on_the_papers_triangles_are_the_published_ones() -> None:
    field = expand("triangle", 30, 3)
    assert len(field.points) == 1800
    np.testing.assert_allclose(field.eigenvalues / 1800, [0.1940, 0.1321, 0.1321], rtol=0, atol=5e-5)


def test_eigenvalues_on_the_papers_quadrilaterals_differ_by_the_quadrature_only() -> None:
    field = expand("quadrilateral", 30, 3)
    assert len(field.points) == 900
    np.testing.assert_allclose(field.eigenvalues / 900, [0.1940, 0.1321, 0.1321], rtol=0, atol=1e-4)


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_field_has_at_most_the_kernels_variance_and_with_many_modes_all_of_it(cell_type: str) -> None:
    few, many = (np.sum(expand(cell_type, modes=n, variance=4.0).modes ** 2, axis=1) for n in (10, 60))
    assert few.max() < 4.0
    # The variance that is missing is that of the modes left out; their eigenvalues sum up to its mean.
    left_out = 4.0 * np.linalg.eigvalsh(kernel_matrix(expand(cell_type).points))[:-60].sum()
    assert 4.0 - many.mean() == pytest.approx(left_out / len(many), rel=1e-6, abs=1e-12)


def test_equal_eigenvalues_come_by_index_pair_each_mode_the_others_mirror_image() -> None:
    _, first, second, *_ = np.moveaxis(expand("quadrilateral").modes.reshape(8, 8, -1), 2, 0)
    np.testing.assert_array_equal(first, second.T)
    assert (np.sign(first) == np.sign(first[0])).all()  # index pair (0, 1): the sign changes along x2 alone


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_basis_is_the_same_bytes_for_any_number_of_threads(cell_type: str) -> None:
    def basis(threads: int) -> bytes:
        with threadpool_limits(threads, user_api="blas"):
            return expand(cell_type, 20).modes.tobytes()

    assert basis(1) == basis(2)


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_another_eigensolver_gives_the_same_basis(cell_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding, order and signs of the eigensolver do not change the basis, even for degenerate pairs."""
    expected = expand(cell_type, 20).modes
    rng = stream(1, "eigensolver")

    def other_eigh(matrix: Array, subset_by_index: Any) -> tuple[Array, Array]:
        permutation = rng.permutation(len(matrix))
        values, vectors = np.linalg.eigh(matrix[np.ix_(permutation, permutation)])
        keep = slice(subset_by_index[0], subset_by_index[1] + 1)
        signs = rng.choice([-1.0, 1.0], len(matrix))
        return values[keep], (vectors[np.argsort(permutation)] * signs)[:, keep]

    monkeypatch.setattr(random_field, "eigh", other_eigh)
    np.testing.assert_allclose(expand(cell_type, 20).modes, expected, rtol=0, atol=1e-11)


def test_modes_follow_the_numbering_of_the_cells() -> None:
    field = expand("triangle")
    order = stream(1, "numbering").permutation(len(field.points))
    np.testing.assert_array_equal(field.at(field.points[order] + 1e-14), field.modes[order])


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_a_rank_has_the_modes_of_its_own_cells(cell_type: str) -> None:
    field = expand(cell_type)
    own = stream(1, "rank").permutation(len(field.points))[:11]
    np.testing.assert_array_equal(field.at(field.points[own] - 1e-14), field.modes[own])
    assert field.at(field.points[:0]).shape == (0, 20)


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_centroids_that_are_no_cells_or_come_twice_are_refused(cell_type: str) -> None:
    field = expand(cell_type)
    outside, moved = (field.points[:4] + np.array([distance, 0.0]) for distance in (1.0, 1e-3))
    for centroids in (outside, -outside, moved, field.points[[0, 1, 1]]):
        with pytest.raises(ParameterError, match="centroids must be cells of this random field, each once"):
            field.at(centroids)


def test_cells_of_another_mesh_are_refused() -> None:
    with pytest.raises(ParameterError, match="centroids"):
        expand("triangle").at(expand("quadrilateral").points)
    with pytest.raises(ParameterError, match="centroids"):
        expand("quadrilateral").at(np.zeros((64, 2)))


@pytest.mark.parametrize(
    ("cell_type", "modes", "message"),
    [
        ("quadrilateral", 0, "modes must be at least 1, got 0"),
        ("quadrilateral", 65, "modes must be at most 64, got 65"),
        ("triangle", 10_000, "modes must be at most .*, got 10000"),
        ("hexagon", 20, "cell_type must be one of quadrilateral, triangle, got 'hexagon'"),
    ],
)
def test_wrong_settings_are_named(cell_type: str, modes: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        expand(cell_type, modes=modes)
