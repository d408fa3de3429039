"""Measures over independent runs and along sweeps."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.scorecard.measured import Tables
from tests.scorecard.conftest import Find

RUNS = (1, 2)


def sweep(column: str, acceptances: dict[int, tuple[float, float]], **fixed: int) -> Tables:
    """Two runs at each setting, with HMC at 0.7 and 0.72."""
    rows = [
        {**fixed, column: value, "run": run, "ap": ap, "hmc_ap": hmc_ap}
        for value, pair in acceptances.items()
        for run, ap, hmc_ap in zip(RUNS, pair, (0.70, 0.72), strict=True)
    ]
    return {"sweep": pd.DataFrame(rows)}


def test_a_mean_is_taken_at_the_stated_settings(find: Find) -> None:
    tables = sweep("points", {500: (0.1, 0.3), 2000: (0.63, 0.72)}, units=1000)
    small = find(tables, "mean", table="sweep", column="ap", per="run", points=500, units=1000)
    assert small is not None
    assert_allclose(small.estimate, (0.2, 0.1))
    assert small.over == "2 runs"
    share = find(tables, "mean", table="sweep", column="ap", relative="hmc_ap", per="run", points=2000)
    last = find(tables, "mean", table="sweep", column="ap", per="run", last="points")
    assert share is not None
    assert last is not None
    assert_allclose([share.estimate.value, last.estimate.value], [(0.63 / 0.70 + 1.0) / 2, 0.675])


def test_a_sweep_without_a_point_nearby_says_nothing(find: Find) -> None:
    other_size = sweep("points", {700: (0.1, 0.3)}, units=1000)
    other_width = sweep("points", {500: (0.1, 0.3)}, units=200)
    for tables in (other_size, other_width, {}):
        assert find(tables, "mean", table="sweep", column="ap", per="run", points=500, units=1000) is None


def test_settings_are_compared_run_by_run_or_by_their_means(find: Find) -> None:
    rows = [
        {"repeat": repeat, "n": n, "method": method, "error": repeat * error / n}
        for repeat in (1, 2, 3)
        for n in (10, 20)
        for method, error in (("network", 0.2), ("process", 0.5))
    ]
    tables = {"errors": pd.DataFrame(rows)}
    table = {"table": "errors", "column": "error", "per": "repeat"}
    methods = find(tables, "paired_ratio", key="method", name="network", other="process", n=10, **table)
    sizes = find(tables, "paired_ratio", key="n", name=20, other=10, method="process", **table)
    means = find(tables, "ratio_of_means", key="n", name=20, other=10, method="process", **table)
    assert methods is not None
    assert sizes is not None
    assert means is not None
    assert_allclose(methods.estimate, (0.4, 0.0), rtol=0, atol=1e-12)
    assert methods.over == "3 repeats"
    assert_allclose(sizes.estimate, (0.5, 0.0), rtol=0, atol=1e-12)
    # The means spread by 1, 2, 3 over repeats: 1 / (2 sqrt(3)) of each.
    assert_allclose(means.estimate, (0.5, 0.5 * np.sqrt(2 / 12)))


def table4(acceptances: dict[tuple[str, int], tuple[float, float]]) -> Tables:
    rows = [
        {"method": method, "d": d, "size": 500, "repeat": repeat, "ap": value}
        for (method, d), pair in acceptances.items()
        for repeat, value in zip(RUNS, pair, strict=True)
    ]
    return {"t": pd.DataFrame(rows)}


def test_differences_are_taken_in_each_repeat(find: Find) -> None:
    process = {("process", d): (0.5, 0.7) for d in (10, 40)}
    tables = table4({**process, ("network", 10): (0.6, 0.8), ("network", 40): (0.8, 1.0)})
    pair = {"table": "t", "column": "ap", "per": "repeat", "key": "method", "name": "network", "other": "process"}
    overall = find(tables, "paired_difference", **pair)
    first = find(tables, "paired_difference", first="d", **pair)
    assert overall is not None
    assert first is not None
    assert_allclose([overall.estimate, first.estimate], [(0.2, 0.0), (0.1, 0.0)], atol=1e-12)
    assert find(table4(process), "paired_difference", **pair) is None


def gaussian() -> Tables:
    """Two methods: one grows linearly and only gains, the other cubically, and its efficiency drops after 600."""
    rows = [
        {
            "method": method,
            "size": size,
            "repeat": repeat,
            "s": repeat * size**power,
            "e": repeat * height * shape[size],
        }
        for method, power, height, shape in (
            ("network", 1.0, 9.0, {300: 0.5, 600: 1.0, 1200: 1.0}),
            ("process", 3.0, 2.0, {300: 1.0, 600: 1.5, 1200: 1.0}),
        )
        for size in (300, 600, 1200)
        for repeat in RUNS
    ]
    return {"g": pd.DataFrame(rows)}


ENDS = {"key": "size", "name": "largest", "other": "smallest"}


@pytest.mark.parametrize(
    ("measure", "arguments", "method", "value"),
    [
        ("exponent", {"column": "s", "along": "size"}, "network", 1.0),
        ("exponent", {"column": "s", "along": "size"}, "process", 3.0),
        ("paired_ratio", {"column": "e", **ENDS}, "network", 2.0),
        ("paired_difference", {"column": "e", **ENDS}, "network", 9.0 * 0.5 * 1.5),
    ],
)
def test_a_curve_is_measured_in_each_run(
    find: Find, measure: str, arguments: dict[str, str], method: str, value: float
) -> None:
    found = find(gaussian(), measure, table="g", per="repeat", method=method, **arguments)
    assert found is not None
    assert_allclose(found.estimate.value, value)
    assert found.over == "2 repeats"
    assert find(gaussian(), measure, table="g", per="repeat", method="other", **arguments) is None
    one = {"g": gaussian()["g"].query("size == 300")}
    assert find(one, measure, table="g", per="repeat", method=method, **arguments) is None
