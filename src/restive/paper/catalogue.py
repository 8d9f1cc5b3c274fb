"""All claims, in the order of the paper, and how to find some of them by name."""

from __future__ import annotations

from collections.abc import Sequence

from restive.base.errors import refusal
from restive.base.words import guess
from restive.paper.claim import Claim
from restive.paper.claims import (
    algorithm,
    appendix,
    colored,
    diameters,
    examples,
    hard,
    index_policies,
    mixing,
    outlook,
    rates,
    remarks,
    steps,
    ucrl2,
)


def _named(claims: Sequence[Claim], *names: str) -> tuple[Claim, ...]:
    return tuple(claim for claim in claims if claim.name in names)


CLAIMS: tuple[Claim, ...] = (
    *_named(outlook.CLAIMS, "exp3s"),
    *_named(mixing.CLAIMS, "equation-1", "equation-1-square"),
    *examples.CLAIMS,
    *index_policies.CLAIMS,
    *rates.THEOREM_2,
    rates.LEARNS,
    *_named(steps.CLAIMS, "theorem-2-run"),
    *_named(rates.EXTENSIONS, "unknown-mixing-time", "periodic-arms"),
    *hard.CLAIMS,
    *_named(outlook.CLAIMS, "remark-2"),
    examples.REPRESENTATION,
    *_named(mixing.CLAIMS, "aggregation", "coloring", "colors"),
    *_named(algorithm.CLAIMS, "algorithm-2"),
    *_named(colored.CLAIMS, "optimism"),
    *_named(steps.CLAIMS, "plans"),
    *_named(colored.CLAIMS, "theorem-4"),
    *_named(steps.CLAIMS, "theorem-4-run"),
    *ucrl2.CLAIMS,
    *diameters.CLAIMS,
    *_named(mixing.CLAIMS, "return-times"),
    *_named(rates.EXTENSIONS, "unknown-horizon"),
    *_named(remarks.CLAIMS, "reversible", "reversible-lazy", "periodic-aggregation", "primes"),
    *_named(rates.EXTENSIONS, "unknown-periods"),
    *_named(rates.EXTENSIONS, "unknown-states"),
    *_named(remarks.CLAIMS, "cover-time"),
    *_named(algorithm.CLAIMS, "exploration-cost"),
    *_named(rates.EXTENSIONS, "nothing-known"),
    *_named(outlook.CLAIMS, "order-2"),
    *_named(colored.CLAIMS, "confidence-sets", "appendix-failing", "episodes"),
    *_named(steps.CLAIMS, "appendix-visits", "appendix-span"),
    *appendix.CLAIMS,
)


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
