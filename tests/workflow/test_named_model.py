"""A forward model whose prior names the parameters, through the scripts of the rules `model` and `sample_auto`."""

import logging
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rnshmc.store.chains import read_chain

SCRIPTS = Path(__file__).parents[2] / "workflow/scripts"
MODEL = """
import numpy as np
import rnshmc

TIMES = np.linspace(0.25, 4.0, 8)
PRIOR = {"rise": ("lognormal", 0.0, 1.0), "rate": ("lognormal", 0.0, 1.0), "sigma": ("halfnormal", 0.2)}


def decay(x):
    rise, rate = x
    return rise * np.exp(-rate * TIMES)


def posterior():
    data = 2.0 * np.exp(-0.7 * TIMES) + 0.05 * np.cos(40.0 * TIMES)
    return rnshmc.Model(decay, data, likelihood=rnshmc.Gaussian(sd="sigma"), prior=PRIOR)
"""
START = [1.5, 1.0, 0.1]


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """A job's log is that of the process."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    for handler in root.handlers:
        if handler not in before:
            handler.close()
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(False)


def run(script: str, folder: Path, spec: dict[str, Any], output: dict[str, Path], names: list[str] | None) -> None:
    target = {"kind": "python", "path": str(folder / "named_model.py"), "make": "posterior", "digest": ""}
    log = folder / "log.txt"
    snakemake = SimpleNamespace(
        params=SimpleNamespace(spec={"problem": "decay", "seed": 1, "target": target, "start": START, **spec}, code=""),
        input=SimpleNamespace(data=str(folder / "model.npz")),
        output=SimpleNamespace(**{key: str(path) for key, path in output.items()}),
        log=[str(log)],
        config={"problems": {"decay": {} if names is None else {"names": names}}},
    )
    if script == "model.py":
        snakemake.input = []
    runpy.run_path(str(SCRIPTS / script), init_globals={"snakemake": snakemake})


def test_it_is_sampled_by_its_names(tmp_path: Path) -> None:
    (tmp_path / "named_model.py").write_text(MODEL)
    for names in (["rise", "rate", "sigma"], None):
        run("model.py", tmp_path, {"moved": False}, {"data": tmp_path / "model.npz"}, names)
    with np.load(tmp_path / "model.npz") as record:
        assert record["dim"] == 3
    chain = tmp_path / "run/chains/decay/auto/chain1.nc"
    run("sample_auto.py", tmp_path, {"sampler": "auto", "chain": 1, "iterations": 100}, {"chain": chain}, None)
    stored = read_chain(chain)
    assert stored.draws.shape == (100, 3)
    assert re.search(r"^sigma +0\.", stored.settings["account"]["said"], re.MULTILINE)


@pytest.mark.parametrize("names", [["rate", "rise", "sigma"], ["x0", "x1", "x2"]])
def test_other_names_in_the_config_are_told(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "named_model.py").write_text(MODEL)
    with pytest.raises(SystemExit):
        run("model.py", tmp_path, {"moved": False}, {"data": tmp_path / "model.npz"}, names)
    assert (
        f"names are {', '.join(names)}, but the model's prior has rise, rate, sigma"
        in (tmp_path / "log.txt").read_text()
    )
