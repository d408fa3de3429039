"""A recipe becomes a kernel only with all its parts."""

from typing import Any

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.run.phases import make_kernel
from rnshmc.run.sample import run_sampler
from rnshmc.types import Array


class Normal:
    """N(0, I) in two dimensions, which counts how often it is asked."""

    dim = 2

    def __init__(self) -> None:
        self.asked = 0

    def value(self, q: Array) -> float:
        self.asked += 1
        return 0.5 * float(q @ q)

    def gradient(self, q: Array) -> Array:
        self.asked += 1
        return q.copy()

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        self.asked += 1
        return 0.5 * float(q @ q), q.copy()


@pytest.mark.parametrize(
    ("sampler", "driver", "options", "message"),
    [
        ("hmc", Normal(), {}, "driver: hmc is driven by the exact potential alone"),
        ("rns_hmc", None, {}, "driver: rns_hmc is driven by a fitted 'random_network'"),
        ("rmhmc", None, {}, "driver: .* has no metric"),
        ("arns_hmc", Normal(), {"offset": 1.0, "exponent": 1.0}, "driver: .* does not learn"),
        ("rns_rmhmc", Normal(), {}, "options: rns_rmhmc needs metric"),
        ("arns_hmc", Normal(), {"offset": 1.0}, "options: arns_hmc needs exponent"),
        ("nng_hmc", None, {}, "driver: nng_hmc is driven by a fitted 'gradient_network'"),
        ("sghmc", None, {"batch_size": 2}, "options: sghmc needs friction"),
        ("sghmc_mh", None, {"batch_size": 2}, "potential: sghmc_mh needs mini-batches, which Normal does not provide"),
        ("nuts", None, {}, "sampler: no recipe named 'nuts'"),
    ],
)
def test_what_does_not_fit_a_recipe_is_named(
    sampler: str, driver: Normal | None, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        make_kernel(Normal(), driver, sampler=sampler, step_size=0.1, n_steps=(1, 1), options=options)


@pytest.mark.parametrize(
    ("sampler", "options", "message"),
    [
        ("arns_hmc", {}, "options: arns_hmc needs offset and exponent"),
        ("sghmc_mh", {"batch_size": 2}, "potential: sghmc_mh needs mini-batches, which Normal does not provide"),
        ("rmhmc", {}, "driver: .* has no metric"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_evaluated(
    sampler: str, options: dict[str, Any], message: str
) -> None:
    target = Normal()
    with pytest.raises(ParameterError, match=message):
        run_sampler(
            target,
            sampler=sampler,
            options=options,
            start=np.zeros(2),
            step_size=0.1,
            n_steps=(1, 1),
            iterations=10,
            explore_iterations=10,
            surrogate={"hidden_units": 5, "ridge": 1e-6} if sampler == "arns_hmc" else {},
        )
    assert target.asked == 0
