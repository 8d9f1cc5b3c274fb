"""The audit of sets that tie ages together; those of the paper are in restive.paper.audits."""

from __future__ import annotations

import numpy as np

from restive.learners.tied.optimism import TiedOptimism
from restive.mdp.structured import Parameters
from restive.paper.audits import AuditedPublished, largest_share, true_rows

__all__ = ["AuditedPublished", "AuditedTied"]


class AuditedTied(AuditedPublished):
    """The same for the sets that tie the ages of an arm together.

    How close it was is told of sets with radius below 1 only: a wide set around 1/2 comes close to
    a probability near 1 before it says anything.
    """

    def _compare(self, model: Parameters, promised: float | None) -> None:
        rule = self.rule
        assert isinstance(rule, TiedOptimism)
        worst = 0.0
        for j, arm in enumerate(self.bandit.arms):
            sets = rule.sets(self.evidence, j)
            for rows in true_rows(self.bandit, self.representation, j):
                told = sets.radii < 1
                off = np.abs(rows - sets.centers).sum(axis=-1)
                worst = max(worst, largest_share(off[told], sets.radii[told]))
                if not sets.contain(rows, arm.rewards):
                    worst = np.inf
        self.audit.note(worst, promised)
