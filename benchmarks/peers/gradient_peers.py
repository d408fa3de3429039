"""NUTS as people run it: nutpie, BlackJAX, Mici. Two chains, warm-up as each package has it by default."""

from typing import Any

import arviz
import numpy as np
from peers.counted import Counted
from peers.measures import Moments, chain_draws
from peers.outcome import Outcome
from peers.problems import Problem

from rnshmc.types import Array

CHAINS = 2
DRAWS = 600
"""Kept draws of each chain."""
WARMUP = 1000
"""Iterations of warm-up of BlackJAX and Mici, as in Stan; nutpie has its own."""


def chain_outcome(chains: Array, warmup_units: float) -> Outcome:
    """Outcome of chains of shape (chains, n, dim): good by R-hat below 1.01 and 100 effective draws of each chain."""
    rhat = max(float(arviz.rhat(chains[:, :, k])) for k in range(chains.shape[2]))
    bulk = min(float(arviz.ess(chains[:, :, k], method="bulk")) for k in range(chains.shape[2]))
    moments = Moments.of(chains.reshape(-1, chains.shape[2]))
    good = rhat < 1.01 and bulk > 100 * len(chains)
    return Outcome(
        moments.mean,
        moments.variance,
        f"R-hat {rhat:.3f}, bulk ESS {bulk:.0f}",
        good,
        chain_draws(chains),
        warmup_units,
    )


def nutpie_diagonal(target: Counted, problem: Problem, seed: int) -> Outcome:
    """nutpie.sample with its defaults."""
    return _nutpie(target, problem, seed, low_rank=False)


def nutpie_low_rank(target: Counted, problem: Problem, seed: int) -> Outcome:
    """nutpie.sample with its low-rank mass matrix."""
    return _nutpie(target, problem, seed, low_rank=True)


def _nutpie(target: Counted, problem: Problem, seed: int, *, low_rank: bool) -> Outcome:
    import nutpie

    def log_density(q: Array) -> tuple[float, Array]:
        value, gradient = target.log_density_and_gradient(q)
        if not np.isfinite(value):
            raise _RecoverableError
        return value, gradient

    model = nutpie.compiled_pyfunc.from_pyfunc(
        target.dim,
        lambda: log_density,
        lambda *_: lambda q: {"q": np.asarray(q)},
        [np.dtype(np.float64)],
        [(target.dim,)],
        ["q"],
        make_initial_point_fn=lambda start_seed: problem.starts(np.random.default_rng(start_seed), 1)[0],
    )
    trace = nutpie.sample(
        model,
        draws=DRAWS,
        chains=CHAINS,
        cores=1,
        seed=seed,
        low_rank_modified_mass_matrix=low_rank,
        progress_bar=False,
    )
    warmup, kept = (int(stats["n_steps"].sum()) for stats in (trace.warmup_sample_stats, trace.sample_stats))
    chains = trace.posterior["q"].to_numpy()
    seen = chains if problem.variables is None else problem.variables(chains)
    return chain_outcome(seen, target.units * warmup / (warmup + kept))


class _RecoverableError(Exception):
    """Tells nutpie that a trajectory has left the support."""

    is_recoverable = True


def blackjax_nuts(target: Counted, problem: Problem, seed: int) -> Outcome:
    """blackjax.nuts after blackjax.window_adaptation with a diagonal mass matrix."""
    import blackjax
    import jax

    jax.config.update("jax_enable_x64", True)
    log_density = _through_jax(target)

    @jax.jit  # type: ignore[untyped-decorator]
    def chain(key: Any, start: Any) -> Any:
        adapting, sampling = jax.random.split(key)
        adaptation = blackjax.window_adaptation(blackjax.nuts, log_density, is_mass_matrix_diagonal=True)
        (state, parameters), warmup = adaptation.run(adapting, start, num_steps=WARMUP)
        step = blackjax.nuts(log_density, **parameters).step

        def advance(state: Any, key: Any) -> Any:
            state, info = step(key, state)
            return state, (state.position, info.num_integration_steps)

        _, (draws, steps) = jax.lax.scan(advance, state, jax.random.split(sampling, DRAWS))
        return draws, steps.sum(), warmup.info.num_integration_steps.sum()

    keys = jax.random.split(jax.random.key(seed), CHAINS)
    starts = problem.starts(np.random.default_rng(seed), CHAINS)
    draws, kept, warmup = zip(*(map(np.asarray, chain(*pair)) for pair in zip(keys, starts, strict=True)), strict=True)
    return chain_outcome(np.stack(draws), target.units * float(sum(warmup) / (sum(warmup) + sum(kept))))


def _through_jax(target: Counted) -> Any:
    """The log density as JAX sees it: a call back to Python, with the gradient in the same call."""
    import jax

    value = jax.ShapeDtypeStruct((), np.float64)
    gradient = jax.ShapeDtypeStruct((target.dim,), np.float64)

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def log_density(q: Any) -> Any:
        return jax.pure_callback(lambda q: np.float64(target.log_density(np.asarray(q))), value, q)

    def forward(q: Any) -> Any:
        def both(q: Any) -> tuple[Any, Array]:
            u, slope = target.log_density_and_gradient(np.asarray(q))
            return np.float64(u), slope

        return jax.pure_callback(both, (value, gradient), q)

    log_density.defvjp(forward, lambda slope, cotangent: (cotangent * slope,))
    return log_density


def mici_nuts(target: Counted, problem: Problem, seed: int) -> Outcome:
    """Mici's dynamic multinomial HMC with dual averaging and a diagonal metric."""
    import mici

    def gradient_and_value(q: Array) -> tuple[Array, float]:
        value, gradient = target.log_density_and_gradient(q)
        return -gradient, -value

    system = mici.systems.EuclideanMetricSystem(lambda q: -target.log_density(q), grad_neg_log_dens=gradient_and_value)
    rng = np.random.default_rng(seed)
    sampler = mici.samplers.DynamicMultinomialHMC(system, mici.integrators.LeapfrogIntegrator(system), rng)
    adapters = [mici.adapters.DualAveragingStepSizeAdapter(), mici.adapters.OnlineVarianceMetricAdapter()]
    results = sampler.sample_chains(
        WARMUP,
        DRAWS,
        list(problem.starts(rng, CHAINS)),
        adapters=adapters,
        trace_funcs=[lambda state: {"q": state.pos}],
        trace_warm_up=True,
        n_worker=1,
        display_progress=False,
    )
    chains = np.stack(results.traces["q"])[:, WARMUP:]
    steps = np.stack(results.statistics["n_step"])
    return chain_outcome(chains, target.units * float(steps[:, :WARMUP].sum() / steps.sum()))
