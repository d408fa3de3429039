"""A PEtab problem for the samplers: its potential, counted, and the problem of pyPESTO with that as its objective."""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pypesto
from peers.counted import Counted
from peers.problems import Problem
from petab_suite.model import ObjectivePotential, load
from pypesto.C import FVAL, GRAD, MODE_FUN
from pypesto.objective import ObjectiveBase

from rnshmc.types import Array


class CountedObjective(ObjectiveBase):  # type: ignore[misc]
    """A counted potential as an objective of pyPESTO, of the free parameters."""

    def __init__(self, target: Counted) -> None:
        super().__init__()
        self._target = target

    def call_unprocessed(  # as pyPESTO calls it
        self,
        x: Array,
        sensi_orders: tuple[int, ...],
        mode: str,  # noqa: ARG002
        return_dict: bool,  # noqa: ARG002
        **_: Any,
    ) -> dict[str, Any]:
        if 1 not in sensi_orders:
            return {FVAL: -self._target.log_density(x)}
        log_density, gradient = self._target.log_density_and_gradient(x)
        return {FVAL: -log_density, GRAD: -gradient}

    def check_sensi_orders(self, sensi_orders: tuple[int, ...], mode: str) -> bool:
        return self.check_mode(mode) and max(sensi_orders) <= 1

    def check_mode(self, mode: str) -> bool:
        return bool(mode == MODE_FUN)

    def __deepcopy__(self, _: dict[int, Any]) -> "CountedObjective":
        """Itself: tempered chains have a problem each, and one count."""
        return self


@dataclass(frozen=True)
class PetabProblem(Problem):
    """A problem from its nominal values, in its parameters on their scales."""

    posed: pypesto.Problem = field(kw_only=True)
    max_seconds: float = field(kw_only=True)
    """Processor time that a run may take."""

    def counted(self, target: Counted) -> pypesto.Problem:
        """The problem of pyPESTO with an objective whose evaluations are counted."""
        made = copy.copy(self.posed)
        made.objective = CountedObjective(target)
        return made


def make_problem(problem: Path, build: Path, max_seconds: float) -> PetabProblem:
    """A problem by its folder, compiled in ``build``."""
    posed, nominal = load(problem, build)
    width = posed.ub - posed.lb
    return PetabProblem(
        potential=ObjectivePotential(posed),
        start=nominal,
        spread=0.0,
        low=posed.lb,
        high=posed.ub,
        scale=0.25 * width,
        variables=np.asarray,
        posed=posed,
        max_seconds=max_seconds,
    )
