"""Verdicts on the equality of two samplers' posteriors."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.diagnostics.density import density, support
from rnshmc.random import stream
from rnshmc.results.marginals import MARGINAL_COLUMNS
from rnshmc.scorecard.measured import Tables
from tests.conftest import FAILURE, z_bound
from tests.scorecard.conftest import Find

N = 4000
Results = Callable[..., Tables]


def marginals(results: Results, shift: float, *, same_grid: bool) -> Tables:
    """Marginals of two samplers in three coordinates, one of which is shifted; each has 2 chains of N / 2 draws."""
    rng = stream(5, "marginals", str(same_grid))
    parts = []
    for k in range(3):
        draws = {"hmc": rng.standard_normal(N), "rns_hmc": rng.standard_normal(N) + (shift if k == 1 else 0.0)}
        for sampler, sample in draws.items():
            x, heights = density(sample, support(draws.values() if same_grid else [sample]))
            labels = {"problem": "bank", "sampler": sampler, "x_coordinate": k + 1, "data": "real"}
            parts.append(pd.DataFrame({**labels, "y_coordinate": pd.NA, "x": x, "y": math.nan, "density": heights}))
    table = pd.concat(parts)[list(MARGINAL_COLUMNS)]
    size = {"ess_median": N / 2}
    return {"fig6": table, **results({("bank", "hmc"): size, ("bank", "rns_hmc"): size}, chains=2)}


@pytest.mark.parametrize("same_grid", [True, False])
def test_marginals_agree_where_their_draws_are_of_one_law(find: Find, results: Results, same_grid: bool) -> None:
    arguments = {"table": "fig6", "sampler": "rns_hmc", "other": "hmc", "level": FAILURE, "ess": "ess_median"}
    alike = find(marginals(results, 0.0, same_grid=same_grid), "marginals", "bank", "rns_hmc", **arguments)
    # A shift by three critical distances moves a normal distribution function by more than two of them.
    critical = math.sqrt(math.log(6 / FAILURE) / N)
    shift = 3 * critical * math.sqrt(2 * math.pi)
    apart = find(marginals(results, shift, same_grid=same_grid), "marginals", "bank", "rns_hmc", **arguments)
    assert alike is not None
    assert apart is not None
    assert alike.estimate.value <= 1.0
    assert apart.estimate.value > 1.0
    assert alike.over == "3 coordinates"


def test_marginals_of_one_sampler_have_no_distance(find: Find, results: Results) -> None:
    tables = marginals(results, 0.0, same_grid=True)
    one = {**tables, "fig6": tables["fig6"][tables["fig6"]["sampler"] == "hmc"]}
    arguments = {"table": "fig6", "sampler": "rns_hmc", "other": "hmc", "level": 0.01, "ess": "ess_median"}
    assert find(one, "marginals", "bank", "rns_hmc", **arguments) is None


def test_agreement_is_read_from_its_table(find: Find) -> None:
    row = {"problem": "cover_type", "chains": 2, "data": "real", "max_abs_z": 2.0, "threshold": 4.0, "spread": 1.5}
    rows = [
        {**row, "sampler": "nng_hmc", "against": "hmc", "agrees": True},
        {**row, "sampler": "sghmc_a", "against": "hmc", "agrees": pd.NA},
        {**row, "sampler": "rns_hmc", "against": "reference", "agrees": True},
    ]
    tables = {"agreement": pd.DataFrame(rows)}
    z = {"column": "max_abs_z", "over": "threshold"}
    found = [
        find(tables, "agreement", "cover_type", "nng_hmc", **z),
        find(tables, "agreement", "cover_type", "sghmc_a", column="spread"),
        find(tables, "agreement", "cover_type", "sghmc_a", **z),
        find(tables, "agreement", "cover_type", "nng_hmc", column="spread"),
    ]
    values = [number.estimate.value for number in found if number is not None]
    assert_allclose(values, [0.5, math.nan, math.nan, 1.5])
    assert find(tables, "agreement", "cover_type", "rns_hmc", **z) is None


def test_a_variance_has_the_error_of_its_draws(find: Find) -> None:
    draws = stream(5, "draws").standard_normal(N)
    tables = {"d": pd.DataFrame({"sampler": "hmc", "x": draws, "repeat": np.arange(N) % 2})}
    found = find(tables, "variance", table="d", column="x", sampler="hmc", per="repeat")
    assert found is not None
    assert found.over == "2 chains"
    # Squares of normal draws have the variance 2.
    assert abs(found.estimate.value - 1.0) < z_bound() * math.sqrt(2 / N)
    assert_allclose(found.estimate.error, math.sqrt(2 / N), rtol=0.3)
