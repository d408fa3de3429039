"""Ranks that run one chain together stay equal, or report a difference."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rnshmc.run.replicated import replicate
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array, Potential, RiemannianPotential

PROGRAM = Path(__file__).with_name("replicated_program.py")


@pytest.mark.parametrize("case", ["rounding", "evaluations", "decisions"])
def test_what_rank_0_finds_is_what_counts(case: str, on_ranks: Callable[..., str]) -> None:
    on_ranks(2, PROGRAM, case)


@pytest.mark.parametrize(("case", "message"), [("streams", "position is"), ("starts", "position is 1e-06 away")])
def test_ranks_that_do_not_run_one_chain_are_an_error_on_all_of_them(
    case: str, message: str, on_ranks: Callable[..., str]
) -> None:
    assert on_ranks(2, PROGRAM, case).count(f"rank 1: its {message}") == 2


class Flat:
    """A potential without a metric."""

    dim = 2

    def value(self, q: Array) -> float:
        return 0.0

    def gradient(self, q: Array) -> Array:
        return np.zeros(2)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return 0.0, np.zeros(2)


@pytest.mark.parametrize(("potential", "bends"), [(Gaussian(np.zeros(2), np.eye(2)), True), (Flat(), False)])
def test_a_replicated_potential_has_a_metric_if_it_had_one_before(potential: Potential, bends: bool) -> None:
    replicated = replicate(potential, comm=None)
    assert isinstance(replicated, Potential)
    assert isinstance(replicated, RiemannianPotential) == bends
