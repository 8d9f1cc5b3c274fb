"""A problem under the name it has in an experiment."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from restive.model.bandit import Bandit
from restive.model.files import dump_problem
from restive.simulation.traced import TraceWorld


@dataclass(frozen=True)
class NamedProblem:
    """A problem under the name it has in this experiment.

    trace: if it is a recorded trace; then the bandit is what was fitted to all of it, which is told
    to learners that are told of the arms.
    """

    name: str
    bandit: Bandit
    sha256: str  # of the file it was read from or would be written to, or of the trace
    trace: TraceWorld | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, name: str, bandit: Bandit, data: bytes | None = None) -> NamedProblem:
        written = dump_problem(bandit).encode() if data is None else data
        return cls(name, bandit, sha256(written).hexdigest())

    def to_dict(self) -> dict[str, Any]:
        whole = json.loads(dump_problem(self.bandit, "json"))
        content = {"name": self.name, "sha256": self.sha256, "problem": whole}
        if self.trace is None:
            return content
        return content | {"trace": {"sha256": self.sha256, "steps": self.trace.steps}}
