"""PEtab problems, compiled by AMICI: their gradients and residuals."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.conftest import z_bound

pytest.importorskip("amici", reason="amici is not installed")

ROOT = Path(__file__).parents[2]
SD = 0.03


def test_the_page_runs_and_has_the_posterior_of_quadrature(
    docs_output: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names, _ = docs_output.run_page(ROOT / "docs/petab.md")
    times, measured = np.loadtxt(tmp_path / "measurements.tsv", skiprows=1, usecols=(2, 3), unpack=True)
    grid = np.meshgrid(np.linspace(-0.75, -0.35, 401), np.linspace(-1.2, -0.3, 901), indexing="ij")
    k1, k2 = 10.0 ** grid[0][..., None], 10.0 ** grid[1][..., None]
    concentration = (k2 + k1 * np.exp(-(k1 + k2) * times)) / (k1 + k2)
    log_density = -0.5 * (((measured - concentration) / SD) ** 2).sum(axis=-1)
    weights = np.exp(log_density - log_density.max())
    # Next to nothing is left out by the grid.
    assert max(weights[0].max(), weights[-1].max(), weights[:, 0].max(), weights[:, -1].max()) < 1e-5
    weights /= weights.sum()
    for sampler, gradients in ((names["sampler"], True), (names["emulated"], False)):
        result = sampler.result
        assert result.names == ("k1", "k2")
        assert result.verdict.level == "good", result.verdict
        # Two check the gradient.
        assert (result.spent.gradients > 2) == gradients
        for i, values in enumerate(grid):
            mean = (weights * values).sum()
            sd = np.sqrt((weights * (values - mean) ** 2).sum())
            assert abs(result.mean.value[i] - mean) < z_bound(8) * result.mean.standard_error[i] + 1e-3 * sd
            assert abs(result.sd.value[i] - sd) < z_bound(8) * result.sd.standard_error[i] + 1e-3 * sd
            assert result.mean.standard_error[i] < 0.1 * sd
    assert names["emulated"].result.outcome.emulated is not None
