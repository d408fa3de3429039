"""Hamiltonian Monte Carlo with random-network surrogates.

    import rnshmc

    result = rnshmc.sample(log_density_and_gradient, x0)

samples your own posterior with few exact evaluations; see `rnshmc.inference.call.sample`.

A Hamiltonian sampler has two potentials: one decides (the exact potential, in the Metropolis step) and one drives (the
potential whose gradient moves the trajectory). The samplers of the papers are one kernel with different drivers; see
`rnshmc.run.recipes` for their names and `rnshmc.run.sample.run_sampler` to run one.

The names of this package are imported on first use, so that no stage depends on another through it. `__init__.pyi`
declares them for type checkers.
"""

EXPORTS = {
    "sample": "rnshmc.inference.call",
    "load": "rnshmc.inference.result.making",
    "Result": "rnshmc.inference.result.result",
    # Ways to specify a posterior
    "LeastSquares": "rnshmc.inference.exact.forward",
    "Model": "rnshmc.inference.exact.forward",
    "UMBridge": "rnshmc.inference.exact.umbridge",
    "Potential": "rnshmc.types",
    # Likelihoods of the outputs of a model, and priors
    "Binomial": "rnshmc.inference.exact.likelihoods.named",
    "Custom": "rnshmc.inference.exact.likelihoods.own",
    "Gaussian": "rnshmc.inference.exact.likelihoods.named",
    "LogNormal": "rnshmc.inference.exact.likelihoods.named",
    "NegativeBinomial": "rnshmc.inference.exact.likelihoods.named",
    "Poisson": "rnshmc.inference.exact.likelihoods.named",
    "Relative": "rnshmc.inference.exact.likelihoods.named",
    "StudentT": "rnshmc.inference.exact.likelihoods.named",
    "Normal": "rnshmc.inference.exact.priors.base",
    # Potentials
    "Banana": "rnshmc.targets.banana",
    "GPRegression": "rnshmc.targets.gp_regression",
    "Garch": "rnshmc.targets.garch",
    "LogisticRegression": "rnshmc.targets.logistic",
    "TwistedGaussian": "rnshmc.targets.twisted_gaussian",
    # Surrogates
    "FITC": "rnshmc.surrogates.fitc",
    "GaussianProcess": "rnshmc.surrogates.gaussian_process",
    "GradientNetwork": "rnshmc.surrogates.gradient_network",
    "OnlineNetwork": "rnshmc.surrogates.online",
    "RBFNetwork": "rnshmc.surrogates.rbf_network",
    "RandomNetwork": "rnshmc.surrogates.random_network",
    # Kernels
    "AdaptiveHMC": "rnshmc.kernels.adaptive_hmc",
    "CorrectedSGHMC": "rnshmc.kernels.sghmc",
    "HMC": "rnshmc.kernels.hmc",
    "RMHMC": "rnshmc.kernels.rmhmc",
    "SGHMC": "rnshmc.kernels.sghmc",
    # Errors
    "BudgetSpent": "rnshmc.errors",
    "ConversionError": "rnshmc.inference.result.converting",
    "EvaluationError": "rnshmc.errors",
    "ParameterError": "rnshmc.errors",
    "RnshmcError": "rnshmc.errors",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module; ``__version__`` comes from the installed package."""
    if name == "__version__":
        from importlib.metadata import version

        return version("rnshmc")
    if name not in EXPORTS:
        raise AttributeError(f"module 'rnshmc' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(EXPORTS[name]), name)


def __dir__() -> list[str]:
    """Names that the package exports."""
    return sorted({*globals(), *EXPORTS, "__version__"})
