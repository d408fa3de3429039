"""bilby's sampler: priors and names go in, draws and the evidence come out."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

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
