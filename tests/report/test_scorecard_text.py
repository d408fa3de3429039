"""The scorecard as people read it."""

import pandas as pd

from rnshmc.report.scorecard_text import difference_table, verdict_sentence, verdict_table
from rnshmc.scorecard.reasons import Reason
from tests.scorecard.conftest import Make

WHY = Reason("", "made_up", "*", "*", "*", "*", side="", reason="another clock; see there")


def test_verdicts_are_counted_by_item_and_differences_by_reason(make: Make) -> None:
    numbers = [make(quantity=name) for name in ("ap", "ess_min", "ess_max", "speedup")]
    numbers += [make(item="fig1", heading="Figure 1"), make(paper="another")]
    verdicts = [
        ("differs", False, "another clock; see there; Table 1; over 5 chains"),
        ("reproduced", True, "over 5 chains"),
        ("differs", False, "unexplained; over 5 chains"),
        ("differs", True, "another clock; see there; over 5 chains"),
        ("another machine", False, "relative to HMC it is the speed-up"),
        ("reproduced", False, ""),
    ]
    columns = ("verdict", "after_search", "note")
    card = pd.DataFrame(
        [
            {
                "paper": number.paper,
                "item": number.label,
                "quantity": number.quantity,
                **dict(zip(columns, cells, strict=True)),
            }
            for number, cells in zip(numbers, verdicts, strict=True)
        ]
    )
    table = verdict_table(card, numbers, "made_up")
    assert list(table) == [
        "",
        "reproduced",
        "differs",
        "better than printed",
        "not judged",
        "not comparable",
        "after a search",
    ]
    assert table.to_numpy().tolist() == [
        ["Table 1", "0", "2", "0", "0", "0", "1 of 2"],
        ["Figure 1", "0", "0", "0", "0", "1", ""],
    ]
    assert difference_table(card, "made_up", [WHY]).to_numpy().tolist() == [
        ["table1/bank/rns_hmc", "1", "1", "another clock; see there"],
        ["table1/bank/rns_hmc", "1", "0", "unexplained"],
    ]
    assert verdict_sentence(card[4:5]) == "1 number, not comparable."
    unjudged = card.assign(verdict=["not judged"] * 4 + ["repeat"] * 2)
    assert verdict_sentence(unjudged) == "4 numbers, not judged in this run; 2 numbers, not comparable."
    assert verdict_sentence(card) == (
        "Numbers compared with the paper: 3; reproduced: 1; different: 2 (1 without a reason); "
        "after a search, reproduced: 1 of 2; not comparable: 1."
    )
