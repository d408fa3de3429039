"""Of a module of exception classes, a digest has the classes that the code names, and those that they derive from."""

from pathlib import Path

import pytest

from rnshmc.rerun.code_digest import code_digest
from rnshmc.rerun.error_classes import error_classes, named_classes

ROOT = Path(__file__).resolve().parents[2]
ERRORS = '''"""Errors."""

from rnshmc.other import OtherError


class Base(Exception):
    """All of them."""


class BadFit(Base, ValueError):
    """A fit."""


class Unused(OtherError):
    pass
'''


def test_the_errors_of_the_package_are_bare() -> None:
    classes = error_classes((ROOT / "src/rnshmc/errors.py").read_text(encoding="utf-8"))
    assert classes["NumericalError"] == ("RnshmcError", "ArithmeticError")


def test_a_class_comes_with_those_that_it_derives_from() -> None:
    classes = error_classes(ERRORS)
    assert named_classes(classes, ["BadFit", "no class"]) == "BadFit(Base,ValueError) Base(Exception)"
    assert named_classes(classes, ["Unused"]) == "Unused(OtherError)"


@pytest.mark.parametrize(
    "more",
    [
        "CODES = {}\n",
        "def helper():\n    pass\n",
        "class Told(Base):\n    code = 1\n",
        "class Told(Base):\n    def __str__(self):\n        return 'x'\n",
        "class Settings:\n    pass\n",
        "class Driver(Protocol):\n    pass\n",
        "@register\nclass Told(Base):\n    pass\n",
        "class Told(Base, metaclass=Meta):\n    pass\n",
    ],
)
def test_a_module_with_behaviour_counts_as_a_whole(more: str) -> None:
    assert error_classes(ERRORS + more) == {}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "script.py": "from rnshmc.fit import fit\nfit()\n",
        "src/rnshmc/__init__.py": "",
        "src/rnshmc/errors.py": ERRORS,
        "src/rnshmc/other.py": "class OtherError(Exception):\n    pass\n",
        "src/rnshmc/fit.py": "from rnshmc.errors import BadFit\n\ndef fit():\n    raise BadFit\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("class Unused", "class Added(Base):\n    pass\n\n\nclass Unused", False),
        ("class Unused(OtherError):\n    pass\n", "", False),
        ("class Unused(OtherError)", "class Unused(BadFit)", False),
        ("    pass\n", '    """Not used."""\n', False),
        ("BadFit(Base, ValueError)", "BadFit(Base, ArithmeticError)", True),
        ("Base(Exception)", "Base(BaseException)", True),
        ("class Unused", "def helper():\n    pass\n\n\nclass Unused", True),
        ('    """A fit."""\n', "    code = 1\n", True),
    ],
    ids=["added", "removed", "unused", "docstring", "base", "base of a base", "function", "attribute"],
)
def test_a_digest_follows_what_the_code_can_raise_and_catch(root: Path, old: str, new: str, counts: bool) -> None:
    def digest() -> str:
        return code_digest(Path("script.py"), (), root)

    before, errors = digest(), root / "src/rnshmc/errors.py"
    assert old in ERRORS
    errors.write_text(ERRORS.replace(old, new), encoding="utf-8")
    assert (digest() != before) is counts
