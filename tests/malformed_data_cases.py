"""What is wrong with each file in tests/malformed_data: options, place and phrase of its fault.

{f} stands for the path of the file.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["CASES", "FOLDER"]

FOLDER = Path(__file__).parent / "malformed_data"

CASES: dict[str, tuple[list[str], str, str]] = {
    "a-quote-far-on.csv": ([], '{f}, line 3, column "state"', "the quotes do not close"),
    "arm-missing.csv": ([], '{f}, line 4, column "arm"', "there is no name of the arm"),
    "blank.csv": ([], "{f}", "the file is empty"),
    "comma-in-number.csv": ([], '{f}, line 3, column "left"', "a comma in a number"),
    "cut-off.jsonl": ([], "{f}, line 2, column", "a quote that is never closed"),
    "date-among-numbers.csv": (
        [],
        '{f}, line 5, column "time"',
        "not a time like those",
    ),
    "deep.jsonl": ([], "{f}, line 1", "nested too deeply"),
    "empty.csv": ([], "{f}", "the file is empty"),
    "empty.jsonl": ([], "{f}", "the file is empty"),
    "endless-integer.jsonl": ([], "{f}, line 1, column 22", "a number far too large"),
    "far-apart.csv": ([], '{f}, line 4, column "time"', "more than 1e+12 steps"),
    "heading-only.csv": ([], "{f}", "no rows below the heading"),
    "huge-integer.jsonl": ([], '{f}, line 2, column "time"', "a number far too large"),
    "impossible-date.csv": ([], '{f}, line 4, column "time"', "there is no such date or time"),
    "infinite-state.csv": ([], '{f}, line 4, column "left"', "not a finite number"),
    "infinite-time.csv": ([], '{f}, line 4, column "time"', 'not a time (found "inf")'),
    "junk.parquet": ([], "{f}", "not a Parquet file"),
    "latin-1.csv": ([], "{f}, line 3, column 11", "not UTF-8 text (found byte 0xdf)"),
    "list.jsonl": ([], "{f}, line 2", "not an object"),
    "long-cell.csv": ([], '{f}, line 4, column "state"', "the cell is too long"),
    "long-row.csv": ([], "{f}, line 4, column 4", "3 cells were expected (found 4 cells)"),
    "mixed-zones.csv": ([], '{f}, line 3, column "time"', "this time has no zone"),
    "mixed-types.jsonl": ([], '{f}, line 3, column "state"', "a word among numbers"),
    "nameless-column.csv": ([], "{f}, line 1, column 2", "the column has no name"),
    "nested.jsonl": ([], '{f}, line 2, column "state"', "not a plain value"),
    "never-seen.csv": ([], '{f}, line 2, column "right"', "arm 'right' is never seen"),
    "no-heading.csv": ([], "{f}, line 1", "numbers where names belong"),
    "no-state-column.csv": ([], "{f}", "unclear which column holds the state"),
    "not-json.jsonl": ([], "{f}, line 2, column 25", "a name in double quotes belongs here"),
    "nul-byte.csv": ([], "{f}, line 4, column 3", "a NUL byte"),
    "number-among-words.csv": (
        [],
        '{f}, line 6, column "state"',
        'among words (found "7")',
    ),
    "off-the-grid.csv": ([], '{f}, line 22, column "time"', "of a step beside them"),
    "one-state.csv": ([], '{f}, line 4, column "left"', "only one state is ever seen, on"),
    "month-first.csv": ([], '{f}, line 2, column "date"', 'not a time (found "01/31/2026")'),
    "only-time.csv": ([], "{f}", "there are no arms"),
    "open-quote.csv": ([], '{f}, line 4, column "state"', "the quotes do not close"),
    "other-columns.csv": (
        ["--state", "state"],
        '{f}, column "state"',
        "there is no such column",
    ),
    "packed.csv.gz": ([], "{f}", "gunzip -c packed.csv.gz | restive fit -"),
    "piece-missing.csv": ([], '{f}, line 3, column "piece"', "there is no name of the piece"),
    "pieces-of-one.csv": (
        [],
        '{f}, line 2, column "state"',
        "no two sightings of the arm",
    ),
    "repeated-column.csv": ([], "{f}, line 1, column 3", "column 1 is called that too"),
    "repeated-time-wide.csv": (
        [],
        '{f}, line 4, column "step"',
        "seen at this time before",
    ),
    "repeated-time.csv": ([], '{f}, line 5, column "time"', "a was seen at this time before"),
    "reward-huge.csv": ([], '{f}, line 4, column "reward"', "the reward is too large"),
    "reward-infinite.csv": ([], '{f}, line 4, column "reward"', "the reward is not a number"),
    "reward-without-state.csv": ([], '{f}, column "reward"', "rewards, but no column of states"),
    "reward-word.csv": ([], '{f}, line 3, column "reward"', "the reward is not a number"),
    "same-step.csv": (
        ["--tick", "1"],
        '{f}, line 4, column "time"',
        "seen twice in the same step",
    ),
    "seen-once.csv": ([], '{f}, line 3, column "right"', "the only sighting of the arm"),
    "short-row.csv": ([], '{f}, line 5, column "state"', "3 cells were expected (found 2 cells)"),
    "spaces.txt": ([], "{f}, line 1, column 1", "separated by spaces"),
    "spreadsheet.xlsx": ([], "{f}", "unknown kind of file"),
    "stray-quote.csv": ([], '{f}, line 4, column "arm"', "the quotes do not close"),
    "thousands.csv": ([], '{f}, line 2, column "left"', 'a comma in a number (found "1,200")'),
    "time-missing.csv": ([], '{f}, line 4, column "time"', "there is no time"),
    "time-missing.jsonl": ([], '{f}, line 2, column "time"', "there is no time"),
    "time-word.csv": ([], '{f}, line 4, column "time"', 'not a time (found "soon")'),
    "too-many-states.csv": ([], '{f}, line 71, column "left"', "70 different states"),
    "too-many-words.csv": ([], '{f}, line 71, column "left"', "states are kinds of things"),
    "unsorted-wide.csv": ([], '{f}, line 4, column "date"', "the time goes back"),
    "unsorted.csv": ([], '{f}, line 6, column "time"', "the time goes back: a was seen later"),
    "utf-16.csv": ([], "{f}, line 1, column 1", "UTF-16, not UTF-8 text (found byte 0xff)"),
    "word-among-numbers.csv": (
        [],
        '{f}, line 4, column "right"',
        'among numbers (found "oops")',
    ),
    "words-to-cut.csv": (
        ["--cut", "0.5"],
        '{f}, line 2, column "left"',
        "words cannot be cut",
    ),
}
