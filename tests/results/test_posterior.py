"""Chains of a problem, grouped by sampler."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import StoreError
from rnshmc.results.posterior import ProblemChains
from rnshmc.store.chains import StoredChain, write_chain


def chain(sampler: str, number: int, *, problem: str = "bank", origin: str = "real") -> StoredChain:
    settings: dict[str, Any] = {"problem": problem, "sampler": sampler, "chain": number}
    draws = np.full((5, 3), float(number))
    return StoredChain(draws, {"accepted": np.ones(5, dtype=bool)}, settings, {}, origin, {})


def test_chains_stand_in_order_of_sampler_and_number() -> None:
    numbers = [10, 2, 1]
    chains = ProblemChains.of([chain(sampler, k) for sampler in ("my_own", "rns_hmc", "hmc") for k in numbers])
    assert list(chains.chains) == ["hmc", "rns_hmc", "my_own"]
    assert chains.draws("rns_hmc")[::5, 0].tolist() == [1.0, 2.0, 10.0]
    assert chains.draws("hmc").shape == (15, 3)
    assert [markov[0, 0] for markov in chains.markov("hmc")] == [1.0, 2.0, 10.0]
    assert chains.dim == 3


def test_files_are_read_in_any_order(tmp_path: Path) -> None:
    for k in (1, 2):
        write_chain(tmp_path / f"chain{k}.nc", chain("hmc", k))
    chains = ProblemChains.read([tmp_path / "chain2.nc", tmp_path / "chain1.nc"])
    assert (chains.problem, chains.origin) == ("bank", "real")
    assert chains.draws("hmc")[::5, 0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("odd", [{"problem": "a9a"}, {"origin": "stand-in"}])
def test_chains_of_several_problems_or_origins_are_refused(odd: dict[str, str]) -> None:
    with pytest.raises(StoreError, match="one problem and origin"):
        ProblemChains.of([chain("hmc", 1), chain("hmc", 2, **odd)])


def test_no_chains_are_refused() -> None:
    with pytest.raises(StoreError, match="one problem and origin"):
        ProblemChains.of([])
