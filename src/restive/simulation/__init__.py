"""Simulation: worlds to act in, and runs of learners through them."""

from restive.simulation.changing import ChangingWorld, drifting
from restive.simulation.run import Run, play
from restive.simulation.structured import StructuredWorld
from restive.simulation.traced import TraceWorld, play_trace
from restive.simulation.worlds import BanditWorld, RecordedWorld

__all__ = [
    "BanditWorld",
    "ChangingWorld",
    "RecordedWorld",
    "Run",
    "StructuredWorld",
    "TraceWorld",
    "drifting",
    "play",
    "play_trace",
]
