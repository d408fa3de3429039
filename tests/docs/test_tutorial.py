"""docs/tutorial.md runs unchanged, and samples the stated posterior."""

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rnshmc.types import Array
from tests.conftest import z_bound
from tests.docs.printed import differences

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"


@pytest.fixture(scope="module")
def names(docs_output: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the page defines after all its blocks have run, its outputs, and the files that they left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("tutorial"))
        made, outputs = docs_output.run_page(PAGE)
        lines = Path("evaluations.jsonl").read_text(encoding="utf-8").splitlines()
        evaluated = [json.loads(line)["x"] for line in lines[1:]]
        return {**made, "outputs": outputs, "files": set(os.listdir()), "evaluated": evaluated}


@pytest.fixture(scope="module")
def exact(names: dict[str, Any]) -> tuple[Array, Array]:
    """Means and standard deviations of the tutorial's posterior, by quadrature in the logarithms of its parameters."""
    axes = [np.linspace(low, high, 81) for low, high in ((2.00, 2.16), (-1.3, -0.8), (-2.6, -0.6))]
    rise, rate, noise = np.meshgrid(*(np.exp(axis) for axis in axes), indexing="ij")
    curves = rise[..., :1] * (1 - np.exp(-rate[..., :1] * names["minutes"]))
    misfit = ((names["warmed"] - curves) ** 2).sum(axis=-1, keepdims=True)
    x = np.stack((rise, rate, noise), axis=-1)
    log_density = -24 * np.log(noise) - 0.5 * misfit / noise**2 - 0.5 * ((x / names["scales"]) ** 2).sum(axis=-1)
    log_density += np.log(x).sum(axis=-1)
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    mean = np.tensordot(weights, x, axes=3)
    return mean, np.sqrt(np.tensordot(weights, (x - mean) ** 2, axes=3))


@pytest.mark.parametrize("name", ["result", "density", "without", "first", "more"])
def test_means_are_those_of_quadrature(name: str, names: dict[str, Any], exact: tuple[Array, Array]) -> None:
    mean = names[name].mean
    assert (np.abs(mean.value - exact[0]) < z_bound(12) * mean.standard_error).all()
    assert (mean.standard_error < 0.1 * exact[1]).all()


def test_the_share_of_a_mode_is_that_of_quadrature(names: dict[str, Any]) -> None:
    axes = np.linspace(0.0, 1.0, 2002)[1:-1], np.linspace(np.log(1.1), np.log(2.1), 81), np.linspace(-2.8, -1.0, 61)
    place, heat, noise = np.meshgrid(axes[0], np.exp(axes[1]), np.exp(axes[2]), indexing="ij")
    shapes = np.stack([names["rod"]((x, 1.0)) for x in axes[0]])
    readings = np.asarray(names["readings"])
    squares = readings @ readings - 2 * heat * (shapes @ readings)[:, None, None]
    squares += heat**2 * (shapes**2).sum(axis=1)[:, None, None]
    log_density = -20 * np.log(noise) - 0.5 * squares / noise**2 + 2 * np.log(place) + np.log(1 - place)
    # A log-normal density times its argument, the Jacobian of the logarithm, is normal in it.
    log_density += -0.5 * np.log(heat) ** 2 - 0.5 * noise**2 + np.log(noise)
    weights = np.exp(log_density - log_density.max())
    left = names["left"]
    assert abs(left.value - weights[place < 0.45].sum() / weights.sum()) < z_bound() * left.standard_error
    assert left.standard_error < 0.01
    assert len(names["both"].outcome.modes) == 2


def test_what_the_page_says_of_its_runs_is_so(names: dict[str, Any]) -> None:
    assert names["result"].units == ("K", "1/min", "K")
    assert names["without"].spent.gradients == 0
    assert names["files"] >= {"draws.nc", "runs.jsonl", "evaluations.jsonl", "file_draws.nc"}
    assert "gradient" in names["message"]
    assert names["result"].spent.units < min(names["density"].spent.units, names["without"].spent.units)
    assert names["half"].verdict.level == "good"
    # 16 checks, a look into the tails, which takes 11 in three dimensions, and one batch of training at most.
    assert names["half"].spent.units <= 16 + 11 + 16
    assert names["free"].verdict.level == "good"
    assert names["free"].spent.units == 0
    assert 0.7 < names["inside"] <= 1.0


def test_one_evaluation_is_repeated_as_a_check_and_kept_once(names: dict[str, Any]) -> None:
    points = names["evaluated"]
    assert len(set(map(tuple, points))) == len(points)
    assert len(points) + 1 == names["first"].spent.values + names["more"].spent.values


def test_the_page_shows_what_it_prints(names: dict[str, Any], docs_output: ModuleType) -> None:
    assert len(names["outputs"]) == 4
    for output in names["outputs"]:
        assert differences(docs_output.joined(output.shown), output.printed) == []
