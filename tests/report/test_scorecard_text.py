"""The scorecard as people read it."""

from dataclasses import replace

import pandas as pd

from rnshmc.report.scorecard_text import verdict_sentence
from rnshmc.scorecard.published import Published
from tests.scorecard.conftest import NUMBER


def card_of_every_kind() -> tuple[list[Published], pd.DataFrame]:
    """Some published numbers, and a scorecard with a verdict of each kind."""
    numbers = [replace(NUMBER, quantity=name) for name in ("ap", "ess_min", "ess_max", "speedup")]
    numbers += [replace(NUMBER, item="fig1", heading="Figure 1"), replace(NUMBER, paper="another")]
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
    return numbers, card


def test_a_sentence_has_the_counts_of_verdicts() -> None:
    _, card = card_of_every_kind()
    assert verdict_sentence(card[4:5]) == "1 number, not comparable."
    unjudged = card.assign(verdict=["not judged"] * 4 + ["repeat"] * 2)
    assert verdict_sentence(unjudged) == "4 numbers, not judged in this run; 2 numbers, not comparable."
    assert verdict_sentence(card) == (
        "Numbers compared with the paper: 3; reproduced: 1; different: 2 (1 without a reason); "
        "after a search, reproduced: 1 of 2; not comparable: 1."
    )
