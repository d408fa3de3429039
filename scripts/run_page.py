"""Run the fenced blocks of a page in order, in the current folder, as its reader would.

    python scripts/run_page.py docs/tutorial.md

Python blocks share their names; a block with a title is written to the file of that name; ``sh`` blocks run in the
shell with this ``python``; a ``text`` block shows the output of the Python block before it. The script uses the
standard library only: `make test-wheel` runs it in an environment with rnshmc and its dependencies alone.
"""

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = re.compile(r'^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Output:
    """Output that a page shows.

    Attributes
    ----------
    shown
        The text on the page.
    printed
        Output of the Python block before it.
    start, end
        Position of the text, in characters from the start of the page.
    """

    shown: str
    printed: str
    start: int
    end: int


def run_page(page: Path) -> tuple[dict[str, Any], list[Output]]:
    """Run all fenced blocks of a page; return the names that its Python blocks define, and its outputs.

    Raises
    ------
    ValueError
        If a block is in another language and has no title.
    """
    text = page.read_text(encoding="utf-8")
    # Worker processes cannot import a page's definitions; as from a script, they are sent by value.
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs: list[Output] = []
    printed = ""
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("code"))
        language, title, code = block["language"], block["title"], block["code"]
        if title is not None:
            Path(title).write_text(code, encoding="utf-8")
        elif language == "python":
            with redirect_stdout(io.StringIO()) as stream:
                exec(compile("\n" * line + code, str(page), "exec"), names)
            printed = stream.getvalue()
            print(printed, end="")
        elif language == "text":
            outputs.append(Output(code, printed, block.start("code"), block.end("code")))
        elif language == "sh":
            path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
            subprocess.run(["sh", "-ec", code], check=True, env={**os.environ, "PATH": path})
        else:
            raise ValueError(f"{page}, line {line}: nothing here runs {language or 'a block without a language'}")
    return names, outputs


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
