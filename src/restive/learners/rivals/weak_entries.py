"""Rivals that look for the best single arm, or for the best sequence of arms, by name."""

from __future__ import annotations

from restive.learners import LearnerEntry
from restive.parameters import Parameter

__all__ = ["ENTRIES"]

_IID = "weak regret of order log T for i.i.d. arms; nothing is proven for Markov arms"
_LOG = "weak regret of order log T, given bounds on the chains' eigenvalue gaps"
_KNOWN = Parameter(
    "knowledge", "choice", "bounds", "constants of the theorem, or growing with log t",
    choices=("bounds", "none"),
)  # fmt: skip


def _constant(name: str, text: str) -> Parameter:
    return Parameter(name, "float", None, f"{text}, if not as the paper has it", 0)


ENTRIES = (
    LearnerEntry("ucb1", "UCB1 (Auer, Cesa-Bianchi, Fischer 2002)", _IID, (), "rivals.index:ucb1"),
    LearnerEntry(
        "kl-ucb",
        "KL-UCB with Bernoulli divergences (Garivier, Cappe 2011)",
        _IID,
        (Parameter("c", "float", 0.0, "weight of log log t; the theorem takes 3", 0),),
        "rivals.index:kl_ucb",
    ),
    LearnerEntry(
        "thompson",
        "Thompson sampling with beta posteriors (Agrawal, Goyal 2012)",
        _IID,
        (),
        "rivals.index:thompson",
    ),
    LearnerEntry(
        "exp3",
        "exponential weights (Auer, Cesa-Bianchi, Freund, Schapire 2002)",
        "weak regret of order sqrt(T K log K) whatever the rewards are, given the horizon",
        (),
        "rivals.exponential:exp3",
    ),
    LearnerEntry(
        "exp3.s",
        "exponential weights that share (Auer, Cesa-Bianchi, Freund, Schapire 2002)",
        "regret of order H sqrt(T K log(KT)) against sequences with H - 1 switches, given T",
        (),
        "rivals.exponential:exp3_s",
    ),
    LearnerEntry(
        "rca",
        "regenerative cycles (Tekin, Liu 2011)",
        _LOG,
        (_constant("exploration", "L"),),
        "rivals.regenerative:rca",
    ),
    LearnerEntry(
        "dsee",
        "deterministic sequence of exploration and exploitation (Liu, Liu, Zhao 2013)",
        _LOG,
        (_constant("rate", "D"), _KNOWN),
        "rivals.sequencing:dsee",
    ),
    LearnerEntry(
        "rucb",
        "the same with an upper confidence index (Liu, Liu, Zhao 2011)",
        _LOG,
        (_constant("rate", "D"), _constant("exploration", "L"), _KNOWN),
        "rivals.sequencing:rucb",
    ),
    LearnerEntry(
        "asr",
        "adaptive sequencing rules (Gafni, Cohen 2021)",
        _LOG,
        (
            _constant("exploration", "L"),
            _constant("gap", "bound below the gap of the best two arms"),
            _constant("epsilon", "eps"),
            _constant("floor", "2/I"),
        ),
        "rivals.sequencing:asr",
    ),
)
