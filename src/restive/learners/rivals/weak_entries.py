"""Rivals that look for the best single arm, or for the best sequence of arms, by name."""

from __future__ import annotations

from restive.base.options import Parameter
from restive.learners import LearnerEntry
from restive.learners.defaults import LOG_LOG

__all__ = ["ENTRIES"]

_IID = "weak regret of order log T for i.i.d. arms; nothing is proven for Markov arms"
_LOG = "weak regret of order log T"
_SAME = "rewards in [0, 1], independent and alike from pull to pull; told the number of arms only"
_ANY = "rewards in [0, 1], chosen without regard to the learner's draws; told the horizon"
_REVERSIBLE = (
    "irreducible, aperiodic, reversible chains; told bounds on sizes, rewards, the chains' "
    "eigenvalue gaps and the gap between the best two arms"
)
_EPOCHS = (
    "written from the published description; not reversible: eigenvalue gap of (P + P~)/2; "
    "pulls not asked for are "
)
_KNOWN = Parameter(
    "knowledge", "choice", "bounds", "constants of the theorem, or growing with log t",
    choices=("bounds", "none"),
)  # fmt: skip


def _constant(name: str, text: str) -> Parameter:
    return Parameter(name, "float", None, f"{text}, if not as the paper has it", 0)


ENTRIES = (
    LearnerEntry(
        "ucb1",
        "UCB1 (Auer, Cesa-Bianchi, Fischer 2002)",
        _IID,
        (),
        "rivals.index:ucb1",
        assumes=_SAME,
    ),
    LearnerEntry(
        "kl-ucb",
        "KL-UCB with Bernoulli divergences (Garivier, Cappe 2011)",
        _IID,
        (Parameter("c", "float", LOG_LOG, "weight of log log t; the theorem takes 3", 0),),
        "rivals.index:kl_ucb",
        assumes=_SAME,
        deviation="log log t counts from t = 3 on",
    ),
    LearnerEntry(
        "thompson",
        "Thompson sampling with beta posteriors (Agrawal, Goyal 2012)",
        _IID,
        (),
        "rivals.index:thompson",
        assumes=_SAME,
    ),
    LearnerEntry(
        "exp3",
        "exponential weights (Auer, Cesa-Bianchi, Freund, Schapire 2002)",
        "weak regret of order sqrt(T K log K) whatever the rewards are",
        (),
        "rivals.exponential:exp3",
        assumes=_ANY,
    ),
    LearnerEntry(
        "exp3.s",
        "exponential weights that share (Auer, Cesa-Bianchi, Freund, Schapire 2002)",
        "regret of order H sqrt(T K log(KT)) against sequences with H - 1 switches",
        (),
        "rivals.exponential:exp3_s",
        assumes=_ANY,
    ),
    LearnerEntry(
        "rca",
        "regenerative cycles (Tekin, Liu 2011)",
        _LOG,
        (_constant("exploration", "L"),),
        "rivals.regenerative:rca",
        assumes="irreducible, aperiodic chains whose multiplicative symmetrizations are "
        "irreducible, rewards fixed by the states; told bounds on sizes, rewards, stationary laws "
        "and eigenvalue gaps",
        deviation="written from the published description; arms with reducible symmetrizations do "
        "not count for L; after a pull not asked for the cycle begins again",
    ),
    LearnerEntry(
        "dsee",
        "deterministic sequence of exploration and exploitation (Liu, Liu, Zhao 2013)",
        _LOG,
        (_constant("rate", "D"), _KNOWN),
        "rivals.sequencing:dsee",
        assumes=_REVERSIBLE,
        deviation=f"{_EPOCHS}no samples",
    ),
    LearnerEntry(
        "rucb",
        "the same with an upper confidence index (Liu, Liu, Zhao 2011)",
        _LOG,
        (_constant("rate", "D"), _constant("exploration", "L"), _KNOWN),
        "rivals.sequencing:rucb",
        assumes=_REVERSIBLE,
        deviation=f"{_EPOCHS}samples; index and mean are a best guess",
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
        assumes=_REVERSIBLE,
        deviation=f"{_EPOCHS}no samples",
    ),
)
