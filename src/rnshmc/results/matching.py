"""Table of the mismatch between the surrogates of a run and the exact potential (paper A, appendix 2)."""

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from rnshmc.errors import StoreError

MATCHING_COLUMNS = (
    "problem",
    "surrogate",
    "chain",
    "train_residual_sd",
    "variance",
    "potential_variance",
    "share",
    "states",
    "data",
)


def matching_table(paths: Iterable[Path]) -> pd.DataFrame:
    """Potential matching of every fit: one row for each problem, surrogate and chain.

    `variance` is Var(V - U) over held-out states, `potential_variance` is Var(U) there, and `share` is their ratio: the
    fraction of the potential's variance not captured by the surrogate.

    Raises
    ------
    StoreError
        If a file is missing, is not JSON, or lacks a key.
    """
    return pd.DataFrame([_read(path) for path in paths], columns=list(MATCHING_COLUMNS))


def _read(path: Path) -> dict[str, object]:
    try:
        matching = json.loads(path.read_text(encoding="utf-8"))
        return {
            **{name: matching[name] for name in MATCHING_COLUMNS if name not in ("share", "data")},
            "share": matching["variance"] / matching["potential_variance"],
            "data": matching["origin"],
        }
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"{path}: cannot read potential matching: {error!r}") from error
