"""Names and order of samplers, and titles of problems, in tables and figures."""

from collections.abc import Iterable, Mapping

Titles = Mapping[str, str]
"""Title of each problem."""
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


def base_sampler(sampler: str) -> str | None:
    """The papers' sampler of a name: "sghmc" for the variant "sghmc_a". None if there is none.

    The name of a variant is that of the sampler with an underscore and a suffix.
    """
    fitting = [name for name in SAMPLERS if sampler == name or sampler.startswith(f"{name}_")]
    return max(fitting, key=len, default=None)


def sampler_label(sampler: str) -> str:
    """Label of a sampler, such as "SGHMC (a)" for the variant "sghmc_a"; an unknown sampler keeps its name."""
    base = base_sampler(sampler)
    if base is None:
        return sampler
    variant = sampler[len(base) + 1 :].replace("_", ", ")
    return f"{SAMPLERS[base]} ({variant})" if variant else SAMPLERS[base]


def in_order(samplers: Iterable[str]) -> list[str]:
    """The distinct `samplers`: those of the papers in the order above, each before its variants, then the others."""
    places = {name: place for place, name in enumerate(SAMPLERS)}
    return sorted(set(samplers), key=lambda name: (places.get(base_sampler(name) or "", len(places)), name))
