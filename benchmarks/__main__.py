"""``python -m benchmarks``: run the benchmarks, print tables, and on request write them down."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import planning

BENCHMARKS = {"planning": planning}
TARGET = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="smaller problems, a few seconds")
    parser.add_argument("--rounds", type=int, default=3, help="rounds per solver (default 3)")
    parser.add_argument("--write", action="store_true", help="write to docs/benchmarks")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {sorted(unknown)[0]!r}; choose from {', '.join(BENCHMARKS)}")
    for name in options.names or BENCHMARKS:
        result = BENCHMARKS[name].run(options.quick, options.rounds)
        text = BENCHMARKS[name].table(result)
        print(f"\n{text}")
        if options.write:
            TARGET.mkdir(parents=True, exist_ok=True)
            (TARGET / f"{name}.md").write_text(text, encoding="utf-8")
            (TARGET / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
