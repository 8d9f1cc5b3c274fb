"""Packets of an 802.15.4e TSCH network (tum-lkn/tschdata, JSON) as sightings of its links.

    python docs/recipes/tsch_links.py tdma-4-1-high_load.json | restive fit - -o links.toml

A packet tells for each of its hops who sent it and how many transmissions were left: with fewer
than three the first was lost. A step is 600 slots, or as many as a second argument says, of which
the first sighting of a sender counts. Packets that were never received are not in the log.
"""

from __future__ import annotations

import csv
import json
import sys

ATTEMPTS = 3


def sightings(packets, slots):
    """(step, sender) -> clear or lost."""
    seen = {}
    for packet in packets:
        for hop in packet["hop_info"]:
            state = "clear" if hop["retx"] == ATTEMPTS else "lost"
            seen.setdefault((packet["asn_last"] // slots, hop["addr"]), state)
    return seen


def main(source, out, slots=600):
    with open(source, encoding="utf-8") as file:
        seen = sightings(json.load(file)["packets"], slots)
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["step", "link", "state"])
    first = min(step for step, _ in seen)
    rows.writerows([step - first, link, state] for (step, link), state in sorted(seen.items()))


if __name__ == "__main__":
    main(sys.argv[1], sys.stdout, *map(int, sys.argv[2:3]))
