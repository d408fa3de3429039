"""Why the results of a run may differ from those of the papers."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from rnshmc.plots.style import STAND_IN
from rnshmc.results.names import Titles, sampler_label

QUICK_CHECK = (
    "Quick check on small, partly simulated problems: it shows that the pipeline works; "
    "its numbers are not the papers’."
)


@dataclass(frozen=True)
class Limits:
    """Why the results of a run may differ from those of the papers."""

    stand_ins: Sequence[str]
    fewer_rows: Sequence[str]
    """Titles of problems whose data are stand-ins, or some of the papers' rows."""
    loaded: Sequence[str]
    """Samplers and problems timed on a busy machine."""
    draws: int
    paper_draws: int | None
    """Kept draws of the longest chains, and of the longest in the papers; None where these are no longer."""

    @property
    def opening(self) -> str:
        """The sentence with which the pages of a quick run open; empty for other runs."""
        return QUICK_CHECK if self.stand_ins or self.fewer_rows or self.paper_draws else ""

    @property
    def summary(self) -> str:
        """The limits in a few words; empty if there are none."""
        reasons = {
            f"stand-in data: {len(self.stand_ins)}": self.stand_ins,
            f"fewer rows: {len(self.fewer_rows)}": self.fewer_rows,
            "short chains": self.paper_draws,
            "a busy machine": self.loaded,
        }
        return "; ".join(text for text, found in reasons.items() if found)


def limits(results: pd.DataFrame, titles: Titles, paper_draws: float) -> Limits:
    """The limits of a run.

    `results` is from `rnshmc.results.tables.results_tables`; `paper_draws` are the kept draws of the longest chains in
    the papers, of the problems of the run.
    """
    origins = results.drop_duplicates("problem").set_index("problem")["data"]
    draws = int(results["draws"].max())
    return Limits(
        stand_ins=[titles[problem] for problem in origins.index[origins == STAND_IN]],
        fewer_rows=[titles[problem] for problem in origins.index[origins == "subset"]],
        loaded=[
            f"{', '.join(map(sampler_label, rows['sampler']))} on {titles[str(problem)]}"
            for problem, rows in results[results["loaded"]].groupby("problem", sort=False)
        ],
        draws=draws,
        paper_draws=int(paper_draws) if draws < paper_draws else None,
    )
