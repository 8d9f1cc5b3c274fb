"""Recipes of the documents: raw formats of public data as sightings."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from restive import fit, read_traces
from shared_traces import SHARED

RECIPES = Path(__file__).resolve().parent.parent / "docs" / "recipes"


def recipe(name):
    spec = importlib.util.spec_from_file_location(name, RECIPES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packet(slot, left):
    """A packet of one hop that was received in a slot with so many transmissions left."""
    head = [2, *slot.to_bytes(5, "little"), 0, 0, 0, 0, 0, 1, 0, 0]
    return f"{[*head, 2, left, 11, 50, *[0] * 20]}\t0:00:00\n"


def test_packets_are_sightings_of_the_channel_of_their_slot(tmp_path):
    lines = [packet(1600, 3), packet(1600 + 17 * 3, 1), packet(1600 + 17 * 4, 3)]
    tsch = recipe("tsch")
    slots = {1600: "clear", 1617: "lost", 1634: "lost", 1651: "clear", 1668: "clear"}
    assert tsch.sightings(lines) == slots
    source, target = tmp_path / "raw.log", tmp_path / "channels.csv"
    source.write_text("".join(lines))
    with open(target, "w") as out:
        tsch.main(source, out)
    rows = target.read_text().split()
    assert rows[:4] == ["step,channel,state", "100,20,clear", "101,23,lost", "102,18,lost"]


@pytest.mark.skipif(SHARED is None, reason="the shared traces are not here")
def test_shared_packets_are_fitted(tmp_path):
    tsch, target = recipe("tsch"), tmp_path / "channels.csv"
    source = SHARED / "tschdata" / "tdma-3-1-induced_interference.log"
    agree = []
    for line in source.read_text().splitlines():  # packets name their last channel themselves
        bytes_ = json.loads(line.split("\t")[0])
        slot = int.from_bytes(bytes_[1:6], "little")
        hops = [bytes_[k : k + 4] for k in range(14, 38, 4) if bytes_[k]]
        agree.append(hops[-1][2] == tsch.CHANNELS[slot % 16])
    assert sum(agree) / len(agree) > 0.999
    with open(target, "w") as out:
        tsch.main(source, out)
    traces = read_traces(target, rewards={"clear": 1, "lost": 0})
    assert traces.n_arms == 16
    assert sum(map(len, traces.arms)) == 35_297
    quiet = read_traces(target, rewards={"clear": 1, "lost": 0}, arms=["19", "12"])
    arms = {arm.name: arm.arm for arm in fit(quiet).arms}
    assert arms["19"].gain > 0.94 > 0.8 > arms["12"].gain


def test_packets_are_sightings_of_the_links_of_their_hops(tmp_path):
    """The first sighting of a sender in a step counts, and a step is 600 slots."""
    packets = [
        {"asn_last": 6010, "hop_info": [{"addr": 7, "retx": 3}, {"addr": 2, "retx": 1}]},
        {"asn_last": 6500, "hop_info": [{"addr": 2, "retx": 3}]},
        {"asn_last": 7300, "hop_info": [{"addr": 2, "retx": 3}]},
    ]
    source, target = tmp_path / "packets.json", tmp_path / "links.csv"
    source.write_text(json.dumps({"packets": packets}))
    with open(target, "w") as out:
        recipe("tsch_links").main(source, out)
    rows = ["step,link,state", "0,2,lost", "0,7,clear", "2,2,clear"]
    assert target.read_text().split() == rows
