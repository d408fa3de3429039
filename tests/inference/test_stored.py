"""A saved result read again; and its figures."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import quote, unquote

import arviz
import h5py
import numpy as np
import pytest

import rnshmc
from rnshmc.errors import DataError
from rnshmc.inference.result.converting import by_origin
from rnshmc.inference.result.plots import FIGURES
from rnshmc.inference.result.resampling import resampled
from rnshmc.inference.stages.correction import largest_rhat
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.conftest import Function, interrupted

WHITE = Whitening(np.zeros(1), np.eye(1))


def gamma(x: Array) -> tuple[float, Array]:
    """Two independent gamma variables of shape 3."""
    return float((2 * np.log(x) - x).sum()), 2 / x - 1


def sampled(target: Function = gamma, **settings: object) -> rnshmc.Result:
    chosen = {"bounds": ["positive"] * 2, "draws": 400, "progress_bar": False, **settings}
    return rnshmc.sample(target, np.ones(2), names=["a", "b"], units={"a": "m"}, **chosen)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> rnshmc.Result:
    return sampled()


@pytest.fixture(scope="module")
def stopped() -> rnshmc.Result:
    """A run that Ctrl-C ended before there were draws."""
    return sampled(interrupted(gamma, after=6))


def test_a_loaded_result_is_the_saved_one(result: rnshmc.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "result.nc")
    again = rnshmc.load(tmp_path / "result.nc")
    assert repr(again) == repr(result)
    assert (again.names, again.units, again.spent) == (result.names, result.units, result.spent)
    for name in ("draws", "chains", "log_densities"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    again.save(tmp_path / "again.nc")
    assert repr(rnshmc.load(tmp_path / "again.nc")) == repr(result)


def test_it_has_expectations_and_quantiles_of_new_functions(result: rnshmc.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "result.nc")
    again = rnshmc.load(tmp_path / "result.nc")
    for found, expected in (
        (again.expectation(np.log), result.expectation(np.log)),
        (again.quantile(0.9, np.sqrt), result.quantile(0.9, np.sqrt)),
    ):
        np.testing.assert_array_equal(found.value, expected.value)
        np.testing.assert_array_equal(found.standard_error, expected.standard_error)


def test_a_result_without_draws_is_kept_too(stopped: rnshmc.Result, tmp_path: Path) -> None:
    stopped.save(tmp_path / "stopped.nc")
    again = rnshmc.load(tmp_path / "stopped.nc")
    assert repr(again) == repr(stopped)
    assert again.draws.shape == stopped.draws.shape == (0, 2)


def test_other_files_are_refused_by_name(result: rnshmc.Result, tmp_path: Path) -> None:
    (tmp_path / "text.nc").write_text("no netCDF")
    result.to_arviz().to_netcdf(str(tmp_path / "draws.nc"))
    for name in ("missing.nc", "text.nc", "draws.nc"):
        with pytest.raises(DataError, match=name):
            rnshmc.load(tmp_path / name)


@pytest.mark.parametrize("names", [("k_on/k_off", "95%"), (".", "a\0b")])
def test_names_that_netcdf_refuses_are_escaped_in_the_file_alone(
    result: rnshmc.Result, tmp_path: Path, names: tuple[str, str]
) -> None:
    named = replace(result, names=names)
    named.save(tmp_path / "named.nc")
    assert rnshmc.load(tmp_path / "named.nc").names == names
    posterior = arviz.from_netcdf(tmp_path / "named.nc").posterior
    assert [unquote(name) for name in posterior.data_vars] == [*names]
    np.testing.assert_array_equal(
        posterior[quote(names[0], safe=" ").replace(".", "%2E")], result.to_arviz().posterior["a"]
    )


def test_an_empty_name_is_refused_before_anything_is_evaluated() -> None:
    with pytest.raises(rnshmc.ParameterError, match=r"names: a name is empty, got \('a', ''\)"):
        rnshmc.sample(lambda x: 1 / 0, np.ones(2), names=["a", ""])


def test_a_changed_array_is_noticed_and_files_of_earlier_versions_are_read(
    result: rnshmc.Result, tmp_path: Path
) -> None:
    path = tmp_path / "result.nc"
    result.save(path)
    with h5py.File(path, "r+") as file:
        file["rnshmc/array0"][...] = 0.0
    with pytest.raises(DataError, match=r"result\.nc is not a result .*its content and the hash in it differ"):
        rnshmc.load(path)
    result.save(path)
    with h5py.File(path, "r+") as file:
        attributes = file["rnshmc"].attrs
        del attributes["sha256"]
        (description,) = (name for name, text in attributes.items() if "floored" in str(text))
        content = json.loads(attributes[description])
        for name in ("floored", "passed_over", "outlying"):
            del content["outcome"]["fields"][name]
        attributes[description] = json.dumps(content)
    assert repr(rnshmc.load(path)) == repr(result)


def places_in_arrays(path: Path) -> list[int]:
    """The middle byte of each array in the file of a result."""
    with h5py.File(path) as file:
        arrays = [array for name, array in file["rnshmc"].items() if re.fullmatch(r"array\d+", name)]
        return [array.id.get_offset() + array.id.get_storage_size() // 2 for array in arrays]


def test_a_damaged_byte_is_refused_by_name_or_without_effect(result: rnshmc.Result, tmp_path: Path) -> None:
    path = tmp_path / "result.nc"
    result.save(path)
    whole, arrays = path.read_bytes(), places_in_arrays(path)
    for place in (*arrays, 787, 3182, 16230, *range(12000, 20000, 2000)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            again = rnshmc.load(path)
        except DataError as error:
            assert str(error).startswith(f"{path} is not a result")  # noqa: PT017
        else:
            assert place not in arrays
            np.testing.assert_array_equal(again.draws, result.draws)
            assert repr(again) == repr(result)


SAVED = """
import resource, rnshmc, rnshmc.errors
result = rnshmc.load({path!r})
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
try:
    result.save({path!r})
except rnshmc.errors.StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("size", [0, 100_000])
def test_a_disk_without_room_is_an_error_and_the_old_file_stays(
    result: rnshmc.Result, tmp_path: Path, size: int
) -> None:
    """HDF5 itself ends the process there, with a segmentation fault."""
    path = tmp_path / "result.nc"
    result.save(path)
    before = path.read_bytes()
    program = SAVED.format(path=str(path), size=size)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"{path} cannot be written: the file exceeds the size limit")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["result.nc"]


def test_more_draws_have_the_corrected_moments(result: rnshmc.Result, stopped: rnshmc.Result) -> None:
    more = result.resample(20_000)
    assert more.shape == (20_000, 2)
    error = np.hypot(result.mean.standard_error, result.sd.value / np.sqrt(20_000))
    assert (np.abs(more.mean(axis=0) - result.mean.value) < z_bound(2) * error).all()
    assert result.resample(10, seed=2).tobytes() != result.resample(10).tobytes()
    with pytest.raises(rnshmc.ParameterError, match="draws: expected a whole number of at least 1, got -5"):
        result.resample(-5)
    with pytest.raises(rnshmc.ParameterError, match="resample: no surrogate was used"):
        stopped.resample(10)


def test_more_draws_than_a_surrogate_has_repeat_where_nothing_was_checked() -> None:
    unchecked: Any = SimpleNamespace(checked=np.zeros((0, 1)), draws=np.arange(10.0)[:, None])
    for count, most in ((6, 1), (25, 3)):
        rows, of_surrogate = resampled(unchecked, WHITE, count, np.random.default_rng(1))
        times = np.unique(rows, return_counts=True)[1]
        assert (len(rows), times.max(), of_surrogate) == (count, most, True)


def test_chains_for_arviz_are_those_that_draws_come_from() -> None:
    draws = np.random.default_rng(1).standard_normal((64, 100, 2)) + np.repeat([0.0, 3.0], 32)[:, None, None]
    flat = draws.reshape(-1, 2)
    rows = flat[np.random.default_rng(2).permutation(len(flat))[:403]]
    chains = by_origin(rows, flat)
    assert chains.shape == (4, 100, 2)
    assert {row.tobytes() for row in chains.reshape(-1, 2)} <= {row.tobytes() for row in rows}
    # Chains in two places are seen to be; in random order they were not.
    assert largest_rhat(chains) > 1.5
    assert largest_rhat(rows[:400].reshape(4, 100, 2)) < 1.1


@pytest.fixture
def pyplot(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield plt
    plt.close("all")


def test_figures_show_what_they_are_for(result: rnshmc.Result, pyplot: ModuleType) -> None:
    panels = result.plot().axes
    assert [panel.get_xlabel() for panel in panels[2:]] == ["a [m]", "b"]
    np.testing.assert_array_equal(panels[2].lines[0].get_xydata(), result.draws)
    medians = [panels[i].lines[1].get_xdata()[0] for i in (0, 3)]
    np.testing.assert_array_equal(medians, result.quantile(0.5).value)
    assert len(result.plot(names=["b"]).axes) == 1
    checked = result.outcome.checked
    assert checked is not None
    above, below = result.plot("surrogate").axes
    assert f"{len(checked.values)} draws" in above.get_title(loc="left")
    exact = above.lines[1].get_ydata()
    np.testing.assert_allclose(exact, checked.values - checked.values.min())
    # U - V up to a constant.
    np.testing.assert_allclose(np.diff(below.lines[1].get_ydata()), np.diff(checked.differences))
    units, errors = result.plot("training").axes[0].lines[0].get_data()
    assert (np.diff(units) > 0).all()
    assert (errors > 0).all()
    assert units[-1] == result.spent.units - result.outcome.by_stage["far out"].units


def test_figures_of_nothing_are_refused(
    result: rnshmc.Result, stopped: rnshmc.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in FIGURES:
        with pytest.raises(rnshmc.ParameterError, match=r"plot: (there are no draws|no )|predict: no outputs"):
            stopped.plot(kind)
    with pytest.raises(rnshmc.ParameterError, match="kind: expected one of pairs, surrogate"):
        result.plot("corner")
    with pytest.raises(rnshmc.ParameterError, match="names: no parameter is named 'c'; there are a, b"):
        result.plot(names=["c"])
    with pytest.raises(rnshmc.ParameterError, match="names: expected at least one parameter"):
        result.plot(names=[])
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(rnshmc.ParameterError, match="pip install matplotlib"):
        result.plot()


def test_a_name_that_is_no_formula_is_drawn_as_it_is_written(result: rnshmc.Result, pyplot: ModuleType) -> None:
    figure = replace(result, names=(r"$\frac{$", r"$\alpha$"), units=("", "")).plot()
    figure.draw_without_rendering()
    assert [panel.get_xlabel() for panel in figure.axes[2:]] == [r"\$\frac{\$", r"$\alpha$"]


def test_a_point_of_zero_density_is_told_and_not_drawn(result: rnshmc.Result, pyplot: ModuleType) -> None:
    checked = result.outcome.checked
    assert checked is not None
    differences = np.where(np.arange(len(checked.differences)) == 0, np.inf, checked.differences)
    changed = replace(result, outcome=replace(result.outcome, checked=replace(checked, differences=differences)))
    title = changed.plot("surrogate").axes[0].get_title(loc="left")
    assert title.startswith(f"{len(differences) - 1} draws")
    assert "1 more failed or have density 0" in title
