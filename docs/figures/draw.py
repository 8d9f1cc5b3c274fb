"""Draw the pictures of this folder again: python docs/figures/draw.py."""

from __future__ import annotations

from pathlib import Path

from restive import problems
from restive.planning import plan
from restive.report import policy_figure

HERE = Path(__file__).parent


def main() -> None:
    for name, bandit, tolerance in [
        ("example-3.svg", problems.example3(0.1), 1e-6),
        ("four-channels.png", problems.gilbert_elliott(4), 1e-4),
    ]:
        policy_figure(plan(bandit, tolerance), HERE / name)


if __name__ == "__main__":
    main()
