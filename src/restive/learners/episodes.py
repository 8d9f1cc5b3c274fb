"""The engine under all episodic learners: counts, the model of the current episode, its plan."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners.paper.rules import FOREVER, Counts, Evidence, Rule
from restive.learners.storage import Snapshot
from restive.mdp.representation import Representation
from restive.mdp.solver import solve
from restive.mdp.structured import Parameters, StructuredMDP

__all__ = ["Episodes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_SWEEPS = 100_000  # more would stall play; the policy is then the best found so far
_MODEL = ("rewards", "probabilities", "reward_radii", "radii")


class Episodes:
    """Counts of one structure, and episode after episode a policy planned from them.

    gain: bounds of the gain that the current episode's model promises. unconverged: episodes
    whose plan did not reach its tolerance.
    """

    def __init__(
        self, structure: Representation | StructuredMDP, supports: Ints, rule: Rule
    ) -> None:
        self.structure = structure
        self.supports = supports
        self.rule = rule
        self.counts = Counts.none(structure, rule.squares)
        self.model: Parameters | None = None
        self.values: Floats | None = None
        self.limits = np.zeros(structure.n_colors, dtype=np.int64)
        self.began = 0  # t_k of the current episode
        self.length = 0  # of the episode before it
        self.until = 0  # t at which the current episode ends at the latest
        self.gain = (0.0, 1.0)
        self.unconverged = 0
        self.seconds = 0.0

    def begin(self, t: int, rng: np.random.Generator) -> None:
        """Start an episode at t_k = t: estimate, plan from the last plan's values, set limits."""
        clock = perf_counter()
        evidence = Evidence(self.structure, self.supports, self.counts, t)
        self.model = self.rule.parameters(evidence, rng)
        tolerance = self.rule.tolerance(t)
        found = solve(self.structure, self.model, tolerance=tolerance, start=self.values,
                      max_sweeps=MAX_SWEEPS)  # fmt: skip
        # values matter up to a constant; without this the warm starts would drift away
        self.values = found.values - found.values[0]
        self.limits = self.rule.limits(evidence)
        self.length = t - self.began if self.began else 0
        self.began = t
        longest = self.rule.longest(self.length)
        self.until = FOREVER if longest == FOREVER else t + longest
        self.gain = (float(found.lower.min()), float(found.upper.max()))
        self.unconverged += not found.converged
        self.seconds += perf_counter() - clock

    def over(self, color: int, t: int) -> bool:
        """Whether the episode ends before a pull of this color at time t."""
        return t >= self.until or bool(self.counts.visits[color] >= self.limits[color])

    def snapshot(self) -> Snapshot:
        state = {
            "began": self.began,
            "length": self.length,
            "until": self.until,
            "gain": list(self.gain),
            "unconverged": self.unconverged,
        }
        arrays: dict[str, NDArray[Any]] = {
            "visits": self.counts.visits.copy(),
            "outcomes": self.counts.outcomes.copy(),
            "reward_sums": self.counts.rewards.copy(),
            "limits": self.limits.copy(),
        }
        if self.counts.squares is not None:
            arrays["reward_squares"] = self.counts.squares.copy()
        if self.model is not None and self.values is not None:
            arrays["values"] = self.values.copy()
            parts = {f"model_{name}": getattr(self.model, name) for name in _MODEL}
            arrays |= {name: part.copy() for name, part in parts.items() if part is not None}
        return state, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.began, self.length = int(state["began"]), int(state["length"])
        self.until = int(state["until"])
        self.gain = (float(state["gain"][0]), float(state["gain"][1]))
        self.unconverged = int(state["unconverged"])
        # rewards are at most 1, so where an older file lacks their squares the sums bound them
        squares = arrays.get("reward_squares", arrays["reward_sums"]) if self.rule.squares else None
        self.counts = Counts(
            arrays["visits"].copy(), arrays["outcomes"].copy(), arrays["reward_sums"].copy(),
            _copied(squares),
        )  # fmt: skip
        self.limits = arrays["limits"].copy()
        self.model = self.values = None
        if "values" in arrays:
            self.values = arrays["values"].copy()
            self.model = Parameters(*(_copied(arrays.get(f"model_{name}")) for name in _MODEL))


def _copied(array: NDArray[Any] | None) -> Any:
    return None if array is None else array.copy()
