"""Problems of pyPESTO: ``pypesto.sample.sample(problem, sampler=rnshmc.pypesto.Sampler())``.

It needs ``pip install rnshmc[pypesto]``.
"""

import logging
from typing import Any

import numpy as np
from pypesto import Problem
from pypesto.result import McmcPtResult
from pypesto.sample import Sampler as SamplerOfPypesto

from rnshmc.errors import ParameterError
from rnshmc.inference.call import sample
from rnshmc.inference.result.result import Result
from rnshmc.types import Array

MARGIN = 0.01
"""Least distance of a start from its bounds, as a part of what is between them: optima lie on bounds."""
DRAWS = 2000
"""Draws where their number is left to the sampler."""

_log = logging.getLogger(__name__)


class Sampler(SamplerOfPypesto):  # type: ignore[misc]
    """`rnshmc.sample` as a sampler of pyPESTO, for objectives that are expensive to evaluate.

    It takes bounds, names, fixed parameters and priors of the problem, and the gradient of the objective if there is
    one. Parameters are on the scales of the problem, as everywhere in pyPESTO.

    Parameters
    ----------
    settings
        Further arguments of `rnshmc.sample`, such as ``seed``, ``scale``, ``filepath``, ``budget`` or ``pool``.

    Attributes
    ----------
    result
        The `rnshmc.Result`, with corrected expectations and the verdict; None before `sample`.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = settings
        self._problem: Problem | None = None
        self._starts: Array = np.zeros((0, 0))
        self.result: Result | None = None

    def initialize(self, problem: Problem, x0: Any) -> None:
        """Take a problem, and one start or several; without one, the middle of the bounds.

        Starts on a bound, or beyond, are moved inside by `MARGIN` of what is between the bounds.

        Raises
        ------
        ParameterError
            If there is no start, and a bound is infinite.
        """
        low, high = problem.lb, problem.ub
        if x0 is None and not np.isfinite([low, high]).all():
            raise ParameterError("x0: there are infinite bounds; give a start, or run an optimization first")
        starts = np.atleast_2d(0.5 * (low + high) if x0 is None else np.asarray(x0, dtype=np.float64))
        if starts.shape[1] == problem.dim_full:
            starts = starts[:, problem.x_free_indices]
        width = np.where(np.isfinite(high - low), high - low, 0.0)
        self._starts = np.clip(starts, low + MARGIN * width, high - MARGIN * width)
        self._problem, self.result = problem, None

    def sample(self, n_samples: int | None, beta: float = 1.0) -> None:
        """Sample.

        Parameters
        ----------
        n_samples
            Number of draws; None: `DRAWS`. It sets the precision, too.
        beta
            There is only 1.

        Raises
        ------
        ParameterError
            If there is no problem yet, or beta is not 1; and what `rnshmc.sample` raises.
        """
        if self._problem is None:
            raise ParameterError("sample: call initialize(problem, x0) first")
        if beta != 1.0:
            raise ParameterError(f"beta: rnshmc samples the posterior itself, at 1, got {beta}")
        problem = self._problem
        self.result = sample(
            LogDensity(problem),
            self._starts,
            draws=DRAWS if n_samples is None else int(n_samples),
            names=[problem.x_names[i] for i in problem.x_free_indices],
            bounds=list(zip(problem.lb, problem.ub, strict=True)),
            **self._settings,
        )
        level = logging.INFO if self.result.verdict.level == "good" else logging.WARNING
        _log.log(level, "%s", self.result.verdict)

    def get_samples(self) -> McmcPtResult:
        """The draws as pyPESTO has them: one chain without warm-up, of the free parameters.

        Exact negative log posteriors are known where the exact density decided; they are NaN at the draws of a
        surrogate. ``message`` is the verdict.

        Raises
        ------
        ParameterError
            If nothing was sampled yet.
        """
        if self.result is None or self._problem is None:
            raise ParameterError("get_samples: nothing was sampled yet")
        draws = self.result.draws
        unknown = np.full((1, len(draws)), np.nan)
        known = -self.result.log_densities.T.reshape(1, -1)[:, : len(draws)]
        prior = self._problem.x_priors
        return McmcPtResult(
            trace_x=draws[None],
            trace_neglogpost=known if self.result.outcome.surrogate is None else unknown,
            trace_neglogprior=np.array([[0.0 if prior is None else float(prior(x)) for x in draws]]),
            betas=np.ones(1),
            burn_in=0,
            message=str(self.result.verdict),
        )


class LogDensity:
    """The log posterior density of a problem of pyPESTO, of its free parameters, with its gradient if it has one."""

    def __init__(self, problem: Problem) -> None:
        self._objective = problem.objective
        self._orders = (0, 1) if problem.objective.has_grad else (0,)

    def __call__(self, x: Array) -> Any:
        """The log density at x, or the pair of it and its gradient; -inf where the objective is infinite."""
        found = self._objective(x, sensi_orders=self._orders)
        return (-found[0], -np.asarray(found[1])) if len(self._orders) == 2 else -found
