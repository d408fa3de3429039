"""bilby's sampler takes priors and names, and returns draws and the evidence."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import rnshmc
from tests.conftest import z_bound

bilby = pytest.importorskip("bilby", reason="bilby is not installed")

ROOT = Path(__file__).parents[2]


def test_the_page_runs_and_has_the_evidence_of_quadrature(
    docs_output: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names, _ = docs_output.run_page(ROOT / "docs/bilby.md")
    result, x, y = names["result"], names["x"], names["y"]
    slope, level = np.meshgrid(np.linspace(1.5, 2.5, 401), np.linspace(0.7, 1.3, 401), indexing="ij")
    misfit = ((y - slope[..., None] * x - level[..., None]) ** 2).sum(axis=-1)
    log_density = -0.5 * misfit / 0.01 - 10 * np.log(2 * np.pi * 0.01)
    log_density += np.log(1 / 5) - 0.5 * (level / 2) ** 2 - 0.5 * np.log(2 * np.pi * 4)
    density = np.exp(log_density - log_density.max())
    evidence = log_density.max() + np.log(density.sum() * (1.0 / 400) * (0.6 / 400))
    assert abs(result.log_evidence - evidence) < z_bound() * result.log_evidence_err + 1e-6
    assert result.log_evidence_err < 0.1
    weights = density / density.sum()
    for name, grid in (("slope", slope), ("level", level)):
        mean = (weights * grid).sum()
        sd = np.sqrt((weights * (grid - mean) ** 2).sum())
        # The draws have the errors of half as many independent ones.
        assert abs(result.posterior[name].mean() - mean) < z_bound(2) * sd / np.sqrt(500)
    assert len(result.posterior) == 1000
    assert "sd(U - V)" in result.meta_data["rnshmc"]


def test_a_seed_gives_the_same_run_and_each_evaluation_counts(tmp_path: Path) -> None:
    asked: list[float] = []

    class Likelihood(bilby.Likelihood):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__(parameters={"a": 0.0})

        def log_likelihood(self, parameters: dict[str, float] | None = None) -> float:
            a = float((parameters or self.parameters)["a"])
            asked.append(a)
            return -0.5 * (a - 1.0) ** 2

    def run(label: str) -> list[float]:
        asked.clear()
        bilby.core.utils.random.seed(len(label))
        found = bilby.run_sampler(
            Likelihood(),
            {"a": bilby.core.prior.Normal(0.0, 2.0)},
            sampler="rnshmc",
            draws=100,
            seed=3,
            label=label,
            outdir=str(tmp_path),
            progress_bar=False,
        )
        # Two calls are bilby's own checks of parameters and of a ratio of likelihoods.
        assert len(asked) - found.num_likelihood_evaluations <= 2
        return list(asked)

    assert run("one")[-20:] == run("another")[-20:]


def found(likelihood: Any, priors: Any, folder: Path, **settings: Any) -> Any:
    given = {"draws": 400, "seed": 3, "outdir": str(folder), "save": False, "progress_bar": False, **settings}
    return bilby.run_sampler(likelihood, priors, sampler="rnshmc", **given)


class Normal(bilby.Likelihood):  # type: ignore[name-defined, misc]
    """A normal density of a and b around 1 and 2, with standard deviation 0.2; nothing where a solver fails."""

    def __init__(self, fails: float = np.inf) -> None:
        super().__init__(parameters={"a": 0.0, "b": 0.0})
        self.fails = fails

    def log_likelihood(self, parameters: dict[str, float] | None = None) -> float:
        given = parameters or self.parameters
        if given["a"] > self.fails:
            return float(np.nan_to_num(-np.inf))
        return float(-0.5 * ((given["a"] - 1.0) ** 2 + (given["b"] - 2.0) ** 2) / 0.04)


def test_a_bound_that_depends_on_another_parameter_is_none(tmp_path: Path) -> None:
    def below(reference_params: dict[str, float], b: float) -> dict[str, float]:
        return {"minimum": reference_params["minimum"], "maximum": b}

    priors = bilby.core.prior.ConditionalPriorDict(
        {
            "b": bilby.core.prior.Uniform(0.5, 4.0, "b"),
            "a": bilby.core.prior.ConditionalUniform(below, name="a", minimum=0.0, maximum=4.0),
        }
    )
    result = found(Normal(), priors, tmp_path)
    # The bound is 3.5 standard deviations away, a mass of 2e-4 beyond it; the prior of a is 1 / b.
    grid = np.linspace(0.8, 3.2, 2001)
    weights = np.exp(-0.5 * (grid - 2.0) ** 2 / 0.04) / grid
    for name, mean in (("a", 1.0), ("b", (weights * grid).sum() / weights.sum())):
        assert abs(result.posterior[name].mean() - mean) < z_bound(2) * 0.2 / np.sqrt(200)
    evidence = np.log(2 * np.pi * 0.04 / 3.5 * weights.sum() / np.exp(-0.5 * (grid - 2.0) ** 2 / 0.04).sum())
    assert abs(result.log_evidence - evidence) < z_bound(2) * result.log_evidence_err + 1e-3


def test_a_constraint_is_a_part_of_the_prior(tmp_path: Path) -> None:
    def with_gap(parameters: dict[str, Any]) -> dict[str, Any]:
        return {**parameters, "gap": parameters["b"] - parameters["a"]}

    def priors() -> Any:
        """New priors, without a cached estimate of the constraints' share."""
        made = {
            "a": bilby.core.prior.Uniform(0.0, 4.0, "a"),
            "b": bilby.core.prior.Uniform(0.0, 4.0, "b"),
            "gap": bilby.core.prior.Constraint(0.0, 4.0),
        }
        return bilby.core.prior.PriorDict(made, conversion_function=with_gap)

    file = tmp_path / "evaluations.jsonl"
    result = found(Normal(), priors(), tmp_path, filepath=file)
    # Half of the square is allowed, and the mass beyond its edge, at 1 / (0.2 sqrt(2)) deviations, is 2e-4.
    evidence = np.log(2 * np.pi * 0.04 / 16 * 2)
    assert abs(result.log_evidence - evidence) < z_bound(2) * result.log_evidence_err + 0.01
    bilby.core.utils.random.seed(99)
    again = found(Normal(), priors(), tmp_path, filepath=file)
    assert again.num_likelihood_evaluations <= 1


def test_a_likelihood_that_bilby_takes_for_impossible_is_zero(tmp_path: Path) -> None:
    priors = {name: bilby.core.prior.Uniform(-10.0, 10.0, name) for name in "ab"}
    result = found(Normal(fails=1.5), priors, tmp_path)
    # A normal variable that is at most 2.5 standard deviations above its mean.
    mean = 1.0 - 0.2 * norm.pdf(2.5) / norm.cdf(2.5)
    assert abs(result.posterior["a"].mean() - mean) < z_bound(2) * 0.2 / np.sqrt(200)
    assert result.posterior["a"].max() < 1.5


def test_where_the_likelihood_is_impossible_at_the_median_other_draws_are_tried(tmp_path: Path) -> None:
    # The median of a is 4, from where on it is impossible.
    priors = {"a": bilby.core.prior.Uniform(0.0, 8.0, "a"), "b": bilby.core.prior.Uniform(0.0, 4.0, "b")}
    result = found(Normal(fails=3.5), priors, tmp_path)
    assert abs(result.posterior["a"].mean() - 1.0) < z_bound(2) * 0.2 / np.sqrt(200)
    with pytest.raises(rnshmc.ParameterError, match="priors: the density is 0 at all of 401 drawn starts"):
        found(Normal(fails=-1.0), priors, tmp_path)


def test_discrete_priors_are_refused(tmp_path: Path) -> None:
    priors = {"a": bilby.core.prior.Categorical(3, "a"), "b": bilby.core.prior.Uniform(0.0, 4.0, "b")}
    with pytest.raises(rnshmc.ParameterError, match="priors: a are discrete"):
        found(Normal(), priors, tmp_path)
