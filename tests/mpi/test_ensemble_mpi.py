"""Independent solves are the same bytes for any number of ranks."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rnshmc.experiments.ensemble import Evaluations, directions, gradient_check
from rnshmc.run.registry import load_target
from rnshmc.targets.forward_data import ForwardData

SCRIPT = Path(__file__).parents[2] / "workflow/scripts/scaling_ensemble.py"
TARGET = {"kind": "elliptic", "cells": 6, "modes": 3}
SPEC = {"seed": 1, "problem": "pde", "target": TARGET, "states": 7, "checked": 2, "repeats": 1}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    points = np.array([[0.2, 0.3], [0.5, 0.5], [0.9, 0.4]])
    nothing = np.full((1, 3), np.nan)
    ForwardData(
        points=points,
        observations=points[:, 0],
        observations_clean=nothing[0],
        theta_true=nothing[0],
        prior_theta=nothing,
        prior_predictive=nothing,
        noise_sd=0.1,
        prior_sd=0.5,
        origin="user",
    ).save(tmp_path / "pde.npz")
    return tmp_path / "pde.npz"


def test_a_training_set_does_not_depend_on_the_ranks(data: Path, tmp_path: Path, on_ranks: Callable[..., str]) -> None:
    pytest.importorskip("dolfinx")
    files = [tmp_path / f"ranks{ranks}.npz" for ranks in (1, 2)]
    for ranks, path in enumerate(files, start=1):
        seconds = path.with_suffix(".csv")
        arguments = ("--data", str(data), "--output", str(path), "--seconds", str(seconds))
        on_ranks(ranks, SCRIPT, "--spec", json.dumps(SPEC), *arguments)
        measured = pd.read_csv(seconds)
        assert list(measured["what"]) == ["pde: potentials and gradients", "pde: finite differences"]
        assert list(measured["ranks"]) == [ranks, ranks]
    assert files[0].read_bytes() == files[1].read_bytes()

    found, potential = Evaluations.load(files[0]), load_target(TARGET, data)
    for state, value, gradient in zip(found.states, found.potentials, found.gradients, strict=True):
        expected = potential.value_and_grad(state)
        assert value == expected[0]
        np.testing.assert_array_equal(gradient, expected[1])
    gradient_check(found, directions(2, 3, seed=1, problem="pde"))
