"""The samplers of the papers by name. A sampler is a recipe: a kernel, its driver, and a schedule.

Every recipe explores with exact HMC first. Then the driver is the exact potential, a surrogate fitted to the
exploration, or mini-batches of the data. The exact potential decides, except in SGHMC, which has no Metropolis step.
"""

from dataclasses import dataclass

from rnshmc.errors import ParameterError


@dataclass(frozen=True)
class Recipe:
    """A named sampler."""

    kernel: str
    """Name in `rnshmc.run.registry.KERNELS`."""
    surrogate: str | None
    """Name in `rnshmc.run.registry.SURROGATES` of the driver after the exploration; None: the exact potential."""
    view: str | None = None
    """Name in `rnshmc.run.registry.VIEWS` of the view that makes the surrogate a metric, if the kernel needs one."""
    minibatches: bool = False
    """Whether the exact potential drives by mini-batches of its data."""
    exact: bool = True
    """Whether the chain leaves the posterior invariant; if not, it does so in the limit of small steps."""


RECIPES = {
    "hmc": Recipe(kernel="hmc", surrogate=None),
    "rmhmc": Recipe(kernel="rmhmc", surrogate=None),
    "rns_hmc": Recipe(kernel="hmc", surrogate="random_network"),
    "rns_rmhmc": Recipe(kernel="rmhmc", surrogate="random_network", view="softabs"),
    "arns_hmc": Recipe(kernel="adaptive_hmc", surrogate="online_network"),
    "rns_hmc_rbf": Recipe(kernel="hmc", surrogate="rbf_network"),
    "gp_hmc": Recipe(kernel="hmc", surrogate="gaussian_process"),
    "fitc_hmc": Recipe(kernel="hmc", surrogate="fitc"),
    "nng_hmc": Recipe(kernel="hmc", surrogate="gradient_network"),
    "sghmc": Recipe(kernel="sghmc", surrogate=None, minibatches=True, exact=False),
    "sghmc_mh": Recipe(kernel="sghmc_mh", surrogate=None, minibatches=True),
}
AUTO = "auto"
"""The workflow's only sampler without a recipe: `rnshmc.sample`, which explores and fits by itself."""


def recipe_name(sampler: str) -> str:
    """Name of the recipe of a sampler.

    A problem can have a recipe more than once, with other settings: such a variant has the recipe's name with a suffix,
    as ``nng_hmc_10`` and ``nng_hmc_20``. Raises `ParameterError` if neither that name nor its beginning is a recipe.
    """
    for length in range(len(parts := sampler.split("_")), 0, -1):
        if (name := "_".join(parts[:length])) in RECIPES:
            return name
    raise ParameterError(f"sampler: no recipe named {sampler!r}; there are {', '.join(sorted(RECIPES))}")


def recipe(sampler: str) -> Recipe:
    """The recipe of a sampler, or of a variant of one. Raises `ParameterError` if no recipe has that name."""
    return RECIPES[recipe_name(sampler)]
