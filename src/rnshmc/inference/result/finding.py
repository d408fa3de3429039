"""What one check of a result found."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["good", "doubtful", "bad"]


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    level: Level
    text: str
