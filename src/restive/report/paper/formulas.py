"""Formulas in plain text, such as ``42 D_eps sqrt(B C T log(T/delta))``, typeset as MathML.

Claims are written once, in letters that terminals and JSON have. Here their formulas are found by a
small grammar and set: a name is a single letter or one that the paper has, with indices; ``f(x)``
without a space is a function of x, ``f (x)`` a product. What the grammar does not read stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup, escape

GREEK = {"eps": "ε", "epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ", "tau": "τ"}
FUNCTIONS = {"log", "max", "min", "sup", "lcm", "exp"}
SIGNS = {"<=": "≤", ">=": "≥", "-": "−", "...": "…", "*": "∗", "in": "∈"}
RELATIONS = ("<=", ">=", "=", "<", ">", "in")
BIG = {"sum": "∑", "prod": "∏"}
TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<word>[A-Za-z]\w+(?:[-.'][A-Za-z0-9]+)+|[A-Z]-[a-z]{2,}|'s)  # theorem-2-run, T-step
  | (?P<number>\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)(?!\w\w|[a-z_])  # 8T is 8 times T
  | (?P<name>[A-Za-z]+\d*(?:_(?:[A-Za-z0-9]+))?'?)
  | (?P<sign><=|>=|\.\.\.|[=<>+\-/^|(){},*])
  | (?P<other>.)
""", re.VERBOSE)  # fmt: skip


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class UnreadError(Exception):
    """What comes next is no formula."""


def typeset(text: str) -> Markup:
    """The text with its formulas as MathML; everything else escaped.

    >>> typeset("Regret grows like sqrt(T).")
    Markup('Regret grows like <math><msqrt><mi>T</mi></msqrt></math>.')
    """
    parts, position = [Markup()], 0
    for start, end, mathml in _scan(text):
        parts += [escape(text[position:start]), Markup("<math>{}</math>").format(mathml)]
        position = end
    return Markup().join([*parts, escape(text[position:])])


def formulas(text: str) -> list[str]:
    """The pieces of a text that are set as formulas.

    >>> formulas("At most C log2(8T/C) episodes in 3 runs (Section 5).")
    ['C log2(8T/C)']
    """
    return [text[start:end] for start, end, _ in _scan(text)]


def _scan(text: str) -> list[tuple[int, int, Markup]]:
    tokens = [Token(str(m.lastgroup), m.group(), *m.span()) for m in TOKEN.finditer(text)]
    k, pieces = 0, []
    while k < len(tokens):
        if tokens[k].text.startswith("eps-"):  # eps-close
            start = tokens[k].start
            pieces.append((start, start + 3, _symbol("eps")))
        reader = _Reader(tokens, k)
        try:
            mathml = reader.relation()
        except UnreadError:
            k += 1
            continue
        if reader.telling and tokens[k].text != "A":  # the article
            pieces.append((tokens[k].start, tokens[reader.at - 1].end, mathml))
        k = max(reader.at, k + 1)
    return pieces


class _Reader:
    """Recursive descent; every method leaves ``at`` behind the last token that it read."""

    def __init__(self, tokens: list[Token], at: int) -> None:
        self.tokens, self.at = tokens, at
        self.telling = False  # whether there is more than a number

    def peek(self, offset: int = 0) -> Token:
        k = self.at + offset
        return self.tokens[k] if k < len(self.tokens) else Token("end", "", -1, -1)

    def try_(self, rule: Callable[[], Markup]) -> Markup | None:
        """What the rule reads, or nothing and the place as before."""
        before, telling = self.at, self.telling
        try:
            return rule()
        except UnreadError:
            self.at, self.telling = before, telling
            return None

    def after_space(self) -> Token:
        while self.peek().kind == "space":
            self.at += 1
        return self.peek()

    def relation(self) -> Markup:
        left = self.sum()
        while (right := self.try_(lambda: self.joined(RELATIONS, self.sum))) is not None:
            left, self.telling = left + right, True
        return left

    def joined(self, signs: tuple[str, ...], rule: Callable[[], Markup]) -> Markup:
        """A sign of these and what follows it."""
        token = self.after_space()
        if token.text not in signs:
            raise UnreadError
        self.at += 1
        after = self.after_space()
        if token.text == "in" and after.text != "{" and not re.match(r"[A-Z]_", after.text):
            raise UnreadError  # the word
        return _operator(token.text) + rule()

    def sum(self) -> Markup:
        left = self.product()
        while (right := self.try_(lambda: self.joined(("+", "-"), self.product))) is not None:
            left += right
        return left

    def product(self) -> Markup:
        sign = Markup()
        if self.peek().text == "-" and self.peek(1).kind in ("number", "name"):
            self.at, sign = self.at + 1, _operator("-")
        left = self.power()
        while True:
            right = self.try_(lambda: self.joined(("/",), self.power))
            if right is None:
                right = self.try_(self.factor)
            if right is None:
                return sign + left
            left += right

    def factor(self) -> Markup:
        """Something to multiply with; never a number, which would be the next word."""
        spaced = self.peek().kind == "space"
        token = self.after_space()
        if token.kind == "number" or (token.text == "(" and not spaced) or token.text == "{":
            raise UnreadError
        return Markup('<mspace width="0.17em"/>') + self.power()

    def power(self) -> Markup:
        base = self.atom()
        if self.peek().text != "^":
            return base
        self.at += 1
        self.telling = True
        exponent = self.try_(lambda: self.bracketed("(", ")", bare=True)) or self.atom()
        raised = Markup("<msup>{}<mrow>{}</mrow></msup>").format(_one(base), exponent)
        argument = self.try_(lambda: self.bracketed("(", ")"))
        return raised + (argument or Markup())

    def atom(self) -> Markup:
        token = self.peek()
        if token.kind == "number":
            self.at += 1
            return self.number(token.text)
        if token.kind == "name":
            return self.name()
        for opening, closing in (("(", ")"), ("|", "|"), ("{", "}")):
            if token.text == opening:
                return self.bracketed(opening, closing)
        raise UnreadError

    def number(self, text: str) -> Markup:
        mantissa, _, exponent = text.partition("e")
        if not exponent or float(mantissa) == 0:
            return Markup("<mn>{}</mn>").format("0" if exponent else text)
        self.telling = True
        power = Markup("<msup><mn>10</mn><mn>{}</mn></msup>").format(
            str(int(exponent)).replace("-", "−")
        )
        if float(mantissa) == 1:
            return power
        return Markup("<mn>{}</mn><mo>·</mo>{}").format(mantissa, power)

    def bracketed(self, opening: str, closing: str, bare: bool = False) -> Markup:
        if self.peek().text != opening:
            raise UnreadError
        self.at += 1
        inside = self.listed()
        if self.after_space().text != closing:
            raise UnreadError
        self.at += 1
        self.telling = self.telling or opening == "|"
        if bare:
            return inside
        return Markup("<mrow>{}{}{}</mrow>").format(
            _operator(opening, ' stretchy="false" form="prefix"'), inside,
            _operator(closing, ' stretchy="false" form="postfix"'),
        )  # fmt: skip

    def listed(self) -> Markup:
        """Entries between commas, some of which may be left out."""
        entries = self.entry()
        while self.after_space().text == ",":
            self.at += 1
            self.after_space()
            entries += _operator(",") + self.entry()
        return entries

    def entry(self) -> Markup:
        self.after_space()
        if self.peek().text == "...":
            self.at += 1
            return Markup("<mi>…</mi>")
        return self.relation()

    def name(self) -> Markup:
        word, _, index = self.peek().text.rstrip("'").partition("_")
        prime = Markup("<mo>′</mo>") if self.peek().text.endswith("'") else Markup()
        symbol = _symbol(word)
        self.at += 1
        if word in BIG:
            return self.big(BIG[word], index)
        if word in ("sqrt", "ceil"):
            return self.enclosed(word)
        self.telling = self.telling or word not in ("K", "C", "L", "R")  # names of arms elsewhere
        if index:
            small = _symbol(index) if index.isalpha() else Markup("<mn>{}</mn>").format(index)
            symbol = Markup("<msub>{}{}</msub>").format(_one(symbol), small)
        if word == "rho" and self.peek().text == "*":
            self.at += 1
            symbol = Markup("<msup>{}<mo>∗</mo></msup>").format(symbol)
        symbol += prime
        if word in FUNCTIONS or word == "log2":
            return self.applied(symbol)
        argument = self.try_(lambda: self.bracketed("(", ")"))
        return symbol + (argument or Markup())

    def big(self, sign: str, index: str) -> Markup:
        self.telling = True
        bound = Markup("<munder><mo>{}</mo><mi>{}</mi></munder>").format(sign, index)
        body = self.try_(lambda: self.bracketed("(", ")")) or self.try_(self.factor)
        if body is None:
            raise UnreadError
        return (bound if index else Markup("<mo>{}</mo>").format(sign)) + body

    def enclosed(self, word: str) -> Markup:
        """A root or what is rounded up: of a bracket, or of the next thing."""
        self.telling = True
        inside = self.try_(lambda: self.bracketed("(", ")", bare=True))
        if inside is None:
            self.after_space()
            inside = self.atom()
        if word == "sqrt":
            return Markup("<msqrt>{}</msqrt>").format(inside)
        return Markup('<mrow><mo form="prefix">⌈</mo>{}<mo form="postfix">⌉</mo></mrow>').format(
            inside
        )

    def applied(self, symbol: Markup) -> Markup:
        """A function of a bracket, of a power that is to come, or of the next thing."""
        self.telling = True
        if self.peek().text == "^":
            return symbol
        argument = self.try_(lambda: self.bracketed("(", ")"))
        if argument is not None:
            return symbol + argument
        if self.after_space().text == "/":
            return symbol
        return symbol + Markup('<mspace width="0.17em"/>') + self.power()


def _symbol(word: str) -> Markup:
    if word in GREEK:
        return Markup("<mi>{}</mi>").format(GREEK[word])
    if word == "Tmix":
        return Markup('<msub><mi>T</mi><mi mathvariant="normal">mix</mi></msub>')
    if word == "log2":
        return Markup("<msub><mi>log</mi><mn>2</mn></msub>")
    if (len(word) == 1 and word not in "aI") or word in FUNCTIONS | BIG.keys() | {"sqrt", "ceil"}:
        return Markup("<mi>{}</mi>").format(word)
    raise UnreadError


def _one(mathml: Markup) -> Markup:
    return Markup("<mrow>{}</mrow>").format(mathml)


def _operator(sign: str, how: str = "") -> Markup:
    if sign == "/":
        how = ' lspace="0" rspace="0"'
    return Markup("<mo{}>{}</mo>").format(Markup(how), SIGNS.get(sign, sign))
