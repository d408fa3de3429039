"""What a peer returns: estimates, what they took, and what it says of them itself."""

from dataclasses import dataclass, field

import numpy as np

from rnshmc.types import Array


@dataclass(frozen=True)
class Outcome:
    """Result of one run of one peer."""

    mean: Array
    variance: Array
    says: str
    """What the peer says of its own result."""
    says_good: bool
    """Whether it calls the result fit for use."""
    own_draws: tuple[float, float] = field(default=(np.nan, np.nan))
    """Effective draws for means and variances by its own account; NaN where it gives none."""
    warmup_units: float = np.nan
    """Units before the first draw that counts, where further draws would go on at the same rate; otherwise NaN."""
    standard_error: Array | None = None
    """Of the means and of the variances by its own account, (2, dim); None where it gives none."""
    findings: tuple[str, ...] = ()
    """What it says against its result."""
