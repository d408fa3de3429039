"""How samplers are called in tables and figures, and in what order they stand there."""

from collections.abc import Iterable

SAMPLERS = {
    "hmc": "HMC",
    "rmhmc": "RMHMC",
    "rns_hmc": "RNS-HMC",
    "rns_rmhmc": "RNS-RMHMC",
    "arns_hmc": "ARNS-HMC",
    "rns_hmc_rbf": "RNS-HMC (RBF)",
    "gp_hmc": "GP-HMC",
    "fitc_hmc": "FITC-HMC",
    "nng_hmc": "NNg-HMC",
    "sghmc": "SGHMC",
    "sghmc_mh": "SGHMC-MH",
}


def sampler_label(sampler: str) -> str:
    """Label of a sampler; one that the papers do not have is called by its name."""
    return SAMPLERS.get(sampler, sampler)


def in_order(samplers: Iterable[str]) -> list[str]:
    """The distinct `samplers`: those of the papers in the order above, then the others by name."""
    distinct = set(samplers)
    return [name for name in SAMPLERS if name in distinct] + sorted(distinct - SAMPLERS.keys())
