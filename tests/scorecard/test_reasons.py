"""Assignment of reasons to numbers that differ."""

from pathlib import Path

import pytest

from rnshmc.errors import DataError
from rnshmc.scorecard.published import Published
from rnshmc.scorecard.reasons import read_reasons, reason_for
from tests.scorecard.conftest import PAPERS, Make

HEAD = "paper,item,problem,sampler,quantity,side,reason\n"


def written(folder: Path, *rows: str) -> Path:
    path = folder / "reasons.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_first_reason_that_fits_counts(tmp_path: Path, make: Make) -> None:
    reasons = read_reasons(
        written(
            tmp_path,
            "another,,,,,,of another paper",
            "made_up,table1,bank,*rmhmc,,,of another sampler",
            "made_up,table1,,rns_*,ap,lower,an older clock",
            "made_up,,,,,,whatever",
        )
    )
    assert reason_for(make(), 0.7, 0.6, reasons) == "an older clock"
    assert reason_for(make(), 0.7, 0.8, reasons) == "whatever"
    assert reason_for(make(paper="third"), 0.7, 0.8, reasons) == ""


def test_a_statement_in_words_lies_on_a_side_of_its_bound(tmp_path: Path, numbers: tuple[Published, ...]) -> None:
    reasons = read_reasons(written(tmp_path, "zhang2017,fig8,,,,higher,a late start"))
    number = next(number for number in numbers if (number.item, number.quantity) == ("fig8", "early_error_over_hmc"))
    assert reason_for(number, number.printed, 1.3, reasons) == "a late start"
    assert reason_for(number, number.printed, 0.7, reasons) == ""


@pytest.mark.parametrize(
    ("row", "message"),
    [("p,,,,,above,why", r"reasons\.csv, line 2, column side"), ("p,,,,,,", r"line 2, column reason: empty")],
)
def test_a_reason_that_cannot_be_used_is_named(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_reasons(written(tmp_path, row))


def test_committed_reasons_are_about_numbers_that_exist(numbers: tuple[Published, ...]) -> None:
    for reason in read_reasons(PAPERS / "reasons.csv"):
        assert any(reason.fits(number) for number in numbers), reason.source
