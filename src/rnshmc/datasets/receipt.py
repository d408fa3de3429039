"""The receipt that a fetch writes: which data were fetched, whether they are real, and their source."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.io import loadmat

from rnshmc.errors import DataError, StoreError
from rnshmc.files import sha256, write_json
from rnshmc.types import Array


@dataclass(frozen=True)
class Attempt:
    """A source that could not deliver, and why."""

    file: str
    where: str
    reason: str


@dataclass(frozen=True)
class Receipt:
    """The outcome of a fetch."""

    dataset: str
    """Name of the data set, as in the table of sources."""
    origin: Literal["real", "stand-in"]
    """"real", or "stand-in" where no source could be reached (or none was to be asked) and simulated data stand in."""
    file: str | None
    sha256: str | None
    """Name and hash of the raw file; None for a stand-in."""
    source: str
    """Where the data came from."""
    attempts: tuple[Attempt, ...] = ()
    """The sources that were tried before, in order."""

    def verified(self, raw_dir: str | Path) -> Path:
        """The raw file in ``raw_dir``, after comparing its hash with this receipt's.

        Raises `DataError` if the file is gone or has changed since.
        """
        if self.file is None:
            raise DataError(f"the receipt of {self.dataset} is for a stand-in: there is no raw file")
        path = Path(raw_dir) / self.file
        if not path.is_file():
            raise DataError(
                f"{path}: no such file, though it was fetched from {self.source}; fetch {self.dataset} again"
            )
        found = sha256(path)
        if found != self.sha256:
            raise DataError(f"{path}: changed since it was fetched: sha256 {found}, was {self.sha256}")
        return path

    def save(self, path: str | Path) -> None:
        """Write the receipt as JSON."""
        write_json(Path(path), asdict(self))

    @classmethod
    def load(cls, path: str | Path) -> "Receipt":
        """Read a receipt written by `save`. Raises `StoreError` if the file is not a receipt."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            attempts = tuple(Attempt(**attempt) for attempt in content.pop("attempts"))
            receipt = cls(**content, attempts=attempts)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{path}: not a receipt of fetched data: {error}") from error
        if receipt.origin not in ("real", "stand-in"):
            raise StoreError(f"{path}: origin is {receipt.origin!r}, expected real or stand-in")
        return receipt


def read_published(receipt: str | Path, *names: str) -> tuple[Array, ...] | None:
    """The named arrays of the raw file that a receipt is for, None where it could not be fetched.

    The raw file is in the folder of the receipt. Dimensions of length 1 are dropped. Raises `DataError` if the raw file
    is gone or has changed since it was fetched; `StoreError` if it is no receipt.
    """
    found = Receipt.load(receipt)
    if found.origin != "real":
        return None
    content = loadmat(found.verified(Path(receipt).parent), variable_names=list(names))
    return tuple(np.squeeze(content[name]).astype(np.float64) for name in names)
