"""Ways to break what rests on data: replay, arms that change, arms that move together."""

from __future__ import annotations

from typing import Any

import numpy as np

from restive.data import replay
from restive.data.coupling import CoupledArms
from restive.data.traces import Traces
from restive.learners.tied.changes import FOREVER, ChangeWatch
from restive.policies.sight import Observation
from restive.simulation.changing import ChangingWorld
from restive.simulation.traced import TraceWalk
from restive.simulation.worlds import BanditWorld
from verification.defects import Patch, defect

REPLAY, CHANGING = "tests/test_replay.py::test_", "tests/test_changing.py::test_"
COUPLING = "tests/test_data_coupling.py::test_"


@defect("replay-a-step-ahead", "along a trace with gaps the next step is seen and paid",
        REPLAY + "a_pull_of_what_was_not_recorded_is_a_missed_step")  # fmt: skip
def _ahead() -> list[Patch]:
    honest = TraceWalk.step

    def step(self: Any, arms: Any = ()) -> Any:
        self.steps = min(self.steps + 1, self.world.steps - 1)
        seen = honest(self, arms)
        self.steps -= 1
        return seen

    return [(TraceWalk, "step", step)]


@defect("replay-missed-steps-paid", "a pull that was not recorded counts as one that paid nothing",
        REPLAY + "a_pull_of_what_was_not_recorded_is_a_missed_step")  # fmt: skip
def _paid() -> list[Patch]:
    honest = TraceWalk.step

    def step(self: Any, arms: Any = ()) -> Any:
        return honest(self, arms) or tuple(Observation(int(j), 0, 0.0) for j in arms)

    return [(TraceWalk, "step", step)]


@defect("replay-judges-the-first-part", "rates include the part that was there to fit on",
        REPLAY + "what_hindsight_earns_by_brute_force")  # fmt: skip
def _everything() -> list[Patch]:
    def init(self: Any, world: Any, begin: int) -> None:
        self.world, self.begin = world, 0

    return [(replay._Judge, "__init__", init)]


@defect("replay-fits-on-all", "the plan of the fit has seen the part that it is judged on",
        REPLAY + "the_plan_of_the_fit_knows_nothing_of_what_it_is_judged_on")  # fmt: skip
def _leaked() -> list[Patch]:
    return [(Traces, "split", lambda self, fraction: (self, self))]


@defect("changes-not-forgotten", "what was seen before a change is kept",
        CHANGING + "a_change_is_found_and_what_was_before_is_forgotten",
        CHANGING + "what_an_arm_paid_before_is_forgotten")  # fmt: skip
def _kept() -> list[Patch]:
    return [(ChangeWatch, "_forget", lambda self, arm, place, counts: None)]


@defect("changes-without-looks", "arms at rest are not looked at",
        CHANGING + "arms_rest_as_long_as_loses_least_by_brute_force",
        CHANGING + "an_arm_at_rest_is_looked_at")  # fmt: skip
def _unlooked() -> list[Patch]:
    return [(ChangeWatch, "wait", lambda self, arm, price: FOREVER)]


@defect("changes-everywhere", "the most of all likelihood ratios is taken for their mean",
        CHANGING + "false_alarms_are_as_rare_as_asked_for")  # fmt: skip
def _alarmed() -> list[Patch]:
    honest = ChangeWatch._evidence

    def evidence(self: Any, *arguments: Any) -> Any:
        return np.tile(honest(self, *arguments).max(axis=0) + 3.0, (2, 1))

    return [(ChangeWatch, "_evidence", evidence)]


@defect("changing-world-stays", "the arms of a changing world never change",
        CHANGING + "every_stage_moves_and_pays_by_its_own_bandit")  # fmt: skip
def _stays() -> list[Patch]:
    return [(ChangingWorld, "_path", BanditWorld._path)]


@defect("coupling-overlooked", "what was seen of one arm says nothing of the other",
        COUPLING + "opposites_and_copies_by_hand",
        COUPLING + "gains_are_those_of_play_in_the_joint_world")  # fmt: skip
def _overlooked() -> list[Patch]:
    def marginal(self: Any, beliefs: Any, arm: int) -> Any:
        chain, own = self.arms[arm].transitions, self._states[:, arm]
        powers = [np.linalg.matrix_power(chain, ages[arm])[own] for ages in self.ages]
        return np.stack(powers)

    return [(CoupledArms, "_marginal", marginal)]
