"""Simulation: worlds to act in, and runs of learners through them."""

from restive.simulation.run import Run, play
from restive.simulation.structured import StructuredWorld
from restive.simulation.worlds import BanditWorld, RecordedWorld

__all__ = ["BanditWorld", "RecordedWorld", "Run", "StructuredWorld", "play"]
