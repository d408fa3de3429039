"""`python -m rnshmc settings.yaml`."""

import re
import subprocess
import sys
from pathlib import Path

import arviz
import numpy as np
import pytest

from rnshmc.errors import DataError, ParameterError, StoreError
from rnshmc.inference import settings
from rnshmc.inference.settings import run_file

MODEL = """
from helper import scale

def posterior(shift=0.0):
    def density(x):
        return -0.5 * float(((x - shift) / scale) @ ((x - shift) / scale))
    return density
"""
SETTINGS = """
target: {kind: python, path: model.py, make: posterior, settings: {shift: 2.0}}
x0: [1.0, 3.0]
names: [a, b]
draws: 100
pool: 1
filepath: evaluations.jsonl
output: draws.nc
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "helper.py").write_text("scale = 0.5\n")
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    return tmp_path


def test_a_file_does_what_the_call_does(folder: Path) -> None:
    command = [sys.executable, "-m", "rnshmc", str(folder / "settings.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.search(r"evaluated \d+ points, \d+ units: \d+ values", done.stdout)
    assert "draws.nc" in done.stdout
    assert re.match(r"rnshmc: \w+: \d+ points, \d+ units: \d+ values, \d+ gradients\n", done.stderr)
    data = arviz.from_netcdf(folder / "draws.nc")
    assert list(data.posterior.data_vars) == ["a", "b"]
    assert (folder / "evaluations.jsonl").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("draws:", "drawz:", "'drawz' is not known; did you mean 'draws'?"),
        ("x0: [1.0, 3.0]\n", "", "'x0' is missing"),
        ("kind: python", "kind: pyton", "target: expected the kind python or umbridge, got 'pyton'"),
        ("make: posterior", "made: posterior", "target: 'made' is not known; did you mean 'make'?"),
        ("make: posterior", "make: likelihood", r"model.py has no function 'likelihood'"),
        ("output: draws.nc", "output: 5", "output: expected the path of a file, got 5"),
        ("filepath: evaluations.jsonl", "filepath: 5", "filepath: expected the path of a file, got 5"),
        ("pool: 1", "time_limit: abc", "time_limit: expected a positive number of seconds, got 'abc'"),
        ("pool: 1", "resume: no", "resume: expected True or False, got 'no'"),
        ("pool: 1", "bounds: 3", "bounds: expected a list, got 3"),
        ("names: [a, b]", "names: [true, b]", "names: expected words, got True"),
        ("path: model.py", "path: 5", "target, path: expected the path of a Python file, got 5"),
        ("make: posterior", "make: 5", "target, make: expected the name of a function, got 5"),
        ("{shift: 2.0}", "[2.0]", r"target, settings: expected arguments of posterior by name, got \[2.0\]"),
        ("{shift: 2.0}", "{2: 2.0}", r"target, settings: expected arguments of posterior by name, got \{2: 2.0\}"),
        ("{shift: 2.0}", "{shft: 2.0}", r"model.py raised TypeError: posterior\(\) got an unexpected keyword"),
        ("path: model.py", "path: absent.py", r"there is no Python file .*absent.py"),
        (
            "{kind: python, path: model.py, make: posterior, settings: {shift: 2.0}}",
            "model.py",
            "target: expected kind",
        ),
    ],
)
def test_mistakes_are_told_by_key(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "settings.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ParameterError, match=message):
        run_file(path)


def test_evaluations_and_priors_may_stand_in_the_file(folder: Path) -> None:
    evaluations = "evaluations: {points: [[2.0, 2.0]], log_densities: [0.0]}"
    (folder / "settings.yaml").write_text(f"{SETTINGS}\n{evaluations}\n")
    assert run_file(folder / "settings.yaml")[0].verdict.level == "good"
    for prior, expected in (([0.0, 1.0], (0.0, 1.0)), (["normal", 0, 1], ("normal", 0, 1))):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(settings, "UMBridge", lambda url, prior=None: prior)
            assert settings.make_target({"kind": "umbridge", "url": "here", "prior": prior}, folder) == expected


def test_a_file_that_cannot_be_read_is_told_in_one_line(folder: Path) -> None:
    for text in ("a: [", "just text"):
        (folder / "settings.yaml").write_text(text)
        with pytest.raises(DataError, match=r"settings\.yaml"):
            run_file(folder / "settings.yaml")
    command = [sys.executable, "-m", "rnshmc", str(folder / "absent.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("rnshmc: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("model.py/draws.nc", r"rnshmc: output: \S*model\.py/draws\.nc cannot be written: "),
        (".", r"rnshmc: output: \S* is a folder; name a file, such as draws\.nc"),
    ],
)
def test_an_output_that_cannot_be_written_is_told_before_sampling(folder: Path, output: str, message: str) -> None:
    path = folder / "settings.yaml"
    path.write_text(path.read_text().replace("draws.nc", output))
    done = subprocess.run([sys.executable, "-m", "rnshmc", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(message + ".*\n", done.stderr)
    assert not (folder / "evaluations.jsonl").exists()


VANISHING = """
import shutil
from pathlib import Path

def posterior():
    def density(x):
        folder = Path({folder!r})
        if folder.is_dir():
            shutil.rmtree(folder)
            folder.write_text("a file in its place")
        return -0.5 * float(x @ x)
    return density
"""


def test_a_result_that_cannot_be_written_at_the_end_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = folder / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    path, output = folder / "settings.yaml", folder / "out"
    (folder / "model.py").write_text(VANISHING.format(folder=str(output)))
    path.write_text(path.read_text().replace("draws.nc", "out/draws.nc").replace(", settings: {shift: 2.0}", ""))
    done = subprocess.run([sys.executable, "-m", "rnshmc", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "100 draws" in done.stdout
    last = done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    message = re.fullmatch(
        r"rnshmc: output: \S*out/draws\.nc was not written \(.*\); the draws are in (\S*/draws\.nc)", last
    )
    assert message is not None
    assert Path(message[1]).is_relative_to(temporary)
    sizes = arviz.from_netcdf(message[1]).posterior.sizes
    assert sizes["chain"] * sizes["draw"] == 100


def test_draws_that_netcdf_cannot_hold_are_kept_as_arrays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "settings.yaml"
    path.write_text(re.sub(r"names: .*", "names: [k_on/k_off, scale]", path.read_text()))
    result, output = run_file(path)
    settings.save(result, output)
    assert "k_on%2Fk_off" in arviz.from_netcdf(output).posterior

    def refusing(*_: object) -> None:
        raise ValueError("a name that netCDF refuses")

    monkeypatch.setattr(type(result), "save", refusing)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(StoreError, match=r"was not written \(a name that .*\); the draws are in .*\.npz") as raised:
        settings.save(result, output)
    with np.load(str(raised.value).rpartition(" ")[2]) as stored:
        np.testing.assert_array_equal(stored["draws"], result.draws)
        assert stored["names"].tolist() == ["k_on/k_off", "scale"]


def test_a_file_may_define_a_forward_model(folder: Path) -> None:
    (folder / "model.py").write_text(
        "import numpy as np\nimport rnshmc\n\n"
        "def posterior():\n"
        "    likelihood = rnshmc.Gaussian(sd='noise')\n"
        "    prior = {'a': ('normal', 0, 1), 'noise': ('halfnormal', 1)}\n"
        "    return rnshmc.Model(lambda x: x[0] * np.arange(9.0), np.arange(9.0) ** 1.1, "
        "likelihood=likelihood, prior=prior)\n"
    )
    (folder / "settings.yaml").write_text(
        "target: {kind: python, path: model.py, make: posterior}\nx0: [0.0, 0.5]\nnames: [a]\n"
        "draws: 100\nfilepath: runs.jsonl\n"
    )
    result, _ = run_file(folder / "settings.yaml")
    assert result.names == ("a", "noise")
    runs = (folder / "runs.jsonl").read_text().splitlines()
    assert len(runs) == result.spent.units + 1
    assert '"names": ["a"]' in runs[0]


def test_words_and_numbers_are_those_that_are_meant(folder: Path) -> None:
    """In PyYAML, 1e1 is a word and NO is false."""
    content = SETTINGS.replace("[a, b]", "[NO, N]").replace("pool: 1", "time_limit: 1e1")
    (folder / "settings.yaml").write_text(content)
    assert run_file(folder / "settings.yaml")[0].names == ("NO", "N")


def test_a_key_that_appears_twice_is_told_with_its_line(folder: Path) -> None:
    (folder / "settings.yaml").write_text(f"{SETTINGS}draws: 200\n")
    with pytest.raises(DataError, match=r"settings.yaml, line 9: the key 'draws' appears twice"):
        run_file(folder / "settings.yaml")


def test_a_start_may_be_a_mapping(folder: Path) -> None:
    (folder / "settings.yaml").write_text(SETTINGS.replace("[1.0, 3.0]", "{b: 3.0, a: 1.0}"))
    assert run_file(folder / "settings.yaml")[0].names == ("a", "b")


def test_a_file_of_the_working_folder_does_not_replace_a_module(folder: Path) -> None:
    name = "random.py"
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / name).write_text(MODEL)
    command = [sys.executable, "-m", "rnshmc", "../settings.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    (folder / "settings.yaml").write_text(SETTINGS.replace("model.py", f"elsewhere/{name}"))
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=elsewhere)
    assert done.returncode == 1
    assert re.fullmatch(rf"rnshmc: target: .*{name} has the name of a module that others import.*\n", done.stderr)
