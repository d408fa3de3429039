"""Named random streams: one root seed, one independent generator per purpose."""

import hashlib

import numpy as np


def stream(seed: int, *names: str) -> np.random.Generator:
    """The generator that belongs to a purpose, such as ``stream(7, "bank", "rns_hmc", "chain2")``.

    Parameters
    ----------
    seed
        Root seed, a non-negative integer.
    *names
        The purpose of the stream. Equal names always give the same stream, different names independent ones, so streams
        do not depend on job order, worker count, chain count or MPI size.

    Returns
    -------
    numpy.random.Generator
        PCG64 seeded by ``SeedSequence(seed, spawn_key=h)`` with h the SHA-256 of the names as four 64-bit words.
    """
    digest = hashlib.sha256("\x1f".join(names).encode()).digest()
    words = tuple(int.from_bytes(digest[i : i + 8], "little") for i in range(0, 32, 8))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=words)))
