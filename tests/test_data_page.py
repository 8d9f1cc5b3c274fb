"""The page of the data, its timelines, and the verdicts of ``restive fit``."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

from markov_traces import STICKY, THREE, arm_of, walk
from restive import Arm, Bandit, ProblemError, check_markov, evaluate, fit, load_problem
from restive.cli import app
from restive.data.memory import tuple_bandit
from restive.data.traces import Traces
from restive.report.data import earnings
from restive.report.data.page import fit_page, write_fit_page
from restive.report.data.timelines import draw_lane, lane_of

HOSTILE = "<script>alert('x')</script>\"&]]>"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Structure(HTMLParser):
    """Tags that are open at each moment; everything that loads or runs anything."""

    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.links, self.ids = [], 0, [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        self.scripts += tag == "script" or any(name.startswith("on") for name in values)
        self.links += [values[name] for name in ("src", "href") if name in values]
        self.ids += [values["id"]] if "id" in values else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    structure = Structure()
    structure.feed(page)
    assert structure.open == []
    return structure


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    jump = np.concatenate([walk(STICKY, 400, rng), walk([[0.3, 0.7], [0.1, 0.9]], 300, rng)])
    states = {HOSTILE: walk(STICKY, 700, rng), "jump": jump}
    result = fit(Traces(tuple(arm_of(path, name) for name, path in states.items())))
    return result, check_markov(result.traces, result.bandit)


def test_a_page_is_whole_and_loads_nothing(fitted):
    page = fit_page(*fitted, command=f"restive fit '{HOSTILE}'")
    structure = parsed(page)
    assert structure.scripts == 0
    assert all(link.startswith(("#", "data:,")) for link in structure.links)
    assert {link[1:] for link in structure.links if link.startswith("#")} <= set(structure.ids)
    assert "script-src 'none'" in page
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_a_page_says_what_was_found(fitted):
    result, verdicts = fitted
    page = fit_page(result, verdicts)
    assert "fails" in page
    assert "Planning earns" in page
    for words in ("Is it Markov?", "always", "best plan", "with 95% intervals", "What to do"):
        assert words in page
    jump = verdicts["jump"]["change"]
    assert f"changes at step {jump.jump:,}" in page
    assert f"{result.arms[1].chain[0, 1]:.3f}" in page


def test_a_page_without_verdicts_or_rewards():
    rng = np.random.default_rng(1)
    arm = arm_of(walk(STICKY, 200, rng), rewards=np.full(200, np.nan))
    page = fit_page(fit(Traces((arm,))))
    assert "rewards of some states are not known" in page
    assert "Is it Markov?" not in page
    parsed(page)


def test_ways_to_play_that_are_too_large_to_work_out_are_named(monkeypatch):
    chain = np.array([[0.9, 0.1], [0.2, 0.8]])
    bandit = Bandit([Arm(chain, [0, 1]), Arm(chain, [0, 0.9])])
    greedy, turns = (row[1] for row in earnings.earnings_of(bandit)["rows"][2:])
    assert float(greedy) == pytest.approx(evaluate(bandit, "myopic").gain, abs=1e-4)
    assert turns == "0.3167"  # (1/3 + 0.9/3) / 2
    monkeypatch.setattr(earnings, "EVALUATED_BYTES", 1)
    rows = earnings.earnings_of(bandit)["rows"]
    assert [row[:2] for row in rows[2:]] == [
        ("myopic", "not worked out"),
        ("round-robin", "not worked out"),
    ]


def test_pages_are_written_whole(tmp_path, fitted):
    path = tmp_path / "page.html"
    write_fit_page(fitted[0], path, fitted[1])
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


def test_lanes_are_shares_of_what_was_seen():
    arm = arm_of([0, 1, 1, 0, 1], times=[0, 1, 2, 8, 9], size=2)
    lane = lane_of(arm, 0, 12, bins=4)
    shares = [[1 / 3, 2 / 3], [np.nan, np.nan], [1.0, 0.0], [0.0, 1.0]]
    np.testing.assert_allclose(lane.shares, shares)
    np.testing.assert_allclose(lane.seen, [1, 0, 1 / 3, 1 / 3])
    assert lane_of(arm, 0, 10).shares.shape == (10, 2)


def test_lanes_draw_what_they_hold():
    arm = arm_of([0, 0, 1, 1], size=2)
    picture = str(draw_lane(lane_of(arm, 0, 4), np.array([0.0, 1.0]), HOSTILE, mark=2))
    assert 'class="s0" d="M0 100H2V0H0z"' in picture
    assert 'class="s1" d="M2 100H4V0H2z"' in picture
    assert 'd="M2.00 0V100"' in picture
    assert HOSTILE not in picture


def test_many_states_are_drawn_by_reward_and_long_traces_stay_small():
    rng = np.random.default_rng(2)
    arm = arm_of(rng.integers(0, 12, 100_000), size=12)
    picture = str(draw_lane(lane_of(arm, 0, 100_000), np.linspace(0, 1, 12), "words"))
    assert 'class="mean"' in picture
    assert len(picture) < 10_000
    many = arm_of(rng.integers(0, 3, 100_000), size=3)
    assert len(draw_lane(lane_of(many, 0, 100_000), np.zeros(3), "words")) < 20_000


# --- the command -----------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(3)
    lines = zip(walk(STICKY, 300, rng), walk(THREE, 300, rng), strict=True)
    path = tmp_path / "log.csv"
    path.write_text("left,right\n" + "".join(f"{a},{b}\n" for a, b in lines), "utf-8")
    return path


def run(*words):
    return CliRunner().invoke(app, ["fit", *map(str, words)])


def test_fit_shows_verdicts(log):
    result = run(log)
    assert result.exit_code == 0
    assert "Is it Markov?" in result.output
    assert "left: believable" in result.output
    assert "Is it Markov?" not in run(log, "--no-check").output


def test_fit_prints_verdicts_as_json(log):
    facts = json.loads(run(log, "--json", "--period", "7").output)
    assert [arm["arm"] for arm in facts["verdicts"]["arms"]] == ["left", "right"]
    kinds = [f["kind"] for f in facts["verdicts"]["arms"][0]["findings"]]
    assert kinds == ["memory", "change", "period", "dependence"]
    assert "verdicts" not in json.loads(run(log, "--json", "--no-check").output)


def test_fit_writes_a_page_and_pairs_of_states(log, tmp_path):
    page, problem = tmp_path / "page.html", tmp_path / "pairs.toml"
    result = run(log, "--report", page, "--order", "2", "-o", problem)
    assert result.exit_code == 0
    assert "a pull shows all 2" in result.output
    parsed(page.read_text("utf-8"))
    bandit = load_problem(problem)
    assert bandit.arms[0].states == ("0 > 0", "0 > 1", "1 > 0", "1 > 1")
    traces = fit(str(log)).traces
    assert tuple_bandit(traces, fit(str(log)).bandit, 2).arms[0].rewards == pytest.approx(
        bandit.arms[0].rewards
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--order", "0"], "order"), (["--period", "noon"], "period"), (["--period", "1"], "period"),
     (["--report", "page.txt"], "--report"), (["--order", "12"], "tuples")],
)  # fmt: skip
def test_fit_refuses_what_makes_no_sense(log, words, said):
    result = run(log, *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_pairs_that_were_never_seen_are_refused(tmp_path):
    path = tmp_path / "sparse.csv"
    rows = "".join(f"{3 * k},a,{k % 2}\n" for k in range(60)) + "400,a,1\n"
    path.write_text("time,arm,state\n" + rows, "utf-8")
    result = run(path, "--order", "2", "-o", tmp_path / "out.toml")
    assert result.exit_code == 2
    assert "3 steps in a row were never seen" in result.stderr
    assert not (tmp_path / "out.toml").exists()
    with pytest.raises(ProblemError, match="order"):
        tuple_bandit(Traces(()), fit(str(path)).bandit, -1)


def test_days_are_called_by_their_dates_and_few_states_have_a_table():
    rng = np.random.default_rng(3)
    days = np.datetime64("2012-01-01") + np.arange(300)
    seen = [("low", "middle", "high")[s] for s in walk(THREE, 300, rng)]
    fitted = fit({"date": days, "dial": seen}, rewards={"low": 0, "middle": 0.5, "high": 1})
    page = fit_page(fitted)
    assert "<span>2012-01-01 (step 0)</span><span>2012-10-26 (step 299)</span>" in page
    assert "<dt>Length of a step</dt><dd>1 day</dd>" in page
    assert 'class="matrix"' in page
    for s, e in np.ndindex(3, 3):  # a row for each state, in the order of the columns
        row = page.split('<tr><th scope="row">')[-3:][s]
        assert f"{fitted.arms[0].chain[s, e]:.3f}" in row.split("<td>")[1 + e]
    parsed(page)


def test_durations_are_no_dates():
    seen = {"time": [f"0:0{minute}:00" for minute in range(6)], "dial": [0, 1, 1, 0, 0, 1]}
    assert fit(seen).traces.began is None
