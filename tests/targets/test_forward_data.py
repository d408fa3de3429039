from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import DataError
from rnshmc.targets.forward_data import ForwardData, read_observations


def forward_data() -> ForwardData:
    return ForwardData(
        points=np.array([[0.0, 0.5], [1.0, 0.25]]),
        observations=np.array([0.1, 0.2]),
        observations_clean=np.array([0.15, 0.25]),
        theta_true=np.array([0.5, -0.5, 0.0]),
        prior_theta=np.ones((4, 3)),
        prior_predictive=np.ones((4, 2)),
        noise_sd=0.1,
        prior_sd=0.5,
        origin="simulated",
    )


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    forward_data().save(tmp_path / "pde.npz")
    loaded = ForwardData.load(tmp_path / "pde.npz")
    for field in fields(ForwardData):
        np.testing.assert_array_equal(getattr(loaded, field.name), getattr(forward_data(), field.name))
    assert isinstance(loaded.noise_sd, float)
    assert isinstance(loaded.origin, str)


def test_equal_data_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        forward_data().save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_ensemble_is_a_training_set_of_the_potential() -> None:
    data = forward_data()
    states, potentials = data.prior_training_set()
    np.testing.assert_array_equal(states, data.prior_theta)
    # Residuals of 0.9 and 0.8 at noise 0.1, and three coefficients of 1 at prior 0.5.
    np.testing.assert_allclose(potentials, 0.5 * ((0.9**2 + 0.8**2) / 0.1**2 + 3 / 0.5**2))


def test_missing_entry_is_named_with_its_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "part.npz", points=np.zeros((1, 2)))
    with pytest.raises(DataError, match=r"part\.npz: .* no array 'observations'"):
        ForwardData.load(tmp_path / "part.npz")


@pytest.mark.parametrize("content", [None, b"", b"no archive"])
def test_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "bad.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.npz"):
        ForwardData.load(path)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_observations_of_a_user_are_read_by_column_name(tmp_path: Path) -> None:
    points, observations = read_observations(write(tmp_path, "u, x2, x1, sensor\n0.7,0.5,0,a\n-1e-1,1,0.25,b\n"))
    np.testing.assert_array_equal(points, [[0.0, 0.5], [0.25, 1.0]])
    np.testing.assert_array_equal(observations, [0.7, -0.1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "row 1: no column 'x1'"),
        ("x1,x2\n0,0\n", "row 1: no column 'u'"),
        ("x1,x2,u\n", "no observations"),
        ("x1,x2,u\n0,0,1\n0,0,\n", "row 3, column 'u': '' is not a number"),
        ("x1,x2,u\n0,0,1\n0,0\n", "row 3, column 'u': None is not a number"),
        ("x1,x2,u\n0,0,high\n", "row 2, column 'u': 'high' is not a number"),
        ("x1,x2,u\n0,nan,1\n", "row 2, column 'x2': 'nan' is not finite"),
        ("x1,x2,u\n0,0,1\n0.5,-0.1,1\n", "row 3, column 'x2': -0.1 lies outside the unit square"),
        ("x1,x2,u\n1.5,0,1\n", "row 2, column 'x1': 1.5 lies outside the unit square"),
    ],
)
def test_bad_observations_are_named_by_file_row_and_column(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"mine\.csv: {message}"):
        read_observations(write(tmp_path, text))


def test_missing_file_of_observations_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv"):
        read_observations(tmp_path / "none.csv")
