"""The scorecard as people read it."""

import pandas as pd

from rnshmc.report.scorecard_text import verdict_table
from rnshmc.scorecard.reasons import Reason
from tests.scorecard.conftest import Make

WHY = Reason("", "made_up", "*", "*", "*", "*", side="", reason="another clock; see there")


def test_verdicts_are_counted_by_item_and_every_reason_has_a_row(make: Make) -> None:
    numbers = [make(quantity=name) for name in ("ap", "ess_min", "ess_max", "speedup")]
    numbers += [make(item="fig1", heading="Figure 1"), make(paper="another")]
    verdicts = [
        ("differs", "another clock; see there; Table 1; over 5 chains"),
        ("reproduced", "over 5 chains"),
        ("differs", "unexplained; over 5 chains"),
        ("differs", "another clock; see there; over 5 chains"),
        ("not comparable", "another machine"),
        ("reproduced", ""),
    ]
    card = pd.DataFrame(
        [
            {"paper": number.paper, "item": number.label, "quantity": number.quantity, "verdict": verdict, "note": note}
            for number, (verdict, note) in zip(numbers, verdicts, strict=True)
        ]
    )
    assert verdict_table(card, numbers, "made_up", [WHY]).to_numpy().tolist() == [
        ["Table 1", "1", "2", "0", "0", "another clock; see there"],
        ["", "", "1", "", "", "unexplained"],
        ["Figure 1", "0", "0", "0", "1", ""],
    ]
