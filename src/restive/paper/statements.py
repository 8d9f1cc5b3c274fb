"""What the paper says, statement by statement: which claims are about it, and what none covers."""

from __future__ import annotations

from typing import NamedTuple


class Statement(NamedTuple):
    """A statement, its place, the claims about it, and what is not covered and why."""

    place: str
    words: str
    claims: tuple[str, ...]
    uncovered: str = ""


STATEMENTS = (
    Statement("Section 1", "One can do much better than pulling the best arm.", ("example-1",)),
    Statement("Section 1", "Bounds of Exp3.S depend on a hardness that is arbitrarily high here.",
              ("exp3s",), "the bound itself, which is another paper's"),
    Statement("Section 1", "Results of others: O(log T) for special cases, minimax rates.", (),
              "theorems of other papers; learners after some of them are among the rivals"),
    Statement("Section 2", "rho* and the optimal policy are well-defined.", ("representation",),
              "existence as such: it is a theorem on finite MDPs; plans certify an interval"),
    Statement("Section 2, eq. (1)", "Tmix(eps) <= ceil(log2(1/eps)) Tmix.",
              ("equation-1", "equation-1-square")),
    Statement("Section 3, Example 1", "Switching after 0 earns close to 3/4.", ("example-1",)),
    Statement("Section 3, Example 2", "Switching after 1 is optimal for epsilon near 1.",
              ("example-2",)),
    Statement("Section 3, Example 3", "The optimal policy does not maximize the immediate reward.",
              ("example-3",)),
    Statement("Section 3, Theorem 1", "Every index policy is suboptimal somewhere.",
              ("theorem-1", "theorem-1-counting", "example-4"),
              "indices that count pulls of their arm: for those the printed proof does not go "
              "through in this reconstruction of its figure, and no other is known here"),
    Statement("Section 4, Theorem 2", "Regret of const S Tmix^(3/2) prod (4 D_j) max log D_i "
              "log^2(T/delta) sqrt(T).",
              ("theorem-2-bound", "theorem-2-run", "theorem-2-rate", "theorem-2-rate-slow",
               "theorem-2-telling"),
              "the constant, which is not given; the bound is above T at every horizon that can "
              "be run, so the sum of the run itself and the growth in T stand for it"),
    Statement("Section 4, Theorem 2", "Without mixing times: log^(7/2)(T/delta) sqrt(T).",
              ("unknown-mixing-time", "algorithm-2"),
              "the additive constant, and functions a(t) other than log t"),
    Statement("Section 4, Remark 1", "Periodic chains have worse dependence on the state space.",
              ("periodic-arms",), "the dependence: the paper gives none in numbers"),
    Statement("Section 4, Theorem 3", "Every algorithm loses Omega(sqrt(S T)) somewhere.",
              ("theorem-3-constant", "theorem-3-states"),
              "every algorithm: three are run, and one is told all but what must be learned"),
    Statement("Section 4, Remark 2", "The dependence on the diameter may be an artefact.",
              ("remark-2",), "the worst case: two families are measured"),
    Statement("Section 5, MDP Representation", "Last states and ages are an MDP.",
              ("representation", "colors"), "the special states for arms not yet pulled"),
    Statement("Section 5, Structure", "Laws beyond the mixing time are close to each other.",
              ("aggregation", "coloring")),
    Statement("Section 5, Structure", "The error of aggregation is bounded elsewhere.",
              (), "another paper's bound; plans carry one with its own proof "
              "(docs/theory/certificate.md), against which tests hold exact gains"),
    Statement("Section 5, Definition 1 and Coloring", "The coloring makes an eps-structured MDP.",
              ("coloring", "colors")),
    Statement("Section 5, Algorithms 1 and 2; eqs (2), (3)", "The algorithms.",
              ("algorithm-2", "confidence-sets", "ucrl2"),
              "choices the page leaves open are named as deviations in `restive learners`"),
    Statement("Section 5, eq. (4)", "The policy is optimal for the best plausible model.",
              ("optimism", "plans", "algorithm-2")),
    Statement("Section 6, Theorem 4", "Regret of 42 D_eps sqrt(B C_U T log(T/delta)) + eps (D_eps "
              "+ 2) T, known pairs left out.", ("theorem-4", "theorem-4-run")),
    Statement("Section 6, Remark 3", "Logarithmic bounds for eps = 0; UCRL2 as a special case.",
              ("logarithm", "ucrl2"), "the constants of the logarithmic bound"),
    Statement("Section 7, Lemma 1", "D_eps <= 2 ceil(log2(4 max D_j)) Tmix(eps) prod (4 D_j).",
              ("lemma-1", "lemma-1-single-state", "return-times"),
              "periodic arms, for which the scheme is said to be adapted but not how"),
    Statement("Section 7, proof of Theorem 2", "Guessing T in rounds of doubling length.",
              ("unknown-horizon", "algorithm-2"), "how much worse the constants are"),
    Statement("Section 7, Remark 4", "For reversible chains Tmix is linear in the diameter.",
              ("reversible", "reversible-lazy"), "bounds on the diameter from samples, on which "
              "the paper reports no result"),
    Statement("Section 7, Remark 5", "Periods, or lcm(1, ..., |S|), in the aggregation.",
              ("periodic-aggregation", "unknown-periods", "primes")),
    Statement("Section 7, proof of Theorem 3", "The same for aperiodic arms.",
              ("theorem-3-aperiodic",), "a regret against the long-run rho*: see the note"),
    Statement("Section 8, Unknown state space", "Exploring between episodes costs O(log T).",
              ("unknown-states", "exploration-cost", "cover-time"),
              "deviations from the expectation, which the paper leaves to Markov's inequality"),
    Statement("Sections 7 and 8", "All extensions together.", ("nothing-known",)),
    Statement("Section 8, Improving the bounds", "The bounds do not use that ages are powers of "
              "one matrix.", (), "an outlook; docs/theory/tied-sets.md has sets that do"),
    Statement("Section 8, More general models", "Order 2 breaks the representation.", ("order-2",),
              "stationary ergodic arms, an open question"),
    Statement("Appendix, Splitting into Episodes", "Regret is the sum of Delta_k and noise.", (),
              "by itself: its terms are in the sums of theorem-2-run and theorem-4-run"),
    Statement("Appendix, Failing Confidence Intervals", "The sets hold with probability 1 - delta; "
              "failing ones cost sqrt(T).",
              ("confidence-sets", "appendix-failing", "appendix-norm"),
              "the probability 1 - delta/(15 t^6) at each step: the sets never failed at all"),
    Statement("Appendix, Episodes with M in M_k", "Values have a span of at most D_eps.",
              ("appendix-span", "appendix-values")),
    Statement("Appendix, The True Transition Matrix", "At most C log2(8T/C) episodes.",
              ("episodes",), "the martingale by itself: it is a term of the sums of the runs"),
    Statement("Appendix, Summing", "sum v/sqrt(N) <= (sqrt 2 + 1) sqrt(C T); six terms become 42.",
              ("appendix-visits", "simplification")),
)  # fmt: skip
