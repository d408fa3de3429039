"""What a page shows against what its code prints: the same words, and numbers that another processor may give.

Another processor rounds differently, and its chains take another path, as with another seed. So

- means and standard deviations in a table of results, and log evidences, agree within their standard errors;
- standard errors, and counts of evaluations, have the ratios that they may have between seeds;
- of the lines of a verdict, the mark and the words up to the first number agree: the numbers vary by orders of
  magnitude between paths. Only the line of R-hat may have another mark, and with it the verdict another first sentence:
  it is marked above 1.01, and over 30 seeds the largest R-hat in the tutorial was 1.0099;
- all other numbers agree within `ROUNDING`.

scripts/docs_output.py writes what is printed into the pages.
"""

import math
import re
from collections.abc import Sequence

from rnshmc.inference.result.verdict import HEADS
from tests.conftest import z_bound

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
ROW = re.compile(rf"^(?P<name>\S+)(?P<numbers>(?:\s+{NUMBER.pattern}){{4}})(?:\s+(?P<unit>\S.*))?$")
EVIDENCE = re.compile(rf"^log evidence (?P<value>{NUMBER.pattern}) \+- (?P<error>{NUMBER.pattern})(?P<rest> .*)?$")
LINE = re.compile(r"^ [ !] \S")
COUNTED = ("evaluation", "values", "units", "points", "exact Metropolis")
SPREAD, ERROR_SPREAD = 0.2, 0.27
"""Standard deviations of the logarithms of a count and of a standard error over 30 seeds of the pages' examples."""
ROUNDING = 1e-5
"""Relative error of six printed digits."""


def differences(shown: str, printed: str) -> list[str]:
    """How an output on a page differs from what was printed, a line for each difference."""
    old, new = (_lines(text) for text in (shown, printed))
    if len(old) != len(new):
        return [f"{len(old)} lines are shown, {len(new)} are printed"]
    pairs = list(zip(old, new, strict=True))
    chance = any("R-hat" in a and "R-hat" in b and a[:3] != b[:3] for a, b in pairs)
    return [f"shown: {a}\nprinted: {b}" for a, b in pairs if not _agree(a, b, chance=chance)]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _agree(shown: str, printed: str, *, chance: bool) -> bool:
    if LINE.match(shown) and LINE.match(printed):
        start = 3 if "R-hat" in shown else 0
        return NUMBER.split(shown)[0][start:] == NUMBER.split(printed)[0][start:]
    if chance and all(line.startswith(tuple(HEADS.values())) for line in (shown, printed)):
        return True
    if (old := ROW.match(shown)) and (new := ROW.match(printed)):
        return (old["name"], old["unit"]) == (new["name"], new["unit"]) and _same_estimates(old, new)
    if (old := EVIDENCE.match(shown)) and (new := EVIDENCE.match(printed)):
        return old["rest"] == new["rest"] and _same_estimate(old.group(1, 2), new.group(1, 2), alike=1)
    if [part.split() for part in NUMBER.split(shown)] != [part.split() for part in NUMBER.split(printed)]:
        return False
    counted = any(word in shown for word in COUNTED)
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(a == b or _close(float(a), float(b), counted=counted) for a, b in pairs)


def _close(a: float, b: float, *, counted: bool) -> bool:
    if counted and a > 0 and b > 0:
        return _same_ratio(a, b, SPREAD)
    return abs(a - b) <= ROUNDING * abs(a)


def _same_ratio(a: float, b: float, spread: float) -> bool:
    """Whether two numbers differ by no more than they may if their logarithms are normal with that deviation."""
    return abs(math.log(a / b)) < z_bound() * math.sqrt(2) * spread


def _same_estimates(old: re.Match[str], new: re.Match[str]) -> bool:
    """Whether two pairs of an estimate and its error agree."""
    a, b = (NUMBER.findall(row["numbers"]) for row in (old, new))
    return all(_same_estimate(a[i : i + 2], b[i : i + 2], alike=4) for i in (0, 2))


def _same_estimate(old: Sequence[str], new: Sequence[str], *, alike: int) -> bool:
    """Whether two estimates with their errors agree, among so many numbers that are compared."""
    (a, error), (b, other) = (tuple(map(float, pair)) for pair in (old, new))
    near = abs(a - b) < z_bound(alike) * math.hypot(error, other) + _digit(old[0])
    return near and _same_ratio(error, other, ERROR_SPREAD)


def _digit(number: str) -> float:
    """One in the last digit that is printed."""
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
