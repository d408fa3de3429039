"""Summary tables, from which stand-ins are simulated: ``scripts/in-env.sh python scripts/summarise.py --help``."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rnshmc.datasets.adult import read_either
from rnshmc.datasets.bank import read_bank
from rnshmc.datasets.fetch import fetch
from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.prepare import stacked
from rnshmc.datasets.sources import load_sources
from rnshmc.files import atomic_path
from rnshmc.types import Array


def summarise(data: LogisticData) -> pd.DataFrame:
    """Count, mean, standard deviation and correlations of the columns, with the labels ``y`` last.

    There is a row per column: "count", "mean", "sd" (divisor N - 1), then the lower triangle of the correlation matrix.
    """
    names = [*data.columns, "y"]
    values: Array = np.column_stack((data.X, data.y))
    correlation = np.corrcoef(values, rowvar=False)
    moments = {"count": len(values), "mean": values.mean(axis=0), "sd": values.std(axis=0, ddof=1)}
    triangle = np.where(np.tri(len(names), dtype=bool), correlation, np.nan)
    np.fill_diagonal(triangle, 1.0)
    return pd.DataFrame(moments, index=pd.Index(names, name="column")).join(
        pd.DataFrame(triangle, index=names, columns=names)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the summary tables of bank, a9a and census from the real data."""
    options = _parser().parse_args(arguments)
    table = load_sources(options.sources)

    def raw(dataset: str) -> Path:
        receipt = fetch(dataset, table, raw_dir=options.raw, mirror=options.mirror, policy="real-only")
        return receipt.verified(options.raw)

    a9a, test = read_either(raw("adult")), read_either(raw("adult-test"))
    for name, data in (("bank", read_bank(raw("bank"))), ("a9a", a9a), ("census", stacked(a9a, test))):
        with atomic_path(options.out / f"{name}.csv") as part:
            summarise(data).to_csv(part, float_format="%.10g", lineterminator="\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--sources", type=Path, default=Path("data/sources.yaml"), help="table of sources")
    parser.add_argument("--raw", type=Path, default=Path("data/raw"), help="folder of the raw files")
    parser.add_argument("--out", type=Path, default=Path("data/standin"), help="folder of the summary tables")
    parser.add_argument("--mirror", default=os.environ.get("RNSHMC_DATA_MIRROR"), help="folder or base url")
    return parser


if __name__ == "__main__":
    main()
