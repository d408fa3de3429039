"""The report of `rnshmc.sample` on its draws, stored with them."""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from rnshmc.store.chains import StoredChain
from rnshmc.types import Array

_KEY = "account"


@dataclass(frozen=True)
class Account:
    """The report of a call of `rnshmc.sample` on the draws in a chain file."""

    said: str
    """The printed result."""
    verdict: str
    """Level of its verdict: good, doubtful or bad."""
    draws: int
    """Number of draws returned."""
    chains: int
    """Number of Markov chains of equal length in the file, one after another. 0 with a surrogate, whose draws are
    weighted rows in random order: neither autocorrelations nor R-hat are defined."""
    mean: list[float]
    sd: list[float]
    mcse_mean: list[float]
    mcse_sd: list[float]
    """Posterior means and standard deviations with their standard errors, one per coordinate."""

    @classmethod
    def of(cls, chain: StoredChain) -> Self | None:
        """The account in the settings of a chain; None for a sampler without one."""
        stored = chain.settings.get(_KEY)
        return None if stored is None else cls(**stored)

    def entry(self) -> dict[str, Any]:
        """The entry for the settings of a chain, as read by `of`."""
        return {_KEY: asdict(self)}


def markov_chains(chain: StoredChain) -> Array:
    """The Markov chains in a chain file, shape (chains, n, d); no chain if the draws are a surrogate's."""
    account = Account.of(chain)
    if account is None:
        return chain.draws[None]
    if account.chains == 0:
        return np.empty((0, 0, chain.draws.shape[1]))
    return chain.draws.reshape(account.chains, -1, chain.draws.shape[1])
