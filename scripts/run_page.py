"""Run the fenced blocks of a page of docs/ in order, in the present folder, as its reader would.

    python scripts/run_page.py docs/tutorial.md

Python blocks share their names; a block with a title is written to the file of that name; ``sh`` blocks are run by the
shell, where ``python`` is this one. It needs the standard library alone: `make test-wheel` runs it in an environment
that has rnshmc and what that needs.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

BLOCK = re.compile(r'^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> dict[str, Any]:
    """Run all fenced blocks of a page and return the names that its Python blocks define.

    Raises
    ------
    ValueError
        If a block is in another language and has no title.
    """
    text = page.read_text(encoding="utf-8")
    # Worker processes cannot import what a page defines: as from a script, it is sent to them.
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("code"))
        language, title, code = block["language"], block["title"], block["code"]
        if title is not None:
            Path(title).write_text(code, encoding="utf-8")
        elif language == "python":
            exec(compile("\n" * line + code, str(page), "exec"), names)
        elif language == "sh":
            path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
            subprocess.run(["sh", "-ec", code], check=True, env={**os.environ, "PATH": path})
        else:
            raise ValueError(f"{page}, line {line}: nothing here runs {language or 'a block without a language'}")
    return names


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
