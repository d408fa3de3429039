"""The gate: rejections against rows of a table."""

from dataclasses import replace

import gate
import pytest
from peers.judge import Verdict
from peers.table import read_rows

CASE = next(case for case in gate.of_peers() if case.name == "bank")
ROW = Verdict(CASE.peer, CASE.problem, 1, 100, 0, 1000.0, 1000.0, 100.0, 90.0, 1.0, 1.0, 1e-3, "good", True, True, "1")


def rows(*units: float) -> list[Verdict]:
    return [replace(ROW, seed=seed, units_mean=number) for seed, number in enumerate(units, 1)]


TABLE = rows(100.0, 100.0, 100.0, 120.0, 140.0, 160.0, 200.0)


@pytest.mark.parametrize(
    ("units", "refused"),
    [
        ((130.0, 130.0, 130.0, 290.0), ""),
        ((110.0, 150.0, 160.0), "median"),
        ((100.0, 100.0, 310.0), "largest"),
        ((100.0, float("inf"), float("inf")), "median, largest"),
    ],
)
def test_units_above_the_table_are_refused(units: tuple[float, ...], refused: str) -> None:
    line, passed = gate.compared(CASE, rows(*units), TABLE)
    assert line.endswith(refused or " ")
    assert passed == (not refused)


def test_a_good_result_that_is_wrong_is_refused() -> None:
    line, passed = gate.compared(CASE, [*rows(100.0, 100.0), replace(ROW, seed=3, honest=False)], TABLE)
    assert line.endswith("wrong")
    assert not passed


@pytest.mark.parametrize(("good", "refused"), [(4, False), (2, False), (0, True)])
def test_far_fewer_good_results_than_in_the_table_are_refused(good: int, refused: bool) -> None:
    runs = [replace(row, says_good=row.seed <= good) for row in rows(100.0, 100.0, 100.0, 100.0)]
    line, passed = gate.compared(CASE, runs, TABLE)
    assert line.endswith("few good" if refused else " ")
    assert passed == (not refused)


def test_every_posterior_has_rows_to_be_compared_with() -> None:
    table = {(row.peer, row.problem) for row in read_rows(gate.ROOT / "docs/peers.csv")}
    assert {(case.peer, case.problem) for case in gate.of_peers()} <= table
