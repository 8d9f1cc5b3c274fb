"""Text for TeX: nothing in it is taken for a command."""

from __future__ import annotations

import re
import unicodedata

# letters that TeX takes for commands, and signs that its fonts lack
SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "{''}",
    "−": r"\ensuremath{-}", "√": r"\ensuremath{\surd}", "…": r"\ldots{}", "†": r"\dag{}",
    "µ": r"\ensuremath{\mu}", "–": "--", "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}",
}  # fmt: skip
ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u0304": "=",
    "\u0307": ".", "\u030a": "r", "\u030c": "v", "\u0327": "c", "\u030b": "H", "\u0306": "u",
}  # fmt: skip


def tex(words: str) -> str:
    """Words as TeX prints them, whatever they hold: one line, in letters that any TeX has.

    Letters with accents become commands; what else TeX's own fonts lack becomes a question mark.

    >>> tex("50% of a_b"), tex("Rémi"), tex("名")
    ('50\\\\% of a\\\\_b', "R{\\\\'e}mi", '?')
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return "".join(_letter(letter) for letter in unicodedata.normalize("NFC", line))


def _letter(letter: str) -> str:
    if letter in SIGNS:
        return SIGNS[letter]
    if letter.isascii():
        return letter
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if re.fullmatch("[A-Za-z]", base) and len(marks) == 1 and marks[0] in ACCENTS:
        accent = ACCENTS[marks[0]]
        space = " " if accent.isalpha() else ""
        body = {"i": r"\i", "j": r"\j"}.get(base, base)
        return f"{{\\{accent}{space}{body}}}"
    return "?"
