"""Masked arrays, as of netCDF files: what is masked is missing, whatever number is under the mask."""

from typing import Any

import numpy as np


def unmasked(values: Any) -> Any:
    """The same, with NaN where it is masked."""
    masked = isinstance(values, np.ma.MaskedArray)
    return values.astype(np.float64).filled(np.nan) if masked else values
