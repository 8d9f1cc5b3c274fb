"""Problem files: every malformed one is refused with its places, every bandit survives a trip."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from malformed_cases import CASES, FOLDER, PHRASES
from restive import Arm, Bandit, ProblemError
from restive.model.files import dump_problem, load_problem, parse_problem, problem_schema
from restive.model.structure import EXAMPLE, ArmFile, ProblemFile

CHANNEL = "[[arms]]\ntransitions = [[0.9, 0.1], [0.1, 0.9]]\nrewards = [0.0, 1.0]\n"


def refusal(text: str, form: Any = "toml") -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        parse_problem(text, form)
    return caught.value


def test_every_malformed_file_is_in_the_table() -> None:
    assert sorted(CASES) == sorted(PHRASES) == sorted(p.name for p in FOLDER.iterdir())
    assert len(CASES) >= 40


@pytest.mark.parametrize("name", CASES)
def test_malformed_file_is_refused_with_exactly_its_places(name: str) -> None:
    path = FOLDER / name
    with pytest.raises(ProblemError) as caught:
        load_problem(path)
    places = [name if fault.path == str(path) else fault.path for fault in caught.value.faults]
    assert sorted(places) == sorted(CASES[name])
    assert PHRASES[name] in str(caught.value)
    assert all(fault.message and fault.remedy.endswith((".", "?")) for fault in caught.value.faults)
    assert str(path) in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("absent.toml", "No such file"),
        ("folder.toml", "this is a folder"),
        ("radio.yaml", "unknown kind of file"),
        ("radio", "unknown kind of file"),
        ("nul\0byte.toml", "null"),
        ("radoi.toml", "radio.toml?"),
    ],
)
def test_unreadable_path_is_one_fault(tmp_path: Path, name: str, phrase: str) -> None:
    (tmp_path / "folder.toml").mkdir()
    for present in ("radio.yaml", "radio", "radio.toml"):
        (tmp_path / present).write_text(CHANNEL)
    with pytest.raises(ProblemError) as caught:
        load_problem(tmp_path / name)
    (fault,) = caught.value.faults
    assert fault.path == str(tmp_path / name)
    assert phrase in str(fault)


@pytest.mark.parametrize("text", ['{"arms": ' + "[" * 100_000, '{"arms":' * 100_000])
def test_bottomless_json_is_refused(text: str) -> None:
    assert "nested too deeply" in str(refusal(text, "json"))


def test_bottomless_toml_is_refused() -> None:
    assert refusal("arms = " + "[" * 100_000).faults


def test_a_fault_in_one_field_does_not_hide_the_others() -> None:
    text = '[[arms]]\ntransitions = [[0.5, "x"], [0.5, 0.5]]\nrewards = [0, 1, 1]\ninitial = 5\n'
    paths = [fault.path for fault in refusal(text).faults]
    assert paths == ["arms[0].transitions[0][1]", "arms[0].rewards", "arms[0].initial"]


def test_one_rescaling_serves_all_arms() -> None:
    error = refusal(CHANNEL.replace("1.0]", "3.0]") + CHANNEL.replace("[0.0", "[-1.0"))
    first, second = error.faults
    assert (first.path, second.path) == ("arms[0].rewards[1]", "arms[1].rewards[0]")
    assert "r -> (r + 1) / 4" in first.remedy
    assert "gives [0.25, 1.0] here" in first.remedy  # (0 + 1) / 4, (3 + 1) / 4
    assert "r -> (r + 1) / 4" in second.remedy
    assert "gives [0.0, 0.5] here" in second.remedy
    assert "4 g - 1" in second.remedy


def test_values_and_defaults_are_read() -> None:
    text = f'name = "Radio"\n{CHANNEL}states = ["busy", "free"]\ninitial = "free"\n{CHANNEL}'
    bandit = parse_problem(text + 'reward_noise = "beta"\ninitial = [0.25, 0.75]\n')
    first, second = bandit.arms
    assert (bandit.name, first.name, bandit.arm_name(1)) == ("Radio", "", "arm 2")
    np.testing.assert_array_equal(first.transitions, [[0.9, 0.1], [0.1, 0.9]])
    assert (first.initial, first.states, first.reward_noise) == (1, ("busy", "free"), "none")
    assert (second.states, second.reward_noise) == (("0", "1"), "beta")
    np.testing.assert_array_equal(second.initial_law, [0.25, 0.75])


def test_the_word_stationary_is_the_law_even_where_a_state_is_called_that() -> None:
    states = f'{CHANNEL}states = ["stationary", "moving"]\n'
    assert parse_problem(states + 'initial = "stationary"\n').arms[0].initial == "stationary"
    assert parse_problem(states).arms[0].initial == "stationary"
    by_number = parse_problem(states + "initial = 0\n")
    assert by_number.arms[0].initial == 0
    assert parse_problem(dump_problem(by_number)) == by_number


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "radio.TOML"
    path.write_bytes(b"\xef\xbb\xbf" + CHANNEL.replace("\n", "\r\n").encode())
    assert load_problem(path).arms == parse_problem(CHANNEL).arms


@st.composite
def laws(draw: st.DrawFn, size: int) -> list[float]:
    weights = draw(st.lists(st.floats(1e-6, 1), min_size=size, max_size=size))
    return [weight / sum(weights) for weight in weights]


@st.composite
def arms(draw: st.DrawFn) -> Arm:
    size = draw(st.integers(1, 12))
    names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
    states = st.lists(names, min_size=size, max_size=size, unique=True)
    return Arm(
        [draw(laws(size)) for _ in range(size)],
        draw(st.lists(st.floats(0, 1), min_size=size, max_size=size)),
        name=draw(st.text(st.characters(codec="utf-8"), max_size=5)),
        states=draw(st.none() | states),
        reward_noise=draw(st.sampled_from(["none", "bernoulli", "beta"])),
        initial=draw(st.just("stationary") | st.integers(0, size - 1) | laws(size)),
    )


@st.composite
def bandits(draw: st.DrawFn) -> Bandit:
    chosen = draw(st.lists(arms(), min_size=1, max_size=3, unique_by=lambda arm: arm.name))
    return Bandit(chosen, name=draw(st.text(st.characters(codec="utf-8"), max_size=9)))


@settings(max_examples=150, deadline=None)
@given(bandits(), st.sampled_from(["toml", "json"]))
@example(Bandit([Arm([[1.0]], [0.5])], name='\x7f "quoted" \\ \n\t\u2028'), "toml")
def test_a_written_bandit_reads_back_to_the_last_bit(bandit: Bandit, form: Any) -> None:
    again = parse_problem(dump_problem(bandit, form), form)
    assert again == bandit
    for arm, twin in zip(bandit.arms, again.arms, strict=True):
        assert arm.transitions.tobytes() == twin.transitions.tobytes()
        assert arm.rewards.tobytes() == twin.rewards.tobytes()
        assert arm.initial_law.tobytes() == twin.initial_law.tobytes()


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
keys = st.sampled_from([*ArmFile.model_fields, "arms", "a b", ""])
trees = st.recursive(
    scalars, lambda t: st.lists(t, max_size=3) | st.dictionaries(keys, t, max_size=4), max_leaves=25
)


@settings(max_examples=300, deadline=None)
@given(st.fixed_dictionaries({"arms": st.lists(st.dictionaries(keys, trees), max_size=3)}) | trees)
def test_nothing_but_a_problem_error_is_ever_raised(tree: Any) -> None:
    paths = ["valid"]
    try:
        parse_problem(json.dumps(tree), "json")
    except ProblemError as error:
        paths = [fault.path for fault in error.faults]
    assert paths
    assert len(set(paths)) == len(paths)


def test_dump_leaves_out_defaults_and_gives_wide_matrices_a_line_per_row() -> None:
    size = 9
    arm = Arm(np.full((size, size), 1 / size), np.linspace(0, 1, size), name="wide")
    text = dump_problem(Bandit([arm]))
    rows = [line for line in text.splitlines() if line.startswith("  [0.111")]
    assert len(rows) == size
    assert not any(word in text for word in ("states", "initial", "noise"))
    assert json.loads(dump_problem(Bandit([arm]), "json")).keys() == {"arms"}


def test_dump_refuses_what_a_file_cannot_hold() -> None:
    arm = Arm([[1.0]], [0.5], name="twin")
    with pytest.raises(ProblemError, match=r"arms\[1\]\.name"):
        dump_problem(Bandit([arm, arm]))
    with pytest.raises(ProblemError, match="yaml"):
        dump_problem(Bandit([arm]), "yaml")  # type: ignore[arg-type]


def described(schema: dict[str, Any]) -> list[str]:
    """Properties without a description, over the schema and its definitions."""
    tables = [schema, *schema["$defs"].values()]
    fields = [(key, field) for table in tables for key, field in table["properties"].items()]
    assert len(fields) == 11
    return [key for key, field in fields if not field.get("description")]


def test_schema_describes_every_field_and_its_example_is_valid() -> None:
    schema = problem_schema()
    assert described(schema) == []
    assert schema["additionalProperties"] is False
    (example,) = schema["examples"]
    assert ProblemFile.model_validate(example).name == EXAMPLE["name"]
    assert parse_problem(json.dumps(example), "json").n_arms == 2
    entry = schema["$defs"]["ArmFile"]["properties"]["transitions"]["items"]["items"]
    assert (entry["minimum"], entry["maximum"]) == (0, 1)


def test_the_documented_examples_are_true() -> None:
    page = (Path(__file__).parents[1] / "docs" / "problem-files.md").read_text()
    valid, broken = (part.split("```")[0] for part in page.split("```toml\n")[1:3])
    shown = page.split("```text\n")[1].split("```")[0]
    assert parse_problem(valid).n_arms == 2
    assert str(refusal(broken)).split() == shown.split()


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        ("a." * 40_000 + "a = 1", "toml", "a key of more than 50 parts"),
        ("[" + '"=".' * 40_000 + "a]", "toml", "a key of more than 50 parts"),
        ("a = [" + "1," * 1_000_000 + "]", "toml", "longer than 2,000,000 characters"),
        ('{"arms": [' + "{}," * 700_000 + "{}]}", "json", "more than 600,000 lists and tables"),
        ('{"arms": [{"states": [' + '"",' * 3_000 + '""]}]}', "json", "more than 4,000,000"),
        ('{"arms": [{"rewards": [' + "null," * 1_500 + "1]}]}", "json", "that are not numbers"),
        ("{" + ",".join(f'"{k}": 1' for k in range(101)) + "}", "json", "more than 100 keys"),
    ],
)
def test_what_would_take_too_long_is_refused_before_it_is_read(text, form, words):
    with pytest.raises(ProblemError, match=words) as refused:
        parse_problem(text, form)
    assert len(refused.value.faults) == 1


def test_nobody_is_told_of_more_than_a_thousand_faults():
    """Of one kind in one place; the others were as wrong, but nobody reads on."""
    row = [2.0] * 100
    text = json.dumps({"arms": [{"transitions": [row] * 100, "rewards": [0.5] * 100}]})
    with pytest.raises(ProblemError) as refused:
        parse_problem(text, "json")
    assert len(refused.value.faults) == 1000
    with pytest.raises(ProblemError) as refused:
        parse_problem('{"arms": [' + "{}," * 2000 + "{}]}", "json")
    assert len(refused.value.faults) == 1000


def test_pipes_devices_and_endless_files_are_not_problem_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    with open(tmp_path / "sparse.json", "wb") as stream:
        stream.truncate(10**11)
    for name, words in (("pipe", "regular"), ("zero", "regular"), ("sparse", "Larger than 32 MB")):
        path = next(tmp_path.glob(f"{name}.*"))
        with pytest.raises(ProblemError, match=words):
            load_problem(path)


def test_a_problem_without_a_name_is_called_by_its_file(tmp_path):
    arms = "[[arms]]\ntransitions = [[1]]\nrewards = [0.5]\n"
    path = tmp_path / "harbour.toml"
    path.write_text(arms, encoding="utf-8")
    assert load_problem(path).name == "harbour"
    path.write_text('name = "quay"\n' + arms, encoding="utf-8")
    assert load_problem(path).name == "quay"
