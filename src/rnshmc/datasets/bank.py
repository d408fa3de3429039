"""UCI Bank Marketing as paper A uses it: 40197 observations, intercept and 24 features (section 5.1)."""

from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData, of_file
from rnshmc.datasets.tables import Table, read_table
from rnshmc.errors import DataError
from rnshmc.types import Array

CLIENT = ("age", "job", "marital", "education", "default", "housing", "loan")
CONTACT = ("contact", "month", "day_of_week", "duration", "campaign", "pdays", "previous", "poutcome")
ECONOMY = ("emp.var.rate", "cons.price.idx", "cons.conf.idx", "euribor3m", "nr.employed")
FIELDS = (*CLIENT, *CONTACT, *ECONOMY, "y")

EDUCATION = (
    *("basic.4y", "basic.6y", "basic.9y", "high.school", "illiterate"),
    *("professional.course", "university.degree", "unknown"),
)
JOBS = (
    *("admin.", "blue-collar", "entrepreneur", "housemaid", "management", "retired", "self-employed", "services"),
    *("student", "technician", "unemployed"),
)


def read_bank(path: str | Path) -> LogisticData:
    """Read the 24 features of bank-additional-full.csv in their own units.

    Clients whose housing is unknown are left out (their loan is unknown too), and so is the first of the rest, which
    the published preparation lost. The published file gives 40197 rows, of which 4533 are positive. Raises
    `DataError`, naming file, line and column, if a cell is not what the file's description allows.
    """
    table = read_table(path, FIELDS, delimiter=";")
    housing = table.codes("housing", ("no", "yes", "unknown"))
    table = table.where(housing < 2)
    if len(table.cells) < 2:
        raise DataError(f"{path}: fewer than two rows with a known value of housing")
    table = table.where(np.arange(len(table.cells)) > 0)
    features = _features(table)
    X = np.column_stack(list(features.values()))
    return of_file(path, X, table.labels("y", {"no": 0, "yes": 1}), tuple(features))


def _features(table: Table) -> dict[str, Array]:
    jobs = table.codes("job", (*JOBS, "unknown"))
    return {
        "age": table.numbers("age"),
        "education": table.codes("education", EDUCATION).astype(np.float64),
        "housing": table.codes("housing", ("no", "yes")).astype(np.float64),
        "loan": table.codes("loan", ("no", "yes")).astype(np.float64),
        "contact": table.codes("contact", ("cellular", "telephone")).astype(np.float64),
        **{name: table.numbers(name) for name in ("duration", "campaign", "previous", *ECONOMY)},
        **{f"job {job}": (jobs == code).astype(np.float64) for code, job in enumerate(JOBS)},
    }
