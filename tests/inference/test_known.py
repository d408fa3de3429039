"""Evaluations that somebody has already."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import DataError, ParameterError
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.exact.stored_evaluations import read_known

POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
DENSITIES = np.array([-1.0, -math.inf, math.nan])
GRADIENTS = np.array([[1.0, 2.0], [math.nan, 0.0], [0.0, 0.0]])
ARRAYS: dict[str, Any] = {"points": POINTS, "log_densities": DENSITIES, "gradients": GRADIENTS}


@pytest.mark.parametrize("form", ["mapping", "npz", "lines"])
def test_arrays_and_files_are_read(form: str, tmp_path: Path) -> None:
    source: Any = ARRAYS
    if form == "npz":
        source = tmp_path / "mine.npz"
        np.savez(source, **ARRAYS)
    if form == "lines":
        source = tmp_path / "mine.jsonl"
        evaluation_log = EvaluationLog(source, ["a", "b"])
        evaluation_log.append(Evaluation(POINTS[0], 1.0, -GRADIENTS[0]))
        evaluation_log.append(Evaluation(POINTS[1], math.inf, with_gradient=False))
        evaluation_log.close()
    first, second = read_known(source, ["a", "b"])  # a density that is not a number says nothing
    assert np.array_equal(first.point, POINTS[0])
    assert np.array_equal(first.gradient, -GRADIENTS[0])  # type: ignore[arg-type]
    assert (first.value, second.value, second.gradient, second.failed) == (1.0, math.inf, None, False)


def test_masked_entries_are_missing() -> None:
    masked_array: Any = np.ma.masked_array
    masked = masked_array([-1.0, 9.97e36], [False, True])
    [found] = read_known({"points": POINTS[:2], "log_densities": masked}, ["a", "b"])
    assert np.array_equal(found.point, POINTS[0])


def test_gradients_may_be_missing() -> None:
    [found] = read_known({"points": POINTS[:1], "log_densities": [-1.0]}, ["a", "b"])
    assert (found.gradient, found.with_gradient) == (None, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"log_densities": None}, "evaluations: 'log_densities' is missing"),
        ({"gradient": GRADIENTS}, "evaluations: 'gradient' is not known"),
        ({"points": POINTS[:, :1]}, r"evaluations, points: expected shape \(n, 2\), got \(3, 1\)"),
        ({"log_densities": DENSITIES[:2]}, r"evaluations, log_densities: expected shape \(3,\), got \(2,\)"),
        ({"gradients": GRADIENTS[:2]}, r"evaluations, gradients: expected shape \(3, 2\), got \(2, 2\)"),
        ({"points": "many"}, "evaluations, points: expected numbers"),
    ],
)
def test_arrays_of_the_wrong_shape_are_refused(changes: dict[str, Any], message: str) -> None:
    arrays = {key: value for key, value in {**ARRAYS, **changes}.items() if value is not None}
    with pytest.raises(ParameterError, match=message):
        read_known(arrays, ["a", "b"])


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("text")
    np.savez(tmp_path / "unknown.npz", **ARRAYS)
    content = (tmp_path / "unknown.npz").read_bytes()
    (tmp_path / "unknown.npz").write_bytes(
        content.replace(b"PK\x01\x02\x14", b"PK\x01\x02\x99").replace(b"\x14\0\0\0", b"\x99\0\0\0")
    )
    for name in ("absent.npz", "absent.jsonl", "text.npz", "unknown.npz"):
        with pytest.raises((DataError, ParameterError), match=name.replace(".", r"\.")):
            read_known(tmp_path / name, ["a", "b"])
