"""Peers without gradients: those made for expensive posteriors, and the samplers that people reach for."""

import warnings
from typing import Any

import emcee
import numpy as np
from peers.counted import BudgetError, Counted
from peers.gradient_peers import chain_outcome
from peers.measures import Moments, weighted_draws
from peers.outcome import Outcome
from peers.problems import Problem

from rnshmc.types import Array

BLOCK = 200
"""Steps of emcee between two looks at its autocorrelation time."""
CHAIN_SHARE = 3
"""tinyDA: a third of the units goes to each of two chains, what is left is never spent."""


def emcee_stretch(target: Counted, problem: Problem, seed: int) -> Outcome:
    """emcee's stretch move from a ball at the start, to 50 autocorrelation times and 1000 draws, as its manual says."""
    rng = np.random.default_rng(seed)
    walkers = max(32, 2 * target.dim + 2)
    np.random.seed(seed)  # noqa: NPY002 (emcee draws from the global generator)
    sampler = emcee.EnsembleSampler(walkers, target.dim, target.log_density)
    state: Any = problem.starts(rng, walkers)
    long_enough = False
    try:
        while not long_enough:
            state = sampler.run_mcmc(state, BLOCK)
            tau = sampler.get_autocorr_time(tol=0).max()
            long_enough = bool(sampler.iteration > max(50.0, 1200.0 / walkers) * tau)
    except BudgetError:
        if sampler.iteration < BLOCK:
            raise
    tau = sampler.get_autocorr_time(tol=0).max()
    discarded = min(int(5 * tau), sampler.iteration // 2)
    draws = sampler.get_chain()[discarded : sampler.iteration]
    moments = Moments.of(draws.reshape(-1, target.dim))
    own = _ensemble_draws(draws), _ensemble_draws((draws - moments.mean) ** 2)
    says = f"{sampler.iteration / tau:.0f} autocorrelation times"
    return Outcome(moments.mean, moments.variance, says, long_enough, own, discarded * walkers)


def _ensemble_draws(draws: Array) -> float:
    """Effective draws of an ensemble (n, walkers, dim): harmonic mean over coordinates."""
    tau = emcee.autocorr.integrated_time(draws, tol=0)
    return float(draws.shape[0] * draws.shape[1] / np.mean(tau))


class _Flat:
    """tinyDA's prior where the whole density is in the likelihood."""

    def logpdf(self, _: Array) -> float:
        return 0.0


class _Identity:
    """tinyDA's likelihood of a model whose output is the log density."""

    def loglike(self, output: Array) -> float:
        return float(output[0])


def tinyda_adaptive(target: Counted, problem: Problem, seed: int) -> Outcome:
    """tinyDA's adaptive Metropolis, two chains: without a cheap model there is nothing to delay acceptance with."""
    import tinyDA

    rng = np.random.default_rng(seed)
    np.random.seed(seed)  # noqa: NPY002 (tinyDA draws from the global generator)
    posterior = tinyDA.Posterior(_Flat(), _Identity(), lambda q: np.array([target.log_density(q)]))
    steps = target.max_units // CHAIN_SHARE
    chains = []
    for start in problem.starts(rng, 2):
        proposal = tinyDA.AdaptiveMetropolis(np.diag((0.1 * problem.scale) ** 2), adaptive=True, t0=10 * target.dim)
        sampled = tinyDA.sample(posterior, proposal, steps, 1, [start], force_sequential=True)
        chains.append(np.stack([link.parameters for link in sampled["chain_0"]])[steps // 4 :])
    return chain_outcome(np.stack(chains), target.units / 4)


def nautilus_nested(target: Counted, problem: Problem, seed: int) -> Outcome:
    """nautilus on the box, until 1000 effective draws."""
    import nautilus

    sampler = nautilus.Sampler(
        lambda unit: problem.low + unit * (problem.high - problem.low),
        lambda q: max(target.log_density(q), -1e300),
        n_dim=target.dim,
        seed=seed,
        pass_dict=False,
    )
    finished = sampler.run(n_eff=2000, n_like_max=target.max_units)
    draws, log_weights, _ = sampler.posterior()
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    moments = Moments.of(draws, weights)
    says = f"{'finished' if finished else 'stopped'}, effective draws {sampler.n_eff:.0f}"
    return Outcome(moments.mean, moments.variance, says, bool(finished), weighted_draws(draws, weights))


def pyvbmc_variational(target: Counted, problem: Problem, seed: int) -> Outcome:
    """PyVBMC with its defaults, unbounded, plausible box one prior standard deviation around the start."""
    from pyvbmc import VBMC

    np.random.seed(seed)  # noqa: NPY002 (PyVBMC draws from the global generator)
    start = problem.starts(np.random.default_rng(seed), 1)
    options = {"display": "off"}
    optimiser = VBMC(
        target.log_density,
        start,
        plausible_lower_bounds=problem.start - problem.scale,
        plausible_upper_bounds=problem.start + problem.scale,
        options=options,
    )
    posterior, results = optimiser.optimize()
    mean, covariance = posterior.moments(cov_flag=True)
    says = f"{'stable' if results['success_flag'] else 'not stable'}, ELBO sd {results['elbo_sd']:.2g}"
    return Outcome(np.ravel(mean), np.diag(covariance).copy(), says, bool(results["success_flag"]))


def gpry_surrogate(target: Counted, problem: Problem, seed: int) -> Outcome:
    """GPry on the box with its defaults, then its own Monte Carlo sample of the surrogate."""
    from gpry.run import Runner

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = Runner(
            lambda q: target.log_density(np.ravel(q)),
            bounds=np.column_stack((problem.low, problem.high)),
            ref_bounds=np.column_stack((problem.start - problem.scale, problem.start + problem.scale)),
            seed=seed,
            verbose=0,
        )
        runner.run()
        runner.generate_mc_sample(output=False)
    sample = runner.last_mc_samples()
    weights = np.ones(len(sample["X"])) if sample["w"] is None else sample["w"]
    moments = Moments.of(sample["X"], weights / weights.sum())
    good = bool(runner.has_converged)
    return Outcome(moments.mean, moments.variance, "converged" if good else "not converged", good)
