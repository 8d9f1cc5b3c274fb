"""Packets of an 802.15.4e TSCH network (tum-lkn/tschdata, raw/tdma) as sightings of its channels.

    python docs/recipes/tsch.py tdma-3-1-induced_interference.log | restive fit - -o channels.toml

A packet reaches the root in a time slot whose number modulo 16 fixes its channel. Its last hop says
how many transmissions were left: with fewer than three, it was lost in the slotframes before, 17
slots apart, each on the channel of that slot. A step is a round of 16 slots, in which every channel
comes up once, or as many rounds as a second argument says, of which the first sighting counts.
Packets that were never received are not in the log, so losses are undercounted.
"""

from __future__ import annotations

import csv
import json
import sys

CHANNELS = [20, 23, 18, 26, 15, 25, 22, 19, 11, 12, 13, 24, 14, 17, 21, 16]  # by slot modulo 16
SLOTFRAME, ATTEMPTS = 17, 3


def sightings(lines):
    """Slot -> clear or lost."""
    seen = {}
    for line in lines:
        packet = json.loads(line.split("\t")[0])
        slot = sum(byte << 8 * k for k, byte in enumerate(packet[1:6]))
        hops = [packet[k : k + 4] for k in range(14, 38, 4) if packet[k]]  # addr, left, channel, ..
        if not hops:
            continue
        for frames in range(1, ATTEMPTS - hops[-1][1] + 1):
            seen.setdefault(slot - SLOTFRAME * frames, "lost")
        seen[slot] = "clear"
    return seen


def main(source, out, rounds=1):
    with open(source, encoding="utf-8") as lines:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["step", "channel", "state"])
        first = {}
        for slot, state in sorted(sightings(lines).items()):
            first.setdefault((slot // (16 * rounds), CHANNELS[slot % 16]), state)
        rows.writerows([*place, state] for place, state in first.items())


if __name__ == "__main__":
    main(sys.argv[1], sys.stdout, *map(int, sys.argv[2:3]))
