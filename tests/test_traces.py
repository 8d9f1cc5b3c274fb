"""Reading traces: every layout of the same sightings gives the same traces."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from restive import ProblemError, TooLargeError, read_traces
from restive.data.clock import JITTER
from shared_traces import SHARED

STATES = {"left": ["on", "off", "", "on", "on"], "right": ["off", "off", "on", "", "off"]}
SEEN = {"left": [(0, "on"), (1, "off"), (3, "on"), (4, "on")],
        "right": [(0, "off"), (1, "off"), (2, "on"), (4, "off")]}  # fmt: skip


def sightings(traces):
    return {
        arm.name: [(t, arm.labels[s]) for t, s in zip(arm.times.tolist(), arm.states, strict=True)]
        for arm in traces.arms
    }


def wide_csv(path):
    rows = zip(*STATES.values(), strict=True)
    path.write_text("left,right\n" + "".join(f"{a},{b}\n" for a, b in rows))
    return path


def long_rows():
    return [(arm, t, s) for t in range(5) for arm, seen in SEEN.items() for u, s in seen if u == t]


def long_csv(path):
    lines = [f"{arm};{t};{s}" for arm, t, s in long_rows()]
    path.write_text("\ufeffArm;Time;State\n" + "\n".join(lines) + "\n\n", encoding="utf-8")
    return path


def json_lines(path):
    records = [{"arm": arm, "time": t, "state": s} for arm, t, s in long_rows()]
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_every_layout_of_the_same_sightings_gives_the_same_traces(tmp_path):
    for traces in (
        read_traces(wide_csv(tmp_path / "wide.csv")),
        read_traces(long_csv(tmp_path / "long.csv")),
        read_traces(str(json_lines(tmp_path / "long.jsonl"))),
        read_traces(STATES),
        read_traces(dict(zip(("arm", "time", "state"), zip(*long_rows(), strict=True)))),  # noqa: B905
    ):
        assert sightings(traces) == SEEN
        states, rewards = traces.dense()
        assert states.T.tolist() == [[1, 0, -1, 1, 1], [0, 0, 1, -1, 0]]
        assert np.isnan(rewards).all()


def test_arms_of_json_lines_come_in_the_order_of_the_file(tmp_path):
    """Whatever the process: sets of words have an order of their own in each."""
    path = tmp_path / "wide.jsonl"
    names = [f"arm {letter}" for letter in "hbdacgfe"]
    records = [dict.fromkeys(names[: 4 + 2 * t], t % 2) for t in range(6)]
    path.write_text("\n".join(map(json.dumps, records)))
    assert [arm.name for arm in read_traces(path).arms] == names


def test_lines_are_those_of_an_editor(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('state,note\non,"two\nlines"\n\noff,\non,x\n1,y\n')
    with pytest.raises(ProblemError, match=r"line 7, column .state.: a number among words"):
        read_traces(path)


def test_true_is_not_one(tmp_path):
    arm = read_traces({"arm": ["a"] * 4, "state": [True, False, True, True]}).arms[0]
    assert arm.labels == ("false", "true")
    assert arm.rewards.tolist() == [1, 0, 1, 1]
    with pytest.raises(ProblemError, match=r"row 1, column .a.: a number among words"):
        read_traces({"a": [True, 1, False]})


def test_parquet_and_arrow_tables(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    arms, times, states = zip(*long_rows(), strict=True)
    table = pyarrow.table({"arm": arms, "time": times, "state": states})
    parquet.write_table(table, tmp_path / "log.parquet")
    assert sightings(read_traces(tmp_path / "log.parquet")) == SEEN
    assert sightings(read_traces(table)) == SEEN


class Frame:
    """A data frame as pandas and polars have it: named columns, each with ``to_numpy``."""

    class Column:
        def __init__(self, values):
            self.values = values

        def to_numpy(self):
            return np.array(self.values)

    def __init__(self, columns):
        self.frame, self.columns = columns, list(columns)

    def __getitem__(self, name):
        return self.Column(self.frame[name])


def test_frames_and_arrays():
    values = {"a": [0.0, 1.0, np.nan, 1.0], "b": [1, 0, 0, 1]}
    traces = read_traces(Frame(values))
    assert [arm.times.tolist() for arm in traces.arms] == [[0, 1, 3], [0, 1, 2, 3]]
    same = read_traces(np.array([[0, 1, -1, 1], [1, 0, 0, 1]]).T)
    for arm, other in zip(traces.arms, same.arms, strict=True):
        assert arm.states.tolist() == other.states.tolist()
        assert arm.labels == other.labels == ("0", "1")
        assert arm.rewards.tolist() == arm.states.tolist()
    assert [arm.name for arm in same.arms] == ["arm 1", "arm 2"]


class Nothing:
    """A missing value like that of pandas: it compares to nothing, itself included."""

    def __eq__(self, other):
        return self

    __ne__ = __eq__

    def __bool__(self):
        raise TypeError("ambiguous")

    def __hash__(self):
        return 2**61 - 1  # as that of pandas does


def test_an_index_of_dates_gives_the_times():
    class Frame:  # what pandas has, and no mapping
        columns = ("left", "right")
        index = np.array(["2026-01-01", "2026-01-02", "2026-01-05"], dtype="datetime64[D]")

        def __getitem__(self, name):
            return np.array([0, 1, 0])

    traces = read_traces(Frame())
    assert [arm.name for arm in traces.arms] == ["left", "right"]
    assert traces.arms[0].times.tolist() == [0, 1, 4]
    assert traces.notes == ("A step is 1 day long.",)


def test_missing_values_of_frames_are_missing():
    traces = read_traces({"a": [0, Nothing(), 1, None, 0]})
    assert traces.arms[0].times.tolist() == [0, 2, 4]


def test_dates_of_arrays_are_dates():
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-05"], dtype="datetime64[D]")
    traces = read_traces({"date": days, "a": [0, 1, 0]})
    assert traces.arms[0].times.tolist() == [0, 1, 4]
    days[1] = "NaT"
    with pytest.raises(ProblemError, match=r"row 1, column .date.: there is no time"):
        read_traces({"date": days, "a": [0, 1, 0]})


def test_traces_too_long_to_lay_out_say_so():
    traces = read_traces({"arm": ["a"] * 3, "time": [0, 1, 10**11], "state": [0, 1, 0]})
    with pytest.raises(TooLargeError, match="too many to be laid out"):
        traces.dense()


def test_rewards_come_from_a_column_from_states_or_from_the_caller():
    log = {"arm": ["a"] * 4, "time": [1, 2, 3, 5], "state": ["x", "y", "x", "y"]}
    paid = read_traces({**log, "reward": [3, 7, 5, None]}).arms[0].rewards
    np.testing.assert_allclose(paid, [0, 1, 0.5, np.nan])
    told = read_traces(log, rewards={"x": 0.25, "y": 1})
    assert told.arms[0].rewards.tolist() == [0.25, 1, 0.25, 1]
    assert np.isnan(read_traces(log).arms[0].rewards).all()
    scaled = read_traces({"a": [10, 20, 20], "b": [15, 30, 10]})
    assert scaled.scale == (10, 30)
    np.testing.assert_allclose(scaled.arms[1].rewards, [0.25, 1, 0])
    with pytest.raises(ProblemError, match=r"rewards: arm 'a' has a state without a reward"):
        read_traces(log, rewards={"x": 1})


def test_times_beside_their_steps_are_rounded_and_others_refused():
    rng = np.random.default_rng(1)
    steps = np.cumsum(rng.integers(1, 4, 400))
    states = rng.integers(0, 2, 400)
    stamps = 1.7e9 + 37.3 * steps + 37.3 * rng.uniform(-0.2, 0.2, 400)
    traces = read_traces({"arm": ["a"] * 400, "time": stamps, "state": states})
    assert (traces.arms[0].times == steps - steps[0]).all()
    assert traces.tick == pytest.approx(37.3, rel=1e-3)
    stamps[200:] += 0.5 * 37.3
    with pytest.raises(ProblemError, match="beside them"):
        read_traces({"arm": ["a"] * 400, "time": stamps, "state": states})
    assert 0 < JITTER < 0.5


@pytest.mark.parametrize(
    ("times", "steps", "tick"),
    [
        (["2014-7-1", "2014-7-2", "2014-7-5"], [0, 1, 4], 86400),
        (["2026-01-01 00:00Z", "2026-01-01 02:00+01:00", "2026-01-01T02:00Z"], [0, 1, 2], 3600),
        (["0:00:00", "0:00:10.5", "1 day, 0:00:00"], [0, 1, 8229], 10.5),
        ([7, 9, 13], [0, 2, 6], 1),  # whole numbers are steps, though all gaps are even
        ([1_700_000_000, 1_700_003_600, 1_700_010_800], [0, 1, 3], 3600),
        ([0.0, 0.5, 2.0], [0, 1, 4], 0.5),
    ],
)  # fmt: skip
def test_kinds_of_times(times, steps, tick):
    traces = read_traces({"arm": ["a"] * 3, "time": times, "state": [0, 1, 0]})
    assert traces.arms[0].times.tolist() == steps
    assert traces.tick == pytest.approx(tick, rel=1e-3)


def test_times_with_and_without_zones_are_not_mixed():
    times = ["2026-01-01T00:00Z", "2026-01-01T01:00", "2026-01-01T02:00Z"]
    with pytest.raises(ProblemError, match=r"row 1, column .time.: this time has no zone"):
        read_traces({"arm": ["a"] * 3, "time": times, "state": [0, 1, 0]})


def test_durations_are_times():
    times = [timedelta(minutes=minute) for minute in (0, 1, 3)]
    traces = read_traces({"time": times, "state": [0, 1, 0]})
    assert traces.arms[0].times.tolist() == [0, 1, 3]
    assert traces.notes == ("A step is 1 minute long.",)


@pytest.mark.parametrize(
    ("length", "words"), [(3600, "1 hour"), (86400, "1 day"), (90, "90 s"), (37.3, "37.3 s")]
)
def test_jitter_does_not_make_a_step_odd(length, words):
    """Times up to 5% of a step off: least squares alone say 3599.99 s of hourly ones."""
    rng = np.random.default_rng(3)
    moments = 1.7e9 + length * (np.arange(600) + rng.uniform(-0.05, 0.05, 600))
    stamps = [datetime.fromtimestamp(moment, UTC).isoformat() for moment in moments]
    traces = read_traces({"time": stamps, "left": rng.integers(2, size=600)})
    assert traces.notes[0].startswith(f"A step is {words}")
    assert traces.arms[0].times.tolist() == list(range(600))


def test_whole_times_far_apart_are_questioned():
    seconds = 1_700_000_000 + 60 * np.arange(50) + np.random.default_rng(1).integers(-3, 4, 50)
    log = {"time": seconds, "state": np.arange(50) % 2}
    assert "give its length (--tick)" in read_traces(log).notes[0]
    assert read_traces(log, tick=60).arms[0].times.tolist() == list(range(50))


def test_decimal_commas_are_points_where_semicolons_separate(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time;left\n0;0,5\n1;1,25\n2;3\n3;0,5\n")
    assert read_traces(path).arms[0].labels == ("0.5", "1.25", "3")


def test_spellings_of_true_are_one_state_and_others_are_told():
    truths = read_traces({"a": ["True", "false", "TRUE", "False"]}).arms[0]
    assert (truths.labels, truths.states.tolist()) == (("false", "true"), [1, 0, 1, 0])
    assert read_traces({"a": ["True", "False", "True"]}).arms[0].labels == ("False", "True")
    assert read_traces({"a": ["Up", "up", "Up"]}).notes[-1] == (
        "a: Up and up are taken as different states."
    )


def test_pieces_with_clocks_of_their_own_are_laid_one_after_another():
    log = {"arm": ["a", "b"] * 4, "time": [0, 0, 1, 1] * 2, "state": [0, 1, 1, 1, 0, 1, 1, 0],
           "piece": ["x"] * 4 + ["y"] * 4}  # fmt: skip
    traces = read_traces(log)
    assert [arm.times.tolist() for arm in traces.arms] == [[0, 1, 2, 3]] * 2
    assert traces.arms[0].pieces.tolist() == [0, 0, 1, 1]
    before, gaps, after = traces.arms[0].moves()
    assert (before.tolist(), gaps.tolist(), after.tolist()) == ([0, 0], [1, 1], [1, 1])


def test_long_gaps_begin_a_new_piece():
    log = {"arm": ["a"] * 4, "time": [0, 1, 50, 51], "state": [0, 1, 0, 1]}
    assert read_traces(log).arms[0].pieces.tolist() == [0, 0, 0, 0]
    assert read_traces(log, break_after=10).arms[0].pieces.tolist() == [0, 0, 1, 1]


def test_files_of_one_arm_each_share_a_clock_and_files_of_the_same_arm_are_pieces(tmp_path):
    for name, first in (("x", 3), ("y", 5)):
        rows = "".join(f"{first + t},{t % 2}\n" for t in range(3))
        (tmp_path / f"{name}.csv").write_text("time,state\n" + rows)
        (tmp_path / f"{name}2.csv").write_text("time,arm,state\n" + rows.replace(",", ",same,"))
    apart = read_traces([tmp_path / "x.csv", tmp_path / "y.csv"])
    assert {arm.name: arm.times.tolist() for arm in apart.arms} == {"x": [0, 1, 2], "y": [2, 3, 4]}
    same = read_traces([tmp_path / "x2.csv", tmp_path / "y2.csv"]).arms[0]
    assert same.times.tolist() == [0, 1, 2, 3, 4, 5]
    assert same.pieces.tolist() == [0, 0, 0, 1, 1, 1]


def test_splitting_keeps_labels_and_steps():
    traces = read_traces({"a": [0, 1, 2, 0, 0, 0, 1, 0]})
    first, rest = traces.split(0.5)
    assert first.arms[0].times.tolist() == [0, 1, 2, 3]
    assert rest.arms[0].times.tolist() == [4, 5, 6, 7]
    assert rest.arms[0].labels == ("0", "1", "2")
    assert (rest.start, rest.end) == (4, 8)


def test_a_signal_is_cut_where_the_caller_says_or_at_quantiles():
    signal = {"a": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}
    at = read_traces(signal, cut=[0, 2.5], labels=["none", "some", "much"]).arms[0]
    assert at.states.tolist() == [0, 1, 1, 2, 2, 2]
    assert at.labels == ("none", "some", "much")
    np.testing.assert_allclose(at.rewards, np.arange(6) / 5)
    thirds = read_traces(signal, cut=3).arms[0]
    assert thirds.states.tolist() == [0, 0, 1, 1, 2, 2]
    assert thirds.labels == ("<= 1", "1 to 3", "> 3")


def hidden(rng, size, noise, steps=4000):
    """A signal around the levels of a chain that stays for long."""
    level = np.zeros(steps)
    for t in range(1, steps):
        level[t] = level[t - 1] if rng.random() < 0.9 else rng.integers(size)
    return level + noise * rng.standard_normal(steps)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_number_of_states_is_that_of_the_levels(size):
    rng = np.random.default_rng(size)
    traces = read_traces({"a": hidden(rng, size, 0.05)}, cut="fit")
    assert traces.arms[0].n_states == size
    assert "Numbers of states tried" in traces.notes[0]


def test_noise_is_cut_in_two():
    values = np.random.default_rng(5).standard_normal(4000)
    assert read_traces({"a": values}, cut="fit").arms[0].n_states == 2


@pytest.mark.skipif(SHARED is None, reason="the shared traces are not here")
def test_shared_weather_is_read_as_it_is():
    files = sorted((SHARED / "us-weather-history").glob("K*.csv"))
    traces = read_traces(files, state="actual_precipitation", cut=[0], labels=["dry", "rainy"])
    assert traces.n_arms == 10
    assert {len(arm) for arm in traces.arms} == {365}
    assert traces.tick == 86400
    vega = read_traces(SHARED / "vega-weather" / "weather.csv", state="weather")
    assert [arm.name for arm in vega.arms] == ["Seattle", "New York"]
    assert {arm.n_states for arm in vega.arms} == {5}


def test_a_machine_by_itself_is_an_arm():
    """Its column is called like one of names of arms, but no column of states is left beside it."""
    seen = {"time": [0, 1, 2, 5], "machine": ["up", "down", "up", "up"]}
    assert [arm.name for arm in read_traces(seen).arms] == ["machine"]
    named = {"machine": ["a", "a", "b", "b"], "condition": [0, 1, 0, 1]}
    assert [arm.name for arm in read_traces(named).arms] == ["a", "b"]
    with pytest.raises(ProblemError, match="which column holds the state"):
        read_traces({"machine": ["a", "a", "b", "b"]}, arm="machine")


def test_labels_tell_large_numbers_apart(tmp_path):
    """Rounded to twelve digits they were two states of one name."""
    path = tmp_path / "log.csv"
    path.write_text("a,b\n" + "0,1111111111111100\n1,1111111111111101\n" * 10 + "0,0.1\n")
    assert read_traces(path).arms[1].labels == ("0.1", "1111111111111100", "1111111111111101")
