"""Where the periods of several arms share a divisor, the gain depends on the phases they start in.

Phases that can follow each other form an orbit, which no policy leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.arrays import Floats
from restive.mdp.representation import Representation
from restive.model.bandit import Arm, Bandit


def orbit_law(arms: Sequence[Arm]) -> Floats:
    """Probability of each orbit of phases under the arms' initial laws."""
    law = np.ones(())
    for arm in arms:
        law = np.multiply.outer(law, np.bincount(arm.cyclic_class, arm.initial_law, arm.period))
    rep = Representation.of(Bandit(arms), 1)
    return np.bincount(rep.orbits.ravel(), law.ravel(), minlength=rep.n_classes).astype(np.float64)
