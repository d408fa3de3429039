"""The series of the GARCH model, as a table."""

from pathlib import Path

import numpy as np
import pandas as pd

from rnshmc.run.job import job
from rnshmc.targets.checks import read_arrays

with job(snakemake.log[0]):
    (y,) = read_arrays(Path(snakemake.input.data), "y")
    table = pd.DataFrame({"t": np.arange(1, len(y) + 1), "y": y})
    table.to_csv(snakemake.output.table, index=False, float_format="%.6g")
