"""All claims, in the order of the paper, and how to find some of them by name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from restive.base.errors import refusal
from restive.base.words import guess
from restive.paper import claims
from restive.paper.claim import Claim

_BY_NAME = {
    claim.name: claim
    for room in iter_modules(claims.__path__)
    for claim in import_module(f"{claims.__name__}.{room.name}").CLAIMS
}
_ORDER = """
    exp3s equation-1 equation-1-square example-1 example-2 example-3 example-4 theorem-1
    theorem-1-counting theorem-2-bound theorem-2-rate theorem-2-rate-slow theorem-2-telling
    theorem-2-run unknown-mixing-time periodic-arms theorem-3-constant theorem-3-states
    theorem-3-aperiodic remark-2 representation aggregation coloring colors algorithm-2 optimism
    plans theorem-4 theorem-4-run ucrl2 logarithm lemma-1 lemma-1-single-state return-times
    unknown-horizon reversible reversible-lazy periodic-aggregation primes unknown-periods
    unknown-states cover-time exploration-cost nothing-known order-2 confidence-sets
    appendix-failing episodes appendix-visits appendix-span simplification appendix-norm
    appendix-values
"""
CLAIMS: tuple[Claim, ...] = tuple(_BY_NAME[name] for name in _ORDER.split())


def chosen(words: str) -> tuple[Claim, ...]:
    """The claims with these names, separated by commas; theorem-2 stands for theorem-2-rate too.

    Nothing stands for all claims.

    >>> [claim.name for claim in chosen("lemma-1")]
    ['lemma-1', 'lemma-1-single-state']
    """
    if not words:
        return CLAIMS
    names = [name.strip() for name in words.split(",")]
    for name in names:
        if not any(_matches(claim, name) for claim in CLAIMS):
            known = [claim.name for claim in CLAIMS]
            remedy = f"{guess(name, known)}Claims are {', '.join(known)}."
            raise refusal("--only", "no such claim", name, remedy)
    return tuple(claim for claim in CLAIMS if any(_matches(claim, name) for name in names))


def _matches(claim: Claim, name: str) -> bool:
    return claim.name == name or (bool(name) and claim.name.startswith(f"{name}-"))
