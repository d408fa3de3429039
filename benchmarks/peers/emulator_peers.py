"""BayesFast: outputs of a model are emulated by polynomials, importance weights correct (Jia and Seljak 2020).

The recipe is that of its notebook on the Dark Energy Survey (examples of the repository HerculesJack/bayesfast): the
mode by linear emulators, fitted anew until they agree with the model there; then quadratic ones of all outputs, twice,
each fitted to runs at draws of the posterior before. Everything else is at its defaults.
"""

from collections.abc import Sequence
from typing import Any
from unittest import mock

import arviz
import numpy as np
from peers.counted import Counted
from peers.forward import ForwardProblem
from peers.measures import Moments, chain_draws, weighted_draws
from peers.outcome import Outcome
from peers.problems import Problem

from rnshmc.types import Array

CHAINS = [{"n_chain": 1, "n_iter": n, "n_warmup": 500} for n in (2500, 2500, 4500)]
"""NUTS on each emulated posterior. One chain: several need as many processes, in which runs are not counted."""
CORRECTIONS = 1000
OVERSAMPLING = 2
"""Runs for each coefficient of a polynomial, BayesFast's default."""
WIDEST = 30.0
"""Logarithm of an output that an emulator may reach."""


def bayesfast_quadratic(target: Counted, problem: Problem, seed: int) -> Outcome:
    """The emulated posterior as it is."""
    posted, converged, _ = _run(target, problem, seed, corrections=0)
    moments = Moments.of(posted.samples)
    says = f"mode {'found' if converged else 'not found'}, not corrected"
    return Outcome(moments.mean, moments.variance, says, converged, chain_draws(posted.samples[None]))


def bayesfast_importance(target: Counted, problem: Problem, seed: int) -> Outcome:
    """With the weights of 1000 exact runs, truncated as BayesFast does; good where their Pareto k is below 0.7."""
    posted, converged, before = _run(target, problem, seed, corrections=CORRECTIONS)
    weights = posted.weights_trunc / posted.weights_trunc.sum()
    moments = Moments.of(posted.samples, weights)
    log_weights = posted.logp - posted.logq
    k_hat = float(arviz.psislw(log_weights - log_weights.max())[1])
    independent = np.minimum(np.array(chain_draws(posted.samples[None])) / len(weights), 1.0)
    own = independent * weighted_draws(posted.samples, weights)
    says = f"mode {'found' if converged else 'not found'}, Pareto k {k_hat:.2f}"
    good = converged and k_hat < 0.7
    return Outcome(moments.mean, moments.variance, says, good, (float(own[0]), float(own[1])), before)


def _run(target: Counted, problem: Problem, seed: int, corrections: int) -> tuple[Any, bool, int]:
    """BayesFast's result, whether its search for the mode converged, and the units before the corrections."""
    # BayesFast of 2020 uses two names that NumPy has not had since 1.24.
    with mock.patch.object(np, "int", int, create=True), mock.patch.object(np, "float", float, create=True):
        import bayesfast
        from multiprocess.pool import ThreadPool

        assert problem.model is not None, "BayesFast needs a forward model"
        bayesfast.utils.random.set_generator(seed)
        rng = np.random.default_rng(seed)
        modules = EmulatedModel(problem.model, target)
        linear, *quadratic = (_emulator(bayesfast, problem.model, order) for order in ("linear", *["quadratic"] * 2))
        starts = problem.starts(rng, 1) + problem.scale * rng.standard_normal(
            (linear.n_param * OVERSAMPLING, target.dim)
        )
        recipe = bayesfast.Recipe(
            density=_density(bayesfast, problem.model, modules),
            parallel_backend=ThreadPool(1),
            copy_density=False,
            optimize=bayesfast.OptimizeStep(linear, OVERSAMPLING, x_0=starts, sample_trace=CHAINS[0]),
            sample=[
                bayesfast.SampleStep(*step) for step in zip(quadratic, [OVERSAMPLING] * 2, CHAINS[1:], strict=True)
            ],
            post=bayesfast.PostStep(n_is=corrections),
        )
        recipe.run()
        result = recipe.recipe_trace.result
        return result.post, _agrees(result.optimize[-1]), target.units - corrections


def _agrees(found: Any) -> bool:
    """Whether model and emulator agree at the mode, by BayesFast's own tolerance."""
    return bool(abs(found.f_max.logp_trans - found.f_max.logq_trans) < 0.1)


def _emulator(bayesfast: Any, model: ForwardProblem, order: str) -> Any:
    names = {"input_vars": ["inputs"], "output_vars": ["outputs"]}
    return bayesfast.modules.PolyModel(order, input_size=model.inputs, output_size=len(model.data), **names)


def _density(bayesfast: Any, model: ForwardProblem, modules: "EmulatedModel") -> Any:
    names, sizes = ["inputs", "noise"], [model.inputs, model.dim - model.inputs]
    used = names if sizes[1] else names[:1]
    # BayesFast copies modules deeply: functions survive that, the process behind a method's object does not.
    run = bayesfast.Module(fun=lambda x: modules.run(x), input_vars=["inputs"], output_vars=["outputs"])
    density = bayesfast.Module(
        fun=lambda *x: modules.density(*x),
        fun_and_jac=lambda *x: modules.density_and_slopes(*x),
        input_vars=["outputs", *used],
        output_vars=["density"],
    )
    return bayesfast.Density("density", module_list=[run, density], input_vars=used, input_dims=sizes[: len(used)])


class EmulatedModel:
    """The two parts of a log density: the model's outputs, or their logarithms where they are positive, and the rest.

    The coordinates are those of the problem, the model's first.
    """

    def __init__(self, model: ForwardProblem, target: Counted) -> None:
        self._model = model
        self._target = target
        self._logarithmic = model.likelihood.positive_outputs

    def run(self, inputs: Array) -> list[Array]:
        """One run of the model."""
        padded = np.concatenate((inputs, np.zeros(self._model.dim - self._model.inputs)))
        outputs = self._target.forward(self._model.parameters(padded)[: self._model.inputs])
        return [np.log(outputs) if self._logarithmic else outputs]

    def density(self, emulated: Array, *coordinates: Array) -> list[Array]:
        """log density, shape (1,)."""
        value, _ = self._value_and_slope(emulated, coordinates)
        return [value]

    def density_and_slopes(self, emulated: Array, *coordinates: Array) -> tuple[list[Array], list[Array]]:
        """The same, and its slopes in what `run` returns and in the coordinates, shape (1, m + d)."""
        value, slope = self._value_and_slope(emulated, coordinates)
        return [value], [slope[None]]

    def _value_and_slope(self, emulated: Array, coordinates: Sequence[Array]) -> tuple[Array, Array]:
        model, q = self._model, np.concatenate(coordinates)
        x = model.parameters(q)
        outputs = np.exp(np.clip(emulated, -WIDEST, WIDEST)) if self._logarithmic else emulated
        of_outputs, of_noise = model.likelihood.gradients(outputs, x[model.inputs :], model.data)
        if self._logarithmic:
            of_outputs = np.where(np.abs(emulated) < WIDEST, of_outputs * outputs, 0.0)
        of_x = np.concatenate((np.zeros(model.inputs), of_noise)) + model.prior.gradient(x)
        of_q = np.where(model.positive, of_x * x - 1.0, of_x)
        return np.array([-model.potential.of_outputs(outputs, q)]), -np.concatenate((of_outputs, of_q))
