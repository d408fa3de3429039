"""cobaya's sampler takes priors, references and names, and returns a collection and the evidence."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rnshmc
from tests.conftest import z_bound

pytest.importorskip("cobaya", reason="cobaya is not installed")
from cobaya.log import LoggedError
from cobaya.run import run

ROOT = Path(__file__).parents[2]


class Counted:
    """A gamma variable of shape 4 and a normal one, with a count of evaluations."""

    def __init__(self) -> None:
        self.calls = 0

    def log_density(self, a: float, b: float) -> float:
        self.calls += 1
        return float(3 * np.log(a) - a - 0.5 * (b - 1) ** 2)


def problem(counted: Counted, **more: Any) -> dict[str, Any]:
    params = {"a": {"prior": {"min": 0, "max": 60}, "ref": 3.0}, "b": {"prior": {"min": -20, "max": 20}}}
    sampler = {"rnshmc.cobaya.RNSHMC": {"draws": 200}}
    likelihood = {"external": lambda a, b: counted.log_density(a, b)}
    return {"likelihood": {"counted": likelihood}, "params": params, "sampler": sampler, **more}


def test_the_page_runs_and_has_the_evidence_of_quadrature(docs_output: ModuleType) -> None:
    names, _ = docs_output.run_page(ROOT / "docs/cobaya.md")
    products, x, y = names["products"], names["x"], names["y"]
    slope, level = np.meshgrid(np.linspace(1.5, 2.5, 401), np.linspace(0.7, 1.3, 401), indexing="ij")
    misfit = ((y - slope[..., None] * x - level[..., None]) ** 2).sum(axis=-1)
    log_density = -0.5 * misfit / 0.01 - 10 * np.log(2 * np.pi * 0.01)
    log_density += np.log(1 / 5) - 0.5 * (level / 2) ** 2 - 0.5 * np.log(2 * np.pi * 4)
    density = np.exp(log_density - log_density.max())
    evidence = log_density.max() + np.log(density.sum() * (1.0 / 400) * (0.6 / 400))
    assert abs(products["logZ"] - evidence) < z_bound() * products["logZstd"] + 1e-6
    assert products["logZstd"] < 0.1
    weights = density / density.sum()
    result, sample = products["result"], products["sample"]
    for i, grid in enumerate((slope, level)):
        mean = (weights * grid).sum()
        sd = np.sqrt((weights * (grid - mean) ** 2).sum())
        assert abs(sample.mean()[i] - mean) < z_bound(2) * sd / np.sqrt(200)
        assert abs(result.mean.value[i] - mean) < z_bound(2) * result.mean.standard_error[i]
    assert result.names == ("slope", "level")
    # Evaluated draws have all of cobaya's columns.
    table = sample.data
    assert len(table) == 400
    np.testing.assert_allclose(table["end"], table["slope"] + table["level"], rtol=1e-12)
    np.testing.assert_allclose(table["minuslogpost"], table["minuslogprior"] + table["chi2"] / 2, rtol=1e-12)
    assert names["sampler"].samples(to_getdist=True).getParamNames().list()[:2] == ["slope", "level"]


def test_an_output_is_kept_resumed_and_read_again(tmp_path: Path) -> None:
    first, second = Counted(), Counted()
    output = str(tmp_path / "chain")
    _, sampler = run(problem(first, output=output))
    assert first.calls >= sampler.result.spent.values > 20
    assert f"logZ: {sampler.products()['logZ']}"[:10] in (tmp_path / "chain.logZ").read_text()
    _, again = run(problem(second, output=output, resume=True))
    # One stored point is evaluated anew, as a check, and the start by cobaya's own tests.
    assert second.calls < 5
    np.testing.assert_array_equal(again.result.draws, sampler.result.draws)
    with pytest.raises(LoggedError):
        run(problem(second, output=output))
    run(problem(second, output=output, force=True))
    assert second.calls > 20
    for minimal, files in (
        (True, {"chain.rnshmc.jsonl"}),
        (False, {"chain.rnshmc.jsonl", "chain.1.txt", "chain.logZ"}),
    ):
        left = sampler.output_files_regexps(output=sampler.output, info=None, minimal=minimal)
        names = {path.name for path in tmp_path.iterdir() if any(regexp.match(path.name) for regexp, _ in left)}
        assert names == files


def test_draws_that_are_not_evaluated_have_priors_alone() -> None:
    likelihood = Counted()
    _, sampler = run(problem(likelihood))
    table = sampler.products()["sample"].data
    assert likelihood.calls < sampler.result.spent.values + 5
    assert table["chi2"].isna().all()
    np.testing.assert_allclose(table["minuslogprior"], np.log(60 * 40), rtol=1e-12)
    mean = sampler.result.mean
    assert (np.abs(mean.value - [4.0, 1.0]) < z_bound(2) * mean.standard_error).all()


def test_a_point_of_reference_is_the_start_and_the_prior_its_scale() -> None:
    _, sampler = run(problem(Counted()))
    starts, scale = sampler._expected(np.random.default_rng(1))
    assert (starts[:, 0] == 3.0).all()
    # Of uniform variables: kurtosis 1.8.
    assert (
        np.abs(scale.std(axis=0) / (np.array([60, 40]) / np.sqrt(12)) - 1) < z_bound(2) * np.sqrt(0.8 / 4 / 400)
    ).all()


def line(log_density: Any, ref: Any = None) -> dict[str, Any]:
    a = {"prior": {"min": 0, "max": 10}, **({} if ref is None else {"ref": ref})}
    return {
        "likelihood": {"line": {"external": log_density}},
        "params": {"a": a},
        "sampler": {"rnshmc.cobaya.RNSHMC": {"draws": 40}},
    }


def test_where_the_density_is_zero_at_the_median_other_references_are_tried() -> None:
    # The median of the prior is 5.
    _, sampler = run(line(lambda a: -np.inf if a > 4 else -5 * (a - 1) ** 2))
    mean = sampler.result.mean
    assert abs(mean.value[0] - 1) < z_bound() * mean.standard_error[0] + 1e-2


def test_a_reference_on_a_bound_is_moved_inside() -> None:
    _, sampler = run(line(lambda a: -5 * (a - 3) ** 2, ref=0))
    starts, _ = sampler._expected(np.random.default_rng(1))
    # By a hundredth of the prior's standard deviation; that of 400 draws is off by 4% at most.
    assert starts[0, 0] == pytest.approx(0.01 * 10 / np.sqrt(12), rel=0.1)
    assert abs(sampler.result.mean.value[0] - 3) < z_bound() * sampler.result.mean.standard_error[0] + 1e-2


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-np.inf, "ref: the density is 0 at all of 401 drawn starts; give one where it is positive"),
        (np.nan, r"ref: the target cannot be evaluated \(the log density is nan\) at all of 20 drawn starts"),
    ],
)
def test_where_no_reference_can_be_a_start_the_error_names_them(value: float, message: str) -> None:
    with pytest.raises(rnshmc.ParameterError, match=message):
        run(line(lambda a: value * a))


def test_draws_that_cobaya_cannot_take_are_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import rnshmc.cobaya as adapter

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(adapter.RNSHMC, "_collected", fail)
    with pytest.raises(rnshmc.ConversionError, match="OSError: disk full") as caught:
        run(line(lambda a: -5 * (a - 3) ** 2))
    assert caught.value.result.draws.shape == (40, 1)


def test_the_seed_is_cobayas() -> None:
    def draws(**seeded: int) -> Any:
        info = problem(Counted())
        info["sampler"]["rnshmc.cobaya.RNSHMC"].update(seeded)
        return run(info)[1].result.draws

    assert draws(seed=3).tobytes() == draws(seed=3).tobytes() != draws().tobytes()
