"""Groups of data with different likelihoods."""

from collections.abc import Sequence
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Likelihood


def make_likelihood(likelihood: Any, data_names: Sequence[str]) -> Likelihood:  # noqa: ARG001
    """The likelihood of data with these names.

    Raises
    ------
    ParameterError
        If it is none.
    """
    if isinstance(likelihood, Likelihood):
        return likelihood
    raise ParameterError(f"likelihood: got {likelihood!r:.80}, expected a likelihood such as rnshmc.Gaussian(sd=0.1)")
