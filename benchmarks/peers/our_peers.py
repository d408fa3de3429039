"""`rnshmc.sample`, with gradients and without, and of a forward model, as a user calls it."""

from collections.abc import Callable

import numpy as np
from peers.counted import Counted
from peers.forward import ForwardProblem
from peers.likelihoods import LogNormal
from peers.measures import Moments
from peers.outcome import Outcome
from peers.problems import Problem

import rnshmc
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.result import Result
from rnshmc.inference.stages.correction import STAGE as CORRECTION
from rnshmc.inference.tuning import DEFAULT
from rnshmc.types import Array


def rnshmc_gradient(target: Counted, problem: Problem, seed: int) -> Outcome:
    """rnshmc.sample on log density and gradient, 2000 draws: errors are to be those of 1000 independent ones."""
    result = rnshmc.sample(target.log_density_and_gradient, _starts(problem, seed), seed=seed, progress_bar=False)
    return outcome_of(result, problem)


def rnshmc_values(target: Counted, problem: Problem, seed: int) -> Outcome:
    """rnshmc.sample on the log density alone."""
    result = rnshmc.sample(target.log_density, _starts(problem, seed), gradient=False, seed=seed, progress_bar=False)
    return outcome_of(result, problem)


def _starts(problem: Problem, seed: int) -> Array:
    """One start, or more than are needed where there are several modes: it ends when they lead to no further one."""
    rng = np.random.default_rng(seed)
    return problem.starts(rng, 4 * DEFAULT.modes.quiet) if problem.modes > 1 else problem.starts(rng, 1)[0]


def rnshmc_model(target: Counted, problem: Problem, seed: int) -> Outcome:
    """rnshmc.sample on a forward model without derivatives: it learns the outputs."""
    model = problem.model
    assert model is not None, "this peer needs a forward model"
    start = model.parameters(problem.starts(np.random.default_rng(seed), 1)[0])
    bounds = {name: "positive" for name, positive in zip(model.names, model.positive, strict=True) if positive}
    posterior = as_model(model, target.forward)
    result = rnshmc.sample(posterior, start, names=model.names, bounds=bounds, seed=seed, progress_bar=False)
    return outcome_of(result, problem)


def as_model(problem: ForwardProblem, forward: Callable[[Array], Array]) -> rnshmc.Model:
    """A problem as rnshmc takes it, its model run by ``forward``."""
    # Log-normal errors of several sizes take turns: each has a column of the data.
    columns = len(problem.likelihood.sd) if isinstance(problem.likelihood, LogNormal) else 1
    shape = (-1, columns) if columns > 1 else (-1,)
    kinds = np.where(problem.prior.logarithmic, "lognormal", "normal")
    numbers = zip(problem.names, kinds, problem.prior.mean, problem.prior.sd, strict=True)
    return rnshmc.Model(
        lambda x: forward(x).reshape(shape),
        problem.data.reshape(shape),
        likelihood=problem.likelihood.ours(),
        prior={name: (str(kind), float(mean), float(sd)) for name, kind, mean, sd in numbers},
    )


def outcome_of(result: Result, problem: Problem) -> Outcome:
    """A result of rnshmc as that of a peer."""
    mean, variance, kurtosis = _moments(result, problem)
    own = (
        1.0 / np.mean(mean.standard_error**2 / variance.value),
        1.0 / np.mean((variance.standard_error / variance.value) ** 2 / (kurtosis - 1.0)),
    )
    by_stage = result.outcome.by_stage
    # The correction's exact values only make it more precise; all before them is for the surrogate.
    warmup = result.spent.units - by_stage[CORRECTION].units if CORRECTION in by_stage else np.nan
    says = f"{result.verdict.level}, {result.outcome.method}, sd(U - V) {result.outcome.surrogate_error:.2f}"
    good = result.verdict.level == "good"
    return Outcome(
        mean.value,
        variance.value,
        says,
        good,
        (float(own[0]), float(own[1])),
        float(warmup),
        standard_error=np.stack([mean.standard_error, variance.standard_error]),
        findings=tuple(finding.text for finding in result.verdict.findings if finding.level != "good"),
    )


def _moments(result: Result, problem: Problem) -> tuple[Estimate, Estimate, Array]:
    """Corrected means and variances of what is compared, and kurtoses."""
    seen = problem.variables
    if seen is None:
        return result.outcome.mean, result.outcome.variance, Moments.of(result.draws).kurtosis
    mean = result.expectation(seen)
    variance = result.expectation(lambda q: (seen(q) - mean.value) ** 2)
    return mean, variance, Moments.of(seen(result.draws)).kurtosis
