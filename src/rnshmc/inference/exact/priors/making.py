"""A prior of what the user gives."""

from collections.abc import Sequence
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.priors.base import Flat, Prior
from rnshmc.inference.exact.priors.normal import Normal, NormalPrior


def make_prior(prior: Any, names: Sequence[str]) -> Prior:
    """The prior of the parameters with these names.

    Raises
    ------
    ParameterError
        If it cannot be used.
    """
    if prior is None:
        return Flat()
    if isinstance(prior, tuple) and len(prior) == 2:
        return _normal(Normal(*prior), names)
    if isinstance(prior, Normal):
        return _normal(prior, names)
    raise ParameterError(f"prior: got {prior!r:.80}, expected None, a pair (mean, sd) or rnshmc.Normal")


def _normal(prior: Normal, names: Sequence[str]) -> NormalPrior:
    if prior.dim not in (None, len(names)):
        raise ParameterError(
            f"prior: a normal prior of {prior.dim} parameters was given, there are {len(names)}: {', '.join(names)}; "
            f"to give one of some of them, use a mapping: {{({names[0]!r}, ...): rnshmc.Normal(...), ...}}"
        )
    return prior.over(len(names))
