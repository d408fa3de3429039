"""A stand-in has the moments of the real data, and is marked as such up to the processed file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rnshmc.datasets.adult import read_a9a
from rnshmc.datasets.bank import read_bank
from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.standin import load_summary, simulate_standin
from rnshmc.errors import DataError
from rnshmc.random import stream
from scripts.summarise import main, summarise

TABLES = Path(__file__).parents[2] / "data" / "standin"
SIZES = {"bank": (40197, 24, 4533), "a9a": (32561, 123, 7841), "census": (48842, 123, 11687)}


@pytest.mark.parametrize("name", SIZES)
def test_a_stand_in_has_the_moments_of_its_table(name: str) -> None:
    data = simulate_standin(TABLES / f"{name}.csv", stream(1, name))
    summary = load_summary(TABLES / f"{name}.csv")
    assert (*data.X.shape, data.y.sum()) == SIZES[name]
    assert data.origin == "stand-in"
    # The table holds ten digits; the zero eigenvalues that it perturbs are cut off, which costs as much.
    np.testing.assert_allclose(data.X.mean(axis=0), summary.mean, rtol=1e-9)
    np.testing.assert_allclose(data.X.std(axis=0, ddof=1), summary.sd, rtol=1e-8)
    correlation = np.corrcoef(np.column_stack((data.X, data.y)), rowvar=False)
    np.testing.assert_allclose(correlation, summary.correlation, rtol=0, atol=1e-8)


def test_the_stand_in_is_gaussian_given_the_label() -> None:
    """Within a class, each feature has the fourth moment of a Gaussian."""
    data = simulate_standin(TABLES / "bank.csv", stream(1, "bank"))
    Z = data.X[data.y == 0]
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    kurtosis = (Z**4).mean(axis=0)
    # Standard error of a sample kurtosis: sqrt(24 / n), with n = 35664 about 0.026; 24 features.
    np.testing.assert_allclose(kurtosis, 3.0, rtol=0, atol=6 * np.sqrt(24 / len(Z)))


def test_a_stand_in_has_the_columns_of_the_real_data(bank: Receipt, raw_dir: Path) -> None:
    assert load_summary(TABLES / "bank.csv").columns == read_bank(bank.verified(raw_dir)).columns


def test_the_committed_tables_are_those_of_the_real_data(mirror: Path, tmp_path: Path) -> None:
    sources = Path(__file__).parents[2] / "data" / "sources.yaml"
    main(["--sources", str(sources), "--raw", str(tmp_path), "--out", str(tmp_path), "--mirror", str(mirror)])
    for name in SIZES:
        made, committed = (pd.read_csv(folder / f"{name}.csv", index_col=0) for folder in (tmp_path, TABLES))
        pd.testing.assert_frame_equal(made, committed, rtol=1e-9, atol=1e-12)


def test_summary_and_simulation_are_inverse(tmp_path: Path) -> None:
    rng = stream(3, "summary")
    X = rng.standard_normal((400, 4)) @ rng.standard_normal((4, 4)) + [1.0, -20.0, 300.0, 0.0]
    y = (X[:, 0] > 1.5).astype(np.uint8)
    original = summarise(LogisticData(X, y, "real", ("a", "b", "c", "d")))
    original.to_csv(tmp_path / "table.csv")
    again = summarise(simulate_standin(tmp_path / "table.csv", stream(4, "stand-in")))
    pd.testing.assert_frame_equal(again, original, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("count", "number", "not a table of summary statistics"),
        ("\ny,", "\nlabel,", "with y last"),
        ("40.02544966", "", "a moment is missing"),
        ("-0.1175591991", "-1.5", r"outside \[-1, 1\]"),
        ("-0.1175591991", "weak", "not a table of summary statistics"),
    ],
)
def test_a_damaged_table_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = (TABLES / "bank.csv").read_text()
    assert old in text
    (tmp_path / "bank.csv").write_text(text.replace(old, new))
    with pytest.raises(DataError, match=rf"bank\.csv: .*{message}"):
        load_summary(tmp_path / "bank.csv")


def test_real_a9a_and_its_stand_in_agree_in_their_moments(mirror: Path) -> None:
    real, standin = read_a9a(mirror / "a9a"), simulate_standin(TABLES / "a9a.csv", stream(1, "a9a"))
    labels = ("X given y = 0", "X given y = 1")
    for label, name in enumerate(labels):
        np.testing.assert_allclose(
            standin.X[standin.y == label].mean(axis=0),
            real.X[real.y == label].mean(axis=0),
            atol=1e-8,
            err_msg=name,
        )
