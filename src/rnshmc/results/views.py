"""The tables of the papers as views of the table of results, in the papers' columns."""

from collections.abc import Mapping, Sequence

import pandas as pd

VIEWS: Mapping[str, Mapping[str, str]] = {
    "table1": {
        **{name: name for name in ("problem", "sampler", "hidden_units", "chains", "draws", "ap")},
        **{name: name for name in ("ess_min", "ess_median", "ess_max", "s_per_iter", "min_ess_per_s")},
        "speedup": "speedup_min_ess",
        "published_speedup": "published_speedup_min_ess",
        **{name: name for name in ("values_per_iter", "gradients_per_iter", "metrics_per_iter")},
        **{name: name for name in ("min_ess_per_value", "loaded", "data")},
    },
    "nng_tables": {
        **{name: name for name in ("problem", "sampler", "recipe", "training_draws", "chains", "draws", "ap")},
        "ap_with_empty": "ap_with_empty",
        **{name: name for name in ("ess_min", "ess_median", "ess_max")},
        **{f"truncated_{name}": f"truncated_{name}" for name in ("ess_min", "ess_median", "ess_max")},
        **{name: name for name in (f"truncated_ess_with_empty_{part}" for part in ("min", "median", "max"))},
        **{name: name for name in ("values_per_iter", "gradients_per_iter", "s_per_iter", "fit_s")},
        **{name: name for name in ("sample_s", "total_s", "median_ess_per_s")},
        "total_median_ess_per_s": "median_ess_per_s_with_training",
        "speedup": "speedup_median_ess",
        "total_speedup": "speedup_median_ess_with_training",
        "published_speedup": "published_speedup_median_ess",
        "published_total_speedup": "published_speedup_median_ess_with_training",
        **{name: name for name in ("loaded", "data")},
    },
}
"""For each view, its columns and the columns of `rnshmc.results.tables.results_table` that they rename.

``table1`` is Table 1 of paper A with counts of evaluations beside the seconds; its speed-up is that of the minimum ESS.
``nng_tables`` are Tables 1, 2, 3 and 5 of paper B; its speed-ups are those of the median ESS, without and with what the
network was trained on, as Tables 1 to 3 leave out what Table 5 includes. Speed-ups called published are relative to HMC
with two gradients a step, as the printed ones are.
"""


def view(results: pd.DataFrame, name: str, problems: Sequence[str]) -> pd.DataFrame:
    """The rows of some problems in the columns of a view."""
    columns = VIEWS[name]
    rows = results[results["problem"].isin(list(problems))]
    return rows[list(columns.values())].set_axis(list(columns), axis="columns").reset_index(drop=True)
