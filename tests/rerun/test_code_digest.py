"""Digests are equal if and only if the code is equivalent."""

import ast
from pathlib import Path

import pytest

from rnshmc.errors import ParameterError
from rnshmc.rerun.code_digest import ast_digest, code_digest, own_digest

ROOT = Path(__file__).parents[2]
SOURCE = '''"""What it is."""
import math

SCALE = {"a": 1.0}


def area(r):
    """Of a circle."""
    return math.pi * r**2  # by Archimedes
'''


def digest(text: str) -> str:
    return ast_digest(ast.parse(text))


def changed(old: str, new: str) -> str:
    assert old in SOURCE
    return SOURCE.replace(old, new)


@pytest.mark.parametrize(
    "text",
    [
        changed("  # by Archimedes", ""),
        changed("Of a circle.", "The area of a circle."),
        changed('    """Of a circle."""\n', ""),
        changed("What it is.", "What else it is."),
        changed("math.pi * r**2", "(\n        math.pi * r**2\n    )"),
        changed("\n\n\n", "\n"),
    ],
    ids=["comment", "docstring", "no docstring", "module docstring", "line breaks", "blank lines"],
)
def test_what_python_does_not_run_does_not_count(text: str) -> None:
    assert digest(text) == digest(SOURCE)


@pytest.mark.parametrize(
    "text",
    [
        changed("r**2", "r**3"),
        changed("r**2", "r**2.0"),
        changed("1.0", "'1.0'"),
        changed("{", "{'b': 2.0, "),
        changed("area", "disc"),
        changed("(r)", "(r=None)"),
        changed("(r)", "(r: float)"),
        changed("import math", "import math as math_"),
        changed("    return", "    print('x')\n    return"),
    ],
)
def test_all_else_counts(text: str) -> None:
    assert digest(text) != digest(SOURCE)


def test_the_digest_is_that_of_every_supported_python() -> None:
    # Results may be copied to where another Python runs: the digest of a file is pinned here, for all of them.
    assert digest(SOURCE) == "8a3e45f01ca54a2e84301a3d41408e19b47b2f9deb5262059c28b4c40d96a292"


class TestCodeDigest:
    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        files = {
            "workflow/script.py": "from rnshmc.a import thing\nthing()\n",
            "src/rnshmc/__init__.py": "",
            "src/rnshmc/a.py": "from rnshmc.registry import load\n\ndef thing():\n    return load('c')\n",
            "src/rnshmc/registry.py": "ENTRIES = {'c': 'rnshmc.c:C'}\n\ndef load(name):\n    return ENTRIES[name]\n",
            "src/rnshmc/c.py": "class C:\n    pass\n",
            "src/rnshmc/d.py": "class D:\n    pass\n",
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    def digest(self, root: Path, *entries: str) -> str:
        return code_digest(Path("workflow/script.py"), entries, root)

    @pytest.mark.parametrize(
        ("file", "counts"),
        [
            ("workflow/script.py", True),
            ("src/rnshmc/a.py", True),
            ("src/rnshmc/registry.py", True),
            ("src/rnshmc/c.py", True),
            ("src/rnshmc/d.py", False),
        ],
    )
    def test_it_covers_the_script_its_imports_and_the_entries(self, root: Path, file: str, counts: bool) -> None:
        before = self.digest(root, "rnshmc.c:C")
        path = root / file
        path.write_text(path.read_text() + "\nprint('more')\n")
        assert (self.digest(root, "rnshmc.c:C") != before) is counts

    def test_an_upper_case_constant_counts(self, root: Path) -> None:
        before = self.digest(root, "rnshmc.c:C")
        registry = root / "src/rnshmc/registry.py"
        registry.write_text(registry.read_text().replace("'rnshmc.c:C'", "('rnshmc.c:C', True)"))
        assert self.digest(root, "rnshmc.c:C") != before

    def test_another_entry_of_the_same_module_is_another_digest(self, root: Path) -> None:
        assert self.digest(root, "rnshmc.c:C") != self.digest(root, "rnshmc.c:make")

    def test_a_copy_elsewhere_has_the_same_digest(self, root: Path) -> None:
        before = self.digest(root, "rnshmc.c:C")
        assert self.digest(root.rename(root.with_name("elsewhere")), "rnshmc.c:C") == before

    def test_a_missing_entry_is_an_error_that_names_it(self, root: Path) -> None:
        with pytest.raises(ParameterError, match=r"'rnshmc\.absent'"):
            self.digest(root, "rnshmc.absent:C")


def test_every_constant_of_the_recipes_counts(tmp_path: Path) -> None:
    """A recipe's field, such as whether it is driven by mini-batches, shapes chains."""
    recipes = Path("src/rnshmc/run/recipes.py")
    for file in ("src/rnshmc/__init__.py", "src/rnshmc/errors.py", str(recipes), "src/rnshmc/run/__init__.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())
    (tmp_path / "script.py").write_text("from rnshmc.run.recipes import recipe\n")
    before, text = code_digest(Path("script.py"), (), tmp_path), (tmp_path / recipes).read_text()
    assert "surrogate=None, minibatches=True" in text
    (tmp_path / recipes).write_text(text.replace("surrogate=None, minibatches=True", "surrogate=None"))
    assert code_digest(Path("script.py"), (), tmp_path) != before


OWN = {
    "my_model.py": "import math\nimport helper\nfrom parts import one\n\ndef posterior():\n    return helper.make()\n",
    "helper.py": "def make():\n    from parts.other import two\n    return two\n",
    "parts/__init__.py": "",
    "parts/one.py": "A = 1\n",
    "parts/other.py": "two = 2\n",
    "unused.py": "B = 1\n",
}


def own_folder(folder: Path) -> Path:
    for name, text in OWN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_users_file_counts_with_what_it_imports_from_its_folder(tmp_path: Path) -> None:
    folder = own_folder(tmp_path / "here")
    before = own_digest(folder / "my_model.py", ROOT)
    for name, text in OWN.items():
        (folder / name).write_text(f"{text}# A comment.\n")
        assert own_digest(folder / "my_model.py", ROOT) == before
        (folder / name).write_text(f"{text}edited = True\n")
        assert (own_digest(folder / "my_model.py", ROOT) == before) == (name == "unused.py")
        (folder / name).write_text(text)


def test_the_place_of_a_users_folder_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = own_digest(own_folder(tmp_path / "here") / "my_model.py", ROOT)
    monkeypatch.chdir(own_folder(tmp_path / "there"))
    assert own_digest(Path("my_model.py"), ROOT) == digest


@pytest.mark.parametrize(
    "uses",
    [
        "import rnshmc\nmodel = rnshmc.Model\n",
        "import rnshmc as r\nmodel = r.Model\n",
        "from rnshmc import Model\n",
        "import rnshmc.density\nmodel = rnshmc.Model\n",
        "from rnshmc.likelihood import Model\n",
        "def make():\n    import rnshmc\n    return rnshmc.Model\n",
    ],
)
def test_what_a_users_file_uses_of_the_package_counts_and_no_more(tmp_path: Path, uses: str) -> None:
    package = tmp_path / "src/rnshmc"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('EXPORTS = {"Model": "rnshmc.likelihood", "sample": "rnshmc.call"}\n')
    (package / "likelihood.py").write_text("from rnshmc.density import log\n\nclass Model:\n    pass\n")
    for name in ("density", "call"):
        (package / f"{name}.py").write_text("log = 1\n")
    own = tmp_path / "my_model.py"
    own.write_text(uses)
    before = own_digest(own, tmp_path)
    for name, counts in (("likelihood", True), ("density", True), ("call", False)):
        text = (package / f"{name}.py").read_text()
        (package / f"{name}.py").write_text(f"{text}edited = True\n")
        assert (own_digest(own, tmp_path) != before) is counts, name
        (package / f"{name}.py").write_text(text)


def test_a_users_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"there is no file .*absent\.py in .*; paths are relative to"):
        own_digest(tmp_path / "absent.py", ROOT)
    (tmp_path / "broken.py").write_text("def posterior(:\n")
    with pytest.raises(ParameterError, match=r"broken\.py is not Python: .*\(broken\.py, line 1\)"):
        own_digest(tmp_path / "broken.py", ROOT)
