"""Parts that the tests of several pages share."""

import io
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rnshmc.scorecard.card import SCORECARD_COLUMNS
from rnshmc.scorecard.papers import read_papers
from rnshmc.scorecard.published import read_published

TEMPLATES = Path(__file__).parents[2] / "workflow/report"
TITLES = {"bank": "Bank Marketing", "a9a": "Adult", "mine": "My <own>"}
PAPERS = Path(__file__).parents[2] / "papers"
KNOWN_PAPERS = read_papers(PAPERS / "papers.csv")
PAPER_TITLES = {name: paper.title for name, paper in KNOWN_PAPERS.items()}
NUMBERS = read_published(PAPERS / f"{paper}.csv" for paper in PAPER_TITLES)
ROWS = """
zhang2017,table1/bank/rns_hmc,ap,0.7,0.69,0.004,0.986,reproduced,False,within 0.03
zhang2017,table1/bank/hmc,ap,0.7,0.69,0.004,0.986,reproduced,False,within 0.03
zhang2017,fig5/rns_hmc,acceptance_at_500,0.1,0.5,0.01,5.0,differs,False,unexplained; two
zhang2017,fig7/bank/arns_hmc,final_over_hmc,,,,,not judged,False,not run
"""
CARD = pd.read_csv(io.StringIO(ROWS), names=SCORECARD_COLUMNS)


@dataclass(frozen=True)
class Page:
    html: str

    @property
    def text(self) -> str:
        return " ".join(re.sub(r"<[^>]+>", " ", self.html).split())
