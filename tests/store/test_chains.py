"""Chains on disk can be read by us and by arviz; damaged files are named."""

from pathlib import Path

import arviz as az
import h5py
import numpy as np
import pytest

from rnshmc.errors import StoreError
from rnshmc.random import stream
from rnshmc.store.chains import StoredChain, read_chain, write_chain

N, DIM = 30, 4


@pytest.fixture
def chain() -> StoredChain:
    rng = stream(1, "stored chain")

    def stats(n: int) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
        return {
            "accepted": rng.random(n) < 0.7,
            "delta_h": np.append(rng.normal(size=n - 1), np.inf),
            "n_steps": rng.integers(1, 9, size=n),
        }

    return StoredChain(
        draws=rng.normal(size=(N, DIM)),
        stats=stats(N),
        settings={"problem": "bank", "sampler": "hmc", "n_steps": [1, 45]},
        phases={"sample": {"wall_s": 1.5}},
        origin="simulated",
        provenance={"python": "3.11"},
        warmup=rng.normal(size=(N + 5, DIM)),
        warmup_stats=stats(N + 5),
    )


def test_what_is_written_is_read(tmp_path: Path, chain: StoredChain) -> None:
    write_chain(tmp_path / "chain1.nc", chain)
    back = read_chain(tmp_path / "chain1.nc")
    assert back.warmup is not None
    assert back.warmup_stats is not None
    assert chain.warmup is not None
    assert chain.warmup_stats is not None
    np.testing.assert_array_equal(back.draws, chain.draws)
    np.testing.assert_array_equal(back.warmup, chain.warmup)
    for mine, theirs in ((chain.stats, back.stats), (chain.warmup_stats, back.warmup_stats)):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_array_equal(theirs[name], mine[name])
            assert theirs[name].dtype == mine[name].dtype
    assert (back.settings, back.phases, back.origin, back.provenance) == (
        chain.settings,
        chain.phases,
        chain.origin,
        chain.provenance,
    )


def test_arviz_opens_it(tmp_path: Path, chain: StoredChain) -> None:
    write_chain(tmp_path / "chain1.nc", chain)
    opened = az.from_netcdf(tmp_path / "chain1.nc")
    assert set(opened.groups()) >= {"posterior", "warmup_posterior", "sample_stats", "warmup_sample_stats"}
    np.testing.assert_array_equal(opened.posterior["q"].values, chain.draws[None])
    assert opened.posterior["q"].dims == ("chain", "draw", "dim")
    assert az.ess(opened)["q"].shape == (DIM,)


def test_an_exploration_has_no_warmup(tmp_path: Path, chain: StoredChain) -> None:
    alone = StoredChain(chain.draws, chain.stats, chain.settings, chain.phases, chain.origin, chain.provenance)
    write_chain(tmp_path / "chain1.nc", alone)
    assert read_chain(tmp_path / "chain1.nc").warmup is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"chain7\.nc"):
        read_chain(tmp_path / "chain7.nc")


@pytest.mark.parametrize("keep", [0, 100, 5000])
def test_a_truncated_file_is_named(tmp_path: Path, chain: StoredChain, keep: int) -> None:
    path = tmp_path / "chain1.nc"
    write_chain(path, chain)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(StoreError, match=r"chain1\.nc.*delete it"):
        read_chain(path)


# Where h5netcdf cannot open a file it also cannot close it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_damaged_byte_is_noticed_or_without_effect(tmp_path: Path, chain: StoredChain) -> None:
    path = tmp_path / "chain1.nc"
    write_chain(path, chain)
    whole = path.read_bytes()
    noticed = 0
    for place in stream(1, "damaged bytes").integers(len(whole), size=40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read = read_chain(path)
        except StoreError:
            noticed += 1
        else:
            np.testing.assert_array_equal(read.draws, chain.draws)
            for name, values in chain.stats.items():
                np.testing.assert_array_equal(read.stats[name], values)
            assert read.settings == chain.settings
    assert noticed > 4


@pytest.mark.parametrize("array", ["posterior/q", "sample_stats/n_steps", "warmup_posterior/q"])
def test_values_that_hdf5_finds_in_order_but_were_not_written_are_noticed(
    tmp_path: Path, chain: StoredChain, array: str
) -> None:
    """As where a byte loses a block, whose values HDF5 then takes to be zero."""
    path = tmp_path / "chain1.nc"
    write_chain(path, chain)
    with h5py.File(path, "r+") as file:
        file[array][...] = 0
    with pytest.raises(StoreError, match=r"chain1\.nc: .*its content and the hash in it differ\); delete it"):
        read_chain(path)


def test_another_netcdf_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.nc"
    az.from_dict(posterior={"theta": np.zeros((1, 5))}).to_netcdf(str(path))
    with pytest.raises(StoreError, match=r"other\.nc"):
        read_chain(path)
