"""Problems of pyPESTO: ``pypesto.sample.sample(problem, sampler=rnshmc.pypesto.Sampler())``.

It needs the extra ``pypesto``: ``pip install ".[pypesto]"`` in a clone of the repository.
"""

import logging
from functools import partial
from typing import Any

import numpy as np
from pypesto import Problem
from pypesto.C import MODE_RES
from pypesto.result import McmcPtResult
from pypesto.sample import Sampler as SamplerOfPypesto

from rnshmc.errors import ParameterError
from rnshmc.inference.call import sample
from rnshmc.inference.exact.forward import LeastSquares
from rnshmc.inference.result.converting import carried
from rnshmc.inference.result.result import Result
from rnshmc.inference.stages.starts import moved_inside
from rnshmc.types import Array

DRAWS = 2000
"""Default number of draws."""

STEP = 0.05
"""The objective and its residuals are compared at this fraction of the way to the farther bound."""
ROUNDING = 1e-6
"""Relative difference between the two that counts as rounding: a simulation is as precise as its solver."""

_log = logging.getLogger(__name__)


class Sampler(SamplerOfPypesto):  # type: ignore[misc]
    """`rnshmc.sample` as a pyPESTO sampler, for objectives that are expensive to evaluate.

    It takes bounds, names, fixed parameters and priors from the problem, and the gradient of the objective if
    available. Parameters are on the problem's scales, as everywhere in pyPESTO.

    Parameters
    ----------
    outputs
        Whether to emulate the residuals of the objective, like the outputs of a `rnshmc.Model`, instead of its value.
        Half their sum of squares has to equal the objective up to a constant; with AMICI and estimated noise, this
        needs ``amici_model.set_add_sigma_residuals(True)``. ``log_evidence`` of the result then assumes normal errors.
    settings
        Further arguments of `rnshmc.sample`, such as ``seed``, ``scale``, ``filepath``, ``budget`` or ``pool``.
    """

    def __init__(self, *, outputs: bool = False, **settings: Any) -> None:
        super().__init__()
        self._outputs = outputs
        self._settings = settings
        self._problem: Problem | None = None
        self._starts: Array = np.zeros((0, 0))
        self._constant = 0.0
        self.result: Result | None = None
        """The `rnshmc.Result`, with corrected expectations and the verdict; None before `sample`."""

    def initialize(self, problem: Problem, x0: Any) -> None:
        """Set the problem and one or several starts; without a start, use the middle of the bounds.

        Starts on a bound, or beyond, are moved inside by a hundredth of what is between the bounds, or of the bound's
        own size and 1 where there is but one. Raises `ParameterError` if there is no start, and a bound is infinite.
        """
        low, high = problem.lb, problem.ub
        if x0 is None and not np.isfinite([low, high]).all():
            raise ParameterError("x0: some bounds are infinite; give a start, or run an optimization first")
        starts = np.atleast_2d(0.5 * (low + high) if x0 is None else np.asarray(x0, dtype=np.float64))
        if starts.shape[1] == problem.dim_full:
            starts = starts[:, problem.x_free_indices]
        # If one bound is infinite, scale by the other.
        sizes = 1.0 + np.where(np.isfinite(low), np.abs(low), np.where(np.isfinite(high), np.abs(high), 0.0))
        width = np.where(np.isfinite(high - low), high - low, sizes)
        self._starts = moved_inside(starts, low, high, width)
        self._problem, self.result = problem, None

    def sample(self, n_samples: int | None, beta: float = 1.0) -> None:
        """Make ``n_samples`` draws, `DRAWS` by default; their number also sets the precision.

        Raises `ParameterError` if there is no problem yet, ``beta`` is not 1, or the objective is not that of residuals
        where ``outputs`` are asked for; and what `rnshmc.sample` raises.
        """
        if self._problem is None:
            raise ParameterError("sample: call initialize(problem, x0) first")
        if beta != 1.0:
            raise ParameterError(f"beta: rnshmc samples the posterior itself, at 1, got {beta}")
        problem = self._problem
        target: Any = LogDensity(problem)
        if self._outputs:
            target, self._constant = least_squares(problem, self._starts[0])
        self.result = sample(
            target,
            self._starts,
            draws=DRAWS if n_samples is None else int(n_samples),
            names=[problem.x_names[i] for i in problem.x_free_indices],
            bounds=list(zip(problem.lb, problem.ub, strict=True)),
            **self._settings,
        )
        level = logging.INFO if self.result.verdict.level == "good" else logging.WARNING
        _log.log(level, "%s", self.result.verdict)

    def get_samples(self) -> McmcPtResult:
        """The draws as a pyPESTO result: one chain of the free parameters, without warm-up.

        Where no surrogate was used, it has the exact chains one after the other. Exact negative log posteriors are
        known there; they are NaN at the draws of a surrogate. ``message`` is the verdict. Raises `ParameterError` if
        nothing was sampled yet.
        """
        if self.result is None or self._problem is None:
            raise ParameterError("get_samples: call sample first")
        with carried(self.result):
            return self._converted(self._problem, self.result)

    def _converted(self, problem: Problem, result: Result) -> McmcPtResult:
        draws = result.draws
        values = np.full(len(draws), np.nan)
        if result.outcome.surrogate is None:
            each = -(-len(draws) // max(len(result.chains), 1))
            draws = result.chains[:, :each].reshape(-1, draws.shape[1])
            values = self._constant - result.log_densities[:, :each].reshape(-1)
        prior = problem.x_priors
        return McmcPtResult(
            trace_x=draws[None],
            trace_neglogpost=values[None],
            trace_neglogprior=np.array([[0.0 if prior is None else float(prior(x)) for x in draws]]),
            betas=np.ones(1),
            burn_in=0,
            message=str(result.verdict),
        )


class LogDensity:
    """The log posterior density of a pyPESTO problem in its free parameters, with its gradient if available."""

    def __init__(self, problem: Problem) -> None:
        self._objective = problem.objective
        self._prior = problem.x_priors
        self._orders = (0, 1) if problem.objective.has_grad else (0,)

    def __call__(self, x: Array) -> Any:
        """The log density at x, or the pair (log density, gradient); -inf where the prior is zero.

        Raises `ArithmeticError` if the objective is infinite elsewhere, as AMICI's is where a simulation fails.
        `rnshmc.sample` counts such failures.
        """
        found = self._objective(x, sensi_orders=self._orders)
        if (found[0] if len(self._orders) == 2 else found) == np.inf:
            if self._prior is not None and float(self._prior(x)) == np.inf:
                return -np.inf
            raise ArithmeticError("the objective is infinite: a simulation failed, or the density is zero")
        return (-found[0], -np.asarray(found[1])) if len(self._orders) == 2 else -found


def least_squares(problem: Problem, x: Array) -> tuple[LeastSquares, float]:
    """The posterior of a problem from its residuals, and the objective minus its negative log density, a constant.

    The objective and the residuals are evaluated at x, (d,), inside the bounds, and at a point beside it. Raises
    `ParameterError` if there are no residuals, or half the sum of their squares is not the objective up to a constant.
    """
    objective = problem.objective
    if not objective.has_res:
        raise ParameterError("outputs: the objective has no residuals; sample without outputs=True")
    residuals, jacobian = (partial(objective, sensi_orders=(order,), mode=MODE_RES) for order in (0, 1))
    # Towards the farther bound, so that each coordinate moves.
    up, down = (np.where(np.isfinite(side), np.abs(side - x), 1.0) for side in (problem.ub, problem.lb))
    beside = x + STEP * np.where(up >= down, up, -down)
    found = [(float(objective(point)), np.asarray(residuals(point))) for point in (x, beside)]
    constants = [value - 0.5 * float(rest @ rest) for value, rest in found]
    largest = max(1.0, *(abs(value) for value, _ in found))
    if not abs(constants[1] - constants[0]) < ROUNDING * largest:
        raise ParameterError(
            f"outputs: the objective minus half the sum of squared residuals is {constants[0]:.6g} at one point and "
            f"{constants[1]:.6g} at another; the difference has to be constant. Sample without outputs=True"
        )
    size = len(found[0][1])
    model = LeastSquares(residuals, np.zeros(size), 1.0, jacobian=jacobian if objective.has_sres else None)
    return model, constants[0] - 0.5 * size * float(np.log(2.0 * np.pi))
