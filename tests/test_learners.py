"""The learner contract: pure questions, any arm, snapshots, and compiled play with equal bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from enum import Enum, IntEnum
from math import log, sqrt

import numpy as np
import pytest

from restive.base.errors import ProblemError, TooLargeError
from restive.learners import (
    LEARNERS,
    ColoredUCRL2,
    Inputs,
    Learner,
    RestlessLearner,
    check_learner,
    load_learner,
    make_learner,
)
from restive.learners.checking import ContractError
from restive.learners.paper.rules import Counts, carry_over
from restive.learners.storage import (
    decode_label,
    encode_label,
    generator_from,
    generator_state,
    pack,
    plain_label,
    unpack,
)
from restive.learners.tied.sampling import TiedSampling
from restive.mdp.representation import Representation
from restive.mdp.structured import StructuredMDP
from restive.problems import example1, example4, lower_bound, random_problem
from restive.simulation import BanditWorld, play

BANDITS = {
    "two channels": example1(0.2),
    "three arms": random_problem(n_arms=3, n_states=[2, 3, 1], rng=3),
    "one arm": random_problem(n_arms=1, n_states=3, rng=5),
    "periodic": example4(),
}
ALL = {f"unknown_{word}": True for word in ("horizon", "mixing", "states", "periods")}
CASES = [
    *(("colored-ucrl2", {key: True}) for key in ALL),
    ("colored-ucrl2", {}),
    ("colored-ucrl2-unknown", {}),
    ("colored-ucrl2-keeping", {}),
    ("colored-ucrl2-keeping", {"unknown_states": False, "unknown_periods": False}),
    ("optimal", {"tolerance": 1e-2}),
    ("best-arm", {}),
    ("round-robin", {}),
]


def same(first: Learner, other: Learner) -> bool:
    return pack(*first.snapshot()) == pack(*other.snapshot())


def path_of(bandit, horizon, seed=1):
    record = BanditWorld(bandit, seed).record(horizon)
    return record.states, record.rewards


def build(name, bandit, options, horizon=1000):
    if bandit.n_arms == 4 or bandit is BANDITS["periodic"]:
        options = {"mixing_times": 1, **options} if "optimal" not in name else options
    if options.get("unknown_mixing", name.endswith(("unknown", "keeping"))):
        options = {key: value for key, value in options.items() if key != "mixing_times"}
    allowed = {parameter.name for parameter in LEARNERS[name].options}
    chosen = {key: value for key, value in options.items() if key in allowed}
    return make_learner(name, bandit, horizon, **chosen)


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("problem", ["two channels", "three arms", "one arm"])
def test_learners_keep_the_contract(name, options, problem):
    bandit = BANDITS[problem]
    check_learner(lambda: build(name, bandit, options), bandit.n_states, steps=200)


def test_colored_ucrl2_keeps_the_contract():
    mdp, _ = StructuredMDP.plain(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)))
    check_learner(lambda: ColoredUCRL2(mdp, delta=0.1), [3, 3], steps=300)


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("problem", BANDITS)
def test_compiled_play_gives_the_same_bytes_as_ask_and_tell(name, options, problem):
    bandit = BANDITS[problem]
    states, rewards = path_of(bandit, 700)
    fast, slow = (build(name, bandit, options) for _ in range(2))
    pulls = np.concatenate(
        [fast.play_path(states[:, a:b], rewards[:, a:b]) for a, b in ((0, 1), (1, 300), (300, 700))]
    )
    assert pulls.tolist() == Learner.play_path(slow, states, rewards).tolist()
    assert same(fast, slow)


def test_each_step_of_compiled_play_leaves_what_ask_and_tell_would():
    bandit = BANDITS["two channels"]
    states, rewards = path_of(bandit, 250)
    fast, slow = (make_learner("colored-ucrl2-unknown", bandit, None) for _ in range(2))
    for t in range(250):
        arm = slow.ask()
        assert fast.play_path(states[:, t : t + 1], rewards[:, t : t + 1]).tolist() == [arm]
        slow.tell(arm, int(states[arm, t]), float(rewards[arm, t]))
        assert same(fast, slow), t


@pytest.mark.parametrize("name", ["colored-ucrl2", "colored-ucrl2-unknown"])
def test_a_saved_learner_goes_on_with_the_same_bytes(name, tmp_path):
    bandit = BANDITS["three arms"]
    states, rewards = path_of(bandit, 800)
    whole, half = (make_learner(name, bandit, 800, rng=4) for _ in range(2))
    expected = whole.play_path(states, rewards)[400:]
    half.play_path(states[:, :400], rewards[:, :400])
    half.save(tmp_path / "half.zip")
    loaded = load_learner(tmp_path / "half.zip")
    assert loaded.play_path(states[:, 400:], rewards[:, 400:]).tolist() == expected.tolist()
    assert same(loaded, whole)
    with np.load(tmp_path / "half.zip", allow_pickle=False) as archive:
        assert "visits" in archive.files
    other = make_learner(name, bandit, 900 if name == "colored-ucrl2" else None, delta=0.1)
    with pytest.raises(ProblemError, match="another learner"):
        other.load(tmp_path / "half.zip")
    (tmp_path / "half.zip").write_bytes(b"PK nonsense")
    with pytest.raises(ProblemError, match="not a saved learner"):
        load_learner(tmp_path / "half.zip")


# --- the check itself ------------------------------------------------------------------------


class RoundRobin(Learner):
    """The least that a learner of one's own needs."""

    name, guarantee = "rounds", "None."

    def __init__(self, n_arms):
        self.n_arms, self._next = n_arms, 0

    def ask(self):
        return self._next

    def tell(self, arm, state, reward):
        self._next = (arm + 1) % self.n_arms

    def snapshot(self):
        return {"name": self.name, "next": self._next}, {}

    def restore(self, state, arrays):
        self._next = state["next"]


class Skipping(RoundRobin):
    """A missed step costs an arm its turn, and several arms may be seen at once."""

    several_pulls = True

    def pass_time(self):
        self._next = (self._next + 1) % self.n_arms


@pytest.mark.parametrize("kind", [RoundRobin, Skipping])
@pytest.mark.parametrize("n_arms", [1, 2, 3])
def test_a_learner_of_one_s_own_keeps_the_contract(kind, n_arms):
    check_learner(lambda: kind(n_arms), [2] * n_arms)


class Sleepy(Skipping):
    """Misses a step and does not write down how often."""

    missed = 0

    def ask(self):
        return (self._next + self.missed // 5) % self.n_arms

    def pass_time(self):
        self.missed += 1


class Crashing(RoundRobin):
    def pass_time(self):
        raise RuntimeError("time stands still")


class Stubborn(RoundRobin):
    def ask_step(self, pulls=1, available=None):
        return (self.ask(),)


class Fickle(RoundRobin):
    def ask_step(self, pulls=1, available=None):
        return (max(available),)


class Twosome(RoundRobin):
    def step(self, observations):
        if len(observations) > 1:
            raise KeyError("one at a time")
        super().step(observations)


class Hurried(Skipping):
    """Its path goes on after the arm it pulled last, whatever happened in between."""

    pulled = None

    def play_path(self, states, rewards):
        if self.pulled is not None:
            self._next = (self.pulled + 1) % self.n_arms
        pulls = super().play_path(states, rewards)
        self.pulled = int(pulls[-1])
        return pulls


class Forgetful(RoundRobin):
    def restore(self, state, arrays):
        pass


class Restless(RoundRobin):
    def ask(self):
        self._next = (self._next + 1) % self.n_arms
        return self._next


class Counter(RoundRobin):
    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.asked = 0

    def ask(self):
        self.asked += 1
        return self._next

    def snapshot(self):
        state, arrays = super().snapshot()
        return {**state, "asked": self.asked}, arrays


class Picky(RoundRobin):
    def tell(self, arm, state, reward):
        if arm != self.ask():
            raise RuntimeError("not what I asked for")
        super().tell(arm, state, reward)


class Loose(RoundRobin):
    def snapshot(self):
        return {"next": {1, 2}}, {}


class Lucky(RoundRobin):
    luck = np.random.default_rng(0)

    def tell(self, arm, state, reward):
        self._next = int(self.luck.integers(self.n_arms))


class Outside(RoundRobin):
    def ask(self):
        return self.n_arms


class Nameless(RoundRobin):
    name = ""


class Half(RoundRobin):
    """Restores its next arm but not the states it has counted, which matter later."""

    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.ones = 0

    def tell(self, arm, state, reward):
        self.ones += state == 1
        self._next = (arm + self.ones) % self.n_arms


class Clairvoyant(RoundRobin):
    """Its path looks at all rewards, also those of arms that are not pulled."""

    def play_path(self, states, rewards):
        return rewards.argmax(axis=0)


class Peeking(RoundRobin):
    """Its pulls are right, but it remembers what it did not see."""

    def __init__(self, n_arms):
        super().__init__(n_arms)
        self.peeked = 0

    def tell(self, arm, state, reward):
        super().tell(arm, state, reward)
        self.peeked += state

    def play_path(self, states, rewards):
        self.peeked += int(states.sum())
        return super().play_path(states, rewards)

    def snapshot(self):
        state, arrays = super().snapshot()
        return {**state, "peeked": self.peeked}, arrays

    def restore(self, state, arrays):
        super().restore(state, arrays)
        self.peeked = state["peeked"]


class Stuck(RoundRobin):
    """Its path forgets to move on."""

    def play_path(self, states, rewards):
        return np.asarray((self._next + np.arange(states.shape[1])) % self.n_arms)


class Short(RoundRobin):
    def play_path(self, states, rewards):
        return super().play_path(states, rewards)[: states.shape[1] // 2 + 1]


class Failing(RoundRobin):
    def play_path(self, states, rewards):
        raise KeyError("nothing here")


class Duck:
    """Walks like a learner, but ``play`` needs more."""

    name, guarantee = "duck", "None."
    ask, tell = RoundRobin.ask, RoundRobin.tell
    snapshot, restore = RoundRobin.snapshot, RoundRobin.restore

    def __init__(self, n_arms):
        self.n_arms, self._next = n_arms, 0


class Fewer(RoundRobin):
    def __init__(self, n_arms):
        super().__init__(n_arms - 1)


class Uncounted(RoundRobin):
    def __init__(self, n_arms):
        super().__init__(n_arms)
        del self.n_arms


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Clairvoyant, "play_path chooses unlike ask and tell: .* at step 0"),
        (Peeking, "play_path learns"),
        (Stuck, "play_path chooses unlike ask and tell: .* at step 1"),
        (Short, "play_path chooses"),
        (Failing, "play_path failed: KeyError"),
        (Duck, r"Duck is not derived from restive\.learners\.Learner"),
        (Fewer, "n_arms is 2, but sizes has 3"),
        (Uncounted, "n_arms is missing"),
        (Forgetful, "same snapshot"),
        (Restless, "asking twice"),
        (Counter, "asking changed"),
        (Picky, "tell"),
        (Loose, "does not fit JSON"),
        (Lucky, "same factory differ"),
        (Outside, "not an arm"),
        (Nameless, "name"),
        (Half, "restored learner goes on differently"),
        (Sleepy, "restored learner goes on differently"),
        (Crashing, "step of 0 observations failed: RuntimeError"),
        (Stubborn, "ask_step gave .* are available"),
        (Fickle, "ask_step gave .* and ask.. gave"),
        (Twosome, "step of 2 observations failed: KeyError"),
        (Hurried, "play_path chooses unlike ask and tell"),
    ],
)
def test_the_check_catches_broken_learners(broken, words):
    with pytest.raises(ContractError, match=words):
        check_learner(lambda: broken(3), [2, 2, 2])


def test_the_check_catches_a_look_at_arms_that_are_not_pulled():
    """Arm 1 pays less than a half in one of the two paths, and in the other one more."""

    def hinted(low: bool) -> type[RoundRobin]:
        class Hinted(RoundRobin):
            def play_path(self, states, rewards):
                pulls = super().play_path(states, rewards)
                if len(pulls) == 1 and (rewards[1, 0] < 0.5) == low:
                    pulls = 1 - pulls
                return pulls

        return Hinted

    complaints = set()
    for low in (True, False):
        with pytest.raises(ContractError, match="play_path chooses") as raised:
            check_learner(lambda low=low: hinted(low)(2), [2, 2])
        complaints.add(str(raised.value).partition(":")[0])
    assert "play_path chooses by arms that were not pulled" in complaints
    assert len(complaints) == 2


# --- inputs, labels, storage -----------------------------------------------------------------


def test_rounds_double_and_share_delta_out():
    inputs = Inputs(2, delta=0.08, mixing_times=(3, 5))
    rounds = [inputs.round(i) for i in (1, 2, 10)]
    assert [r.horizon for r in rounds] == [2, 4, 1024]
    assert [r.delta for r in rounds] == [0.04, 0.02, 0.08 / 1024]
    assert rounds[2].epsilon == 1 / 32
    assert rounds[2].caps == (15, 25)  # ceil(log2 32) = 5
    guessing = Inputs(1, horizon=10**6)
    assert [guessing.round(i).caps for i in (1, 2, 10)] == [(1,), (2,), (35,)]
    assert 5 * int(np.ceil(log(2**10 - 1))) == 35
    assert Inputs(1, guess=lambda t: 0.2).round(3).caps == (2,)
    times = []
    asking = Inputs(1, guess=lambda t: times.append(t) or 1.0)
    for i in (1, 2, 3):
        asking.round(i)
    assert times == [1, 3, 7]  # the steps at which the rounds begin
    with pytest.raises(ValueError, match="finite"):
        Inputs(1, guess=lambda t: float("nan")).round(3)


def test_algorithm_2_sets_epsilon_and_caps_from_the_horizon():
    known = Inputs(2, horizon=10**6, mixing_times=(7, 2), sizes=(2, 2), periods=(1, 1))
    only = known.round(1)
    assert only.epsilon == 1 / sqrt(10**6)
    assert only.caps == (70, 20)
    assert only.steps is None
    assert Inputs(1, sizes=(4,)).lassos((4,)) == (12,)
    assert known.lassos((2, 2)) == (1, 1)


@pytest.mark.parametrize(
    "fields",
    [{"n_arms": 0}, {"delta": 0.0}, {"horizon": 1.5}, {"sizes": (2,)}, {"mixing_times": (0, 1)},
     {"periods": (1.5, 1)}],
)  # fmt: skip
def test_inputs_are_checked(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        Inputs(**{"n_arms": 2, **fields})


def test_settings_survive_json():
    inputs = Inputs(2, horizon=100, sizes=(2, 3), keep_samples=True)
    assert Inputs.from_dict(json.loads(json.dumps(inputs.to_dict()))) == inputs
    with pytest.raises(ProblemError, match="function"):
        Inputs.from_dict(Inputs(2, guess=lambda t: 3.0).to_dict())


def test_states_of_any_label_are_numbered_as_they_come():
    learner = RestlessLearner(Inputs(2))
    for arm, label in [(0, "busy"), (1, ("low", 2)), (0, "free"), (0, "busy"), (1, None)]:
        learner.tell(arm, label, 0.5)
    assert learner.labels.numbers == [{"busy": 0, "free": 1}, {("low", 2): 0, None: 1}]
    state, arrays = unpack(pack(*learner.snapshot()))
    other = RestlessLearner(Inputs(2))
    other.restore(state, arrays)
    assert other.labels.numbers == learner.labels.numbers
    learner.tell(0, Unsavable(3), 0.0)
    with pytest.raises(
        ProblemError, match=r"cannot be saved \(found Unsavable\(number=3\)\).*tuples"
    ):
        learner.snapshot()


class Light(Enum):
    RED = "r"
    GREEN = ("g", 2)


class Level(IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Unsavable:
    number: int


LABELS = [
    None, True, 7, 2.5, "", b"\x00\xff", date(2026, 2, 28),
    datetime(2026, 2, 28, 23, 59, 1, 7), datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=-5))),
    frozenset({1, "a", ("b", frozenset())}), ("deep", (frozenset({b"x"}), Light.RED)),
    Light.GREEN, Level.LOW, np.int64(3), (np.int64(3), np.str_("x")), np.datetime64("2026-01-02"),
]  # fmt: skip


# the paper's learner reckons with periods up to lcm(1, ..., |S|): all labels at once are too many
@pytest.mark.parametrize("part", [slice(None, 7), slice(7, None)])
@pytest.mark.parametrize("build", [lambda: RestlessLearner(Inputs(1)), lambda: TiedSampling(1)])
def test_common_labels_can_be_saved(build, part, tmp_path):
    learner, again = build(), build()
    labels = [label for label in LABELS if not isinstance(label, bool | Level)][part]
    for label in labels:
        learner.tell(0, label, 0.5)
    learner.save(tmp_path / "saved.zip")
    again.load(tmp_path / "saved.zip")
    assert again.labels.numbers == learner.labels.numbers
    assert len(again.labels.numbers[0]) == len(labels)
    assert pack(*again.snapshot()) == pack(*learner.snapshot())


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_labels_come_back_equal_and_of_their_kind(label):
    code = json.loads(json.dumps(encode_label(label), allow_nan=False))
    decoded = decode_label(code)
    assert decoded == plain_label(label)
    assert hash(decoded) == hash(plain_label(label))
    if isinstance(label, Light | bytes | date | frozenset):
        assert type(decoded) is type(label)


def test_labels_that_cannot_be_saved_are_named_with_a_remedy():
    class Local(Enum):
        HERE = 1

    for label, words in (
        (Local.HERE, r"Local\.HERE.*names or values"),
        ((1, Local.HERE), r"Local\.HERE"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (Unsavable(2), r"Unsavable\(number=2\).*tuples"),
    ):
        with pytest.raises(ProblemError, match=rf"state: a label that cannot be saved.*{words}"):
            encode_label(label)


def test_an_enum_that_is_not_there_is_not_imported():
    code = encode_label(Light.RED)
    code["enum"][0] = "a_module_nobody_imported"
    with pytest.raises(ProblemError, match="Import a_module_nobody_imported first"):
        decode_label(code)
    code["enum"][:2] = "os", "sep"
    with pytest.raises(ProblemError, match="not an enumeration"):
        decode_label(code)
    with pytest.raises(ProblemError, match="a label of an unknown kind"):
        decode_label({"pickle": "x"})


def test_known_state_spaces_are_held_to():
    learner = make_learner("colored-ucrl2", example1(), 100)
    for state in (2, -1, "0"):
        with pytest.raises(ProblemError, match=r"numbered 0\.\.1"):
            learner.tell(0, state, 0.0)
    with pytest.raises(ProblemError, match="no such arm"):
        learner.tell(2, 0, 0.0)
    for reward in (1.5, -0.1, float("nan")):
        with pytest.raises(ProblemError, match="Rescale"):
            learner.tell(0, 0, reward)
    assert learner.sight.steps == 0
    with pytest.raises(ProblemError, match="no such state"):
        learner.play_path(np.full((2, 5), 2), np.zeros((2, 5)))


def test_generators_go_on():
    for bits in (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64):
        rng = np.random.Generator(bits(3))
        rng.random(5)
        copy = generator_from(json.loads(json.dumps(generator_state(rng))))
        assert generator_state(copy) == generator_state(rng)
        assert copy.random(4).tolist() == rng.random(4).tolist()
        assert copy.bit_generator.seed_seq.entropy == 3


def test_counts_carry_over_by_true_age():
    rng = np.random.default_rng(0)
    old, new = Representation((2, 1), (3, 2), (1, 2)), Representation((3, 1), (5, 2), (1, 2))
    counts = Counts.none(old)
    for _ in range(200):
        counts.add(int(rng.integers(old.n_colors)), int(rng.integers(2)), 0.5)
    moved = carry_over(counts, old, new)
    for arm, size in enumerate(old.sizes):
        for state in range(size):
            for age in range(1, new.n_ages[arm] + 1):
                carried = moved.outcomes[new.color(arm, state, age)]
                exact = arm == 1 or age < 3  # arm 0: ages from 3 on were stored together
                source = counts.outcomes[old.color(arm, state, age)]
                assert carried[:2].tolist() == (source.tolist() if exact else [0, 0])
    assert moved.visits.sum() == moved.outcomes.sum() == 2 * moved.rewards.sum()
    back = carry_over(moved, new, Representation((3, 1), (2, 2), (1, 1)))
    assert back.visits.sum() == moved.visits.sum()  # merging ages loses nothing


def test_too_large_a_plan_is_refused_with_its_size():
    arms = Inputs(8, horizon=10**6, mixing_times=(50,) * 8, sizes=(3,) * 8, periods=(1,) * 8)
    with pytest.raises(TooLargeError, match="information states"):
        RestlessLearner(arms)


def test_what_is_kept_per_color_counts_for_the_size(monkeypatch):
    """Beside a quick arm a slow one makes few states and as many colors; counts come on top."""
    held = Inputs(2, horizon=1000, mixing_times=(10_000, 1), sizes=(2, 2), periods=(1, 1))
    learner = RestlessLearner(held)
    rep, counts = learner.representation, learner.counts
    room = 2 * rep.n_bytes + sum(part.nbytes for part in vars(counts).values() if part is not None)
    monkeypatch.setattr("restive.learners.paper.restless.memory_allowed", lambda memory: room)
    with pytest.raises(TooLargeError, match=r"2e\+05 information states and 1e\+05 colors"):
        RestlessLearner(held)


# --- the registry ----------------------------------------------------------------------------


def test_listing_learners_imports_no_numpy():
    code = (
        "import sys; from restive.learners import LEARNERS; "
        "assert all(e.description and e.guarantee for e in LEARNERS.values()); "
        "assert 'numba' not in sys.modules and 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_make_learner_says_what_is_wrong():
    with pytest.raises(ProblemError, match="Did you mean ucrl2"):
        make_learner("ucrl9", example1(), 10)
    with pytest.raises(ProblemError, match="no such option"):
        make_learner("colored-ucrl2", example1(), 10, color="red")
    with pytest.raises(ProblemError, match="a whole number"):
        make_learner("colored-ucrl2", example1(), 10, mixing_times=0)
    with pytest.raises(ProblemError, match="unknown_horizon"):
        make_learner("colored-ucrl2", example1(), None)


def test_every_entry_builds_a_learner_of_that_name():
    for name, entry in LEARNERS.items():
        learner = make_learner(name, example1(), 1000)
        assert entry.name == name
        assert learner.n_arms == 2
        assert learner.guarantee
    assert "not forgotten" in make_learner("colored-ucrl2-keeping", example1(), 10).deviation


# --- without being told ----------------------------------------------------------------------


@pytest.mark.parametrize("key", ["nothing", *ALL, "all"])
def test_learning_without_being_told(key):
    bandit = example1(0.1)  # best policy .7, each arm alone .5
    options = ALL if key == "all" else {} if key == "nothing" else {key: True}
    learner = make_learner("colored-ucrl2", bandit, 400_000, **options)
    run = play(learner, BanditWorld(bandit, 3), 400_000)
    half = np.searchsorted(run.times, 200_000)
    late = (run.rewards[-1] - run.rewards[half]) / (400_000 - run.times[half])
    assert late > (0.66 if key in ("nothing", "unknown_states") else 0.6)
    assert learner.labels.sizes == (2, 2)


def test_exploration_sees_all_known_states_before_each_episode():
    bandit = random_problem(n_arms=2, n_states=[3, 4], rng=6)
    learner = make_learner("colored-ucrl2", bandit, 5000, unknown_states=True)
    states, rewards = path_of(bandit, 3000)
    seen, explored = [set(), set()], False
    for t in range(3000):
        arm, mode, known = learner.ask(), learner.mode, learner.labels.sizes
        if mode == "explore" and not explored:
            seen = [set(), set()]
        explored = mode == "explore"
        if mode == "explore":
            lacking = [j for j in range(2) if len(seen[j]) < known[j]]
            assert arm == lacking[0]
        learner.tell(arm, int(states[arm, t]), float(rewards[arm, t]))
        seen[arm].add(int(states[arm, t]))
        if learner.mode == "episode" and explored:
            assert [len(shown) for shown in seen] == list(learner.labels.sizes)
    assert learner.labels.sizes == (3, 4)
    assert learner.counts.visits.sum() == learner.samples == 2998


def test_a_new_state_in_mid_episode_ends_it_and_joins():
    learner = RestlessLearner(Inputs(2, horizon=10_000, mixing_times=(2, 2), periods=(1, 1)))
    learner.tell(0, "a", 0.0)
    learner.tell(1, "x", 0.0)
    assert learner.mode == "episode"  # each arm's only known state has just been seen
    arm = learner.ask()
    learner.tell(arm, "new", 1.0)
    assert learner.mode == "explore"
    assert learner.labels.sizes[arm] == 2
    counts = learner.counts
    assert counts.visits.sum() == 1
    assert counts.outcomes.sum(axis=0).tolist() == [0, 1]
    other = ["a", "x"][arm]
    while learner.mode == "explore":
        pulled = learner.ask()
        learner.tell(pulled, other if pulled == arm else ["x", "a"][arm], 0.5)
        if pulled == arm and learner.mode == "explore" and learner.ask() == arm:
            learner.tell(arm, "new", 0.5)
    assert len(learner.episodes) == 2


def test_published_rounds_forget_and_keeping_ones_do_not():
    bandit = example1(0.3)
    states, rewards = path_of(bandit, 600)
    options = {"unknown_horizon": True, "unknown_mixing": False, "unknown_states": False,
               "unknown_periods": False}  # fmt: skip
    for name, keeps in (("colored-ucrl2", False), ("colored-ucrl2-keeping", True)):
        learner = make_learner(name, bandit, None, **options)
        numbers, before = [], 0
        for t in range(600):
            arm = learner.ask()
            learner.tell(arm, int(states[arm, t]), float(rewards[arm, t]))
            now = int(learner.counts.visits.sum())
            if numbers and learner.round.number != numbers[-1]:
                assert learner.samples == 2**learner.round.number - 2
                assert learner.episodes[-1] == t + 2
                if keeps:
                    assert 0.4 * before < now <= before + 1
                    assert learner.t == learner.samples + 1
                else:
                    assert now == 0
                    assert learner.t == 1
            numbers.append(learner.round.number)
            before = now
        assert numbers[-1] == 9


def test_unknown_periods_find_the_good_arm_of_each_phase():
    bandit = lower_bound(n_arms=2, cycle_length=2, gap=0.5, best=[0, 1])
    learner = make_learner("colored-ucrl2", bandit, 100_000, unknown_periods=True, mixing_times=1)
    assert learner.representation.periods == (2, 2)
    run = play(learner, BanditWorld(bandit, 1), 100_000)
    half = np.searchsorted(run.times, 50_000)
    late = (run.rewards[-1] - run.rewards[half]) / (100_000 - run.times[half])
    assert late > 0.9  # the better arm of each phase always pays; single arms pay 3/4 on average
    assert max(arm.gain for arm in bandit.arms) == 0.75


def test_of_arms_worth_the_same_the_first_is_pulled():
    learner = make_learner("colored-ucrl2", example1(0.1), 1000)
    for arm in (0, 1):
        learner.tell(arm, 0, 0.0)
    assert learner.planner.gain == (1.0, 1.0)  # every model is possible: all arms promise 1
    assert learner.ask() == 0
