"""Colored UCRL2 with narrower confidence sets, as optimistic algorithms are run in practice."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from restive.base.arrays import Floats
from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.paper.inputs import MIXING_TIMES, Inputs, unknown_options
from restive.learners.paper.restless import ARMS, PAPER, TOLD, RestlessLearner
from restive.learners.paper.rules import Evidence, Optimism

TUNED = 0.1
NARROW = "the radii of eqs (2) and (3) are multiplied by a tuned number below 1"
WIDTH = Parameter("width", "float", ..., "multiple of the confidence radii", 0, above=True)


@dataclass(frozen=True, eq=False)
class NarrowOptimism(Optimism):
    """The sets of eqs (2) and (3) with radii times ``width``."""

    width: float = 1.0

    def radii(self, evidence: Evidence) -> tuple[Floats, Floats]:
        rewards, laws = super().radii(evidence)
        return self.width * rewards, self.width * laws


@declare(
    "colored-ucrl2-tuned",
    "colored-ucrl2 with tuned constants",
    guarantee="none with these constants",
    assumes=ARMS,
    told=f"{TOLD}, unless an option says that one is unknown",
    deviation=f"as colored-ucrl2, but {NARROW}",
    cites=(PAPER,),
    options=(*unknown_options(False), MIXING_TIMES, replace(WIDTH, default=TUNED)),
)
class NarrowUCRL2(RestlessLearner):
    """Algorithm 2 with radii times ``width``: no bound holds, but it learns within short runs."""

    numbers = ("width",)

    def __init__(
        self, inputs: Inputs, rng: int | np.random.Generator = 0, width: float = TUNED
    ) -> None:
        self.width = float(width)
        super().__init__(inputs, self._rule, rng)

    def _rule(self, delta: float, epsilon: float) -> NarrowOptimism:
        return NarrowOptimism(delta, epsilon, width=self.width)
