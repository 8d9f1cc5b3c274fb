"""From the model of an episode to a policy, starting from the plan of the episode before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from restive.base.arrays import Floats
from restive.learners.paper.rules import Evidence
from restive.learners.records import arrays_of, record_from
from restive.learners.storage import SavedArrays, SavedState, Snapshot
from restive.mdp.representation import Representation
from restive.mdp.solver import refine, solve
from restive.mdp.structured import Parameters, StructuredMDP

Structure = Representation | StructuredMDP

MAX_SWEEPS = 100_000  # more would stall play; the policy is then the best so far


class Planner(Protocol):
    """What a learner asks of its planner."""

    def plan(self, evidence: Evidence, model: Any, tolerance: float) -> None:
        """Make the policy of the episode that begins now."""

    @property
    def policy(self) -> Any:
        """The current episode's policy, with ``arm(sight)`` and the loops its learner relies on."""

    def forget(self) -> None:
        """Start the next plan from nothing."""

    def snapshot(self) -> Snapshot:
        """Everything needed to go on later."""

    def restore(self, state: SavedState, arrays: SavedArrays, structure: Structure) -> None:
        """Go on; structure: the one planned on, unless the snapshot names information states."""


class ValuePlanner(Planner):
    """Solves the average-reward problem of every model, from the values of the one before.

    follow: (structure, values, parameters) -> policy. lay_out: (evidence, model, structure of the
    last plan) -> structure and parameters to solve; by default the model in the colors of the
    counts. sweeps: most sweeps for a structure. gain: bounds of the gain that the current model
    promises. unconverged: plans that did not reach their tolerance.

    To plan in another way, give the learner another ``Planner``.
    """

    def __init__(
        self, follow: Callable[..., Any],
        lay_out: Callable[..., tuple[Structure, Parameters]] = lambda evidence, model, last:
        (evidence.structure, model),
        sweeps: Callable[[Any], int] = lambda structure: MAX_SWEEPS, accelerate: bool = True,
    ) -> None:  # fmt: skip
        self._follow, self._lay_out, self._sweeps = follow, lay_out, sweeps
        self._accelerate = accelerate
        self.gain = (0.0, 1.0)
        self.unconverged = 0
        self.forget()

    def forget(self) -> None:
        self.structure: Any = None
        self.parameters: Any = None
        self.values: Any = None
        self._policy: Any = None

    def plan(self, evidence: Evidence, model: Any, tolerance: float) -> None:
        structure, parameters = self._lay_out(evidence, model, self.structure)
        solution = solve(
            structure, parameters, tolerance=tolerance, start=self._start(structure),
            max_sweeps=self._sweeps(structure), accelerate=self._accelerate,
        )  # fmt: skip
        self.structure, self.parameters, self._policy = structure, parameters, None
        # values matter up to a constant; without this the warm starts would drift away
        self.values = solution.values - solution.values[0]
        self.gain = (float(solution.lower.min()), float(solution.upper.max()))
        self.unconverged += not solution.converged

    def _start(self, structure: Any) -> Floats | None:
        """The last plan's values on this structure; None if its arms had other states."""
        last: Any = self.structure
        if last is None or structure == last:
            start: Floats | None = self.values
            return start
        return refine(last, self.values, structure) if structure.sizes == last.sizes else None

    @property
    def policy(self) -> Any:
        if self._policy is None:
            self._policy = self._follow(self.structure, self.values, self.parameters)
        return self._policy

    def snapshot(self) -> Snapshot:
        rep = self.structure
        lasso = [rep.sizes, rep.caps, rep.periods] if isinstance(rep, Representation) else None
        state = {"gain": list(self.gain), "unconverged": self.unconverged, "lasso": lasso}
        if rep is None:
            return state, {}
        return state, {"values": self.values.copy(), **arrays_of(self.parameters, "model_")}

    def restore(self, state: SavedState, arrays: SavedArrays, structure: Structure) -> None:
        self.forget()
        self.gain = (float(state["gain"][0]), float(state["gain"][1]))
        self.unconverged = int(state["unconverged"])
        if "values" in arrays:
            self.structure = Representation(*state["lasso"]) if state["lasso"] else structure
            self.values = arrays["values"].copy()
            self.parameters = record_from(Parameters, arrays, "model_")
