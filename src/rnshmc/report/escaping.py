"""Text of a config, such as a title, inside Markdown and LaTeX, where it is neither markup nor command."""

import re

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|&$~])")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        # At the start of a row these would be arguments of the row break before it.
        "[": "{[}",
        "*": "{*}",
        **{character: f"\\{character}" for character in "_%&#${}"},
        "\N{EN DASH}": "--",
        "\N{NO-BREAK SPACE}": "~",
        "†": r"\textsuperscript{\dag}",
    }
)


def in_markdown(text: str) -> str:
    """Text on one line of Markdown, also as a cell of a table."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.splitlines()))


def in_latex(text: object) -> str:
    """Text on one line of LaTeX, also as a cell of a table."""
    return " ".join(str(text).splitlines()).translate(_LATEX)
