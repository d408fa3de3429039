"""All chains of one problem."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from rnshmc.errors import StoreError
from rnshmc.results.names import in_order
from rnshmc.store.account import markov_chains
from rnshmc.store.chains import StoredChain, read_chain
from rnshmc.types import Array


@dataclass(frozen=True)
class ProblemChains:
    """The chains of every sampler on one problem."""

    problem: str
    """Name of the problem."""
    origin: str
    """Where its data come from: "real", "simulated", "user" or "stand-in"."""
    chains: Mapping[str, tuple[StoredChain, ...]]
    """The chains of each sampler, in order of their numbers; samplers in the order of the papers."""

    @classmethod
    def read(cls, paths: Iterable[str | Path]) -> Self:
        """Read chain files of one problem, in any order; raises `StoreError` as `of`, or if one cannot be read."""
        return cls.of([read_chain(path) for path in paths])

    @classmethod
    def of(cls, chains: Iterable[StoredChain]) -> Self:
        """Group chains by sampler.

        Raises `StoreError` if there are none, or they belong to several problems or origins.
        """
        ordered = sorted(chains, key=lambda chain: int(chain.settings["chain"]))
        kinds = {(str(chain.settings["problem"]), chain.origin) for chain in ordered}
        if len(kinds) != 1:
            raise StoreError(f"expected chains of one problem and origin, got {sorted(kinds)}")
        problem, origin = kinds.pop()
        samplers = in_order(str(chain.settings["sampler"]) for chain in ordered)
        by_sampler = {
            sampler: tuple(chain for chain in ordered if chain.settings["sampler"] == sampler) for sampler in samplers
        }
        return cls(problem, origin, by_sampler)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        first = next(iter(self.chains.values()))[0]
        return int(first.draws.shape[1])

    def draws(self, sampler: str) -> Array:
        """Kept draws of a sampler, all chain files concatenated, shape (n, dim)."""
        return np.concatenate([chain.draws for chain in self.chains[sampler]])

    def markov(self, sampler: str) -> list[Array]:
        """The Markov chains of a sampler, each of shape (n, dim); empty if its draws come from a surrogate."""
        return [markov for chain in self.chains[sampler] for markov in markov_chains(chain)]
