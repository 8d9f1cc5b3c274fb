"""The mutation audit: break the code on purpose, and see which claims and tests notice.

``python -m verification mutations`` puts every defect in, one at a time, and runs the claims that
list it in ``notices`` at quick size, and the tests that its entry names. A claim notices a defect
if its verdict is not the one expected, or if it cannot be measured at all. With ``--out`` every
answer is kept at once, and an audit that was stopped goes on where it was, as long as the code is
the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from hashlib import sha256
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

from restive.paper.catalogue import CLAIMS
from restive.paper.claim import Claim, Scale
from verification import (
    ROOT,
    Check,
    Finding,
    Settings,
    defects_of_data,
    defects_of_detail,
    defects_of_runs,
    judge,
)
from verification.defects import DEFECTS, Defect

__all__ = ["CHECKS", "LEARNING", "QUICK", "Answers", "Noticed", "audit", "notices", "table"]

SCALE = Scale(quick=True)
# what the quick version puts in: cheap, and of every kind
QUICK = ("delta-not-shared", "exploration-missing", "wrong-arm", "periods-ignored",
         "bound-constant", "cover-constant", "certificate-without-aggregation")  # fmt: skip
# claims that run a learner; each must notice something
LEARNING = tuple(
    name for name in (claim.name for claim in CLAIMS)
    if name.startswith(("theorem-2", "theorem-3", "theorem-4", "unknown-", "exp3"))
    or name in ("algorithm-2", "optimism", "confidence-sets", "episodes", "ucrl2", "logarithm",
                "nothing-known", "periodic-arms", "plans", "exploration-cost", "appendix-failing",
                "appendix-visits", "appendix-span", "remark-2")
)  # fmt: skip


@dataclass(frozen=True)
class Noticed:
    """What a claim or a test said of a defect."""

    defect: str
    by: str
    noticed: bool
    words: str  # the verdict, or the error
    seconds: float


def notices(name: str) -> tuple[Claim, ...]:
    """Claims that must notice a defect."""
    return tuple(claim for claim in CLAIMS if name in claim.notices)


def audit(name: str, claims: Sequence[Claim] | None = None) -> list[Noticed]:
    """Put one defect in and ask all who should notice."""
    defect, answers, measured = DEFECTS[name], [], {}
    with defect.applied():
        for claim in notices(name) if claims is None else claims:
            began = perf_counter()
            noticed, words = _asked(claim, measured)
            answers.append(Noticed(name, claim.name, noticed, words, perf_counter() - began))
        for test in defect.tests:
            began = perf_counter()
            failed = _failed(test)
            words = "fails" if failed else "passes"
            answers.append(Noticed(name, test, failed, words, perf_counter() - began))
    return answers


def _asked(claim: Claim, measured: dict[str, Any]) -> tuple[bool, str]:
    """Whether the verdict is another one than expected, measurements shared among claims."""
    work = claim.measurement
    try:
        if work.name not in measured:
            measured[work.name] = [work.measure(cell) for cell in work.cells(SCALE)]
        verdict = claim.judge(SCALE, measured[work.name]).verdict
    except Exception as error:  # whatever a broken program may raise is noticed
        return True, f"{type(error).__name__}"
    return verdict != claim.expected, verdict


def _failed(test: str) -> bool:
    import pytest

    with redirect_stdout(StringIO()):
        code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--rootdir", str(ROOT),
                            str(ROOT / test)])  # fmt: skip
    return int(code) == 1


class Answers:
    """Answers of an audit, kept in a file by defect; those that other code gave count no more."""

    def __init__(self, folder: Path | None) -> None:
        self.path = None if folder is None else folder / "mutations-answers.jsonl"
        self.code = "" if folder is None else _code()
        self.known: dict[str, list[Noticed]] = {}
        if self.path is not None and self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                self._read(json.loads(line))

    def of(self, name: str) -> list[Noticed]:
        """What all who should notice a defect say; asked if it is not known."""
        if name not in self.known:
            self.known[name] = audit(name)
            self._write(name)
        return self.known[name]

    def _read(self, line: dict[str, Any]) -> None:
        if line["code"] == self.code:
            self.known[line["defect"]] = [Noticed(**answer) for answer in line["answers"]]

    def _write(self, name: str) -> None:
        if self.path is not None:
            said = [asdict(answer) for answer in self.known[name]]
            line = {"code": self.code, "defect": name, "answers": said}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def _code() -> str:
    """A hash of all code that answers depend on."""
    folders = (ROOT / name for name in ("src", "verification", "tests"))
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


def check_mutations(settings: Settings) -> Iterator[Finding]:
    """Every defect is noticed by all who promise to, and every learning claim notices one."""
    kept, answers = Answers(settings.out), list[Noticed]()
    for name in QUICK if settings.quick else DEFECTS:
        fresh = kept.of(name)
        answers += fresh
        yield _finding(name, DEFECTS[name], fresh)
    if not settings.quick:
        caught = {answer.by for answer in answers if answer.noticed}
        idle = sorted(set(LEARNING) - caught)
        yield Finding(
            "mutations: learning claims",
            f"each of the {len(LEARNING)} claims that run a learner notices a defect",
            "not " + ", ".join(idle) if idle else "all do",
            f"{len(DEFECTS)} defects",
            judge(not idle),
        )
    if settings.out is not None:
        (settings.out / "mutations-table.md").write_text(table(answers), "utf-8")


def _finding(name: str, defect: Defect, answers: Sequence[Noticed]) -> Finding:
    shown = ", ".join(f"{answer.by}: {answer.words}" for answer in answers)
    took = sum(answer.seconds for answer in answers)
    good = bool(answers) and all(answer.noticed for answer in answers)
    return Finding(
        f"mutations: {name}", defect.words, shown or "nobody was asked", f"{took:.0f} s",
        judge(good),
    )  # fmt: skip


def table(answers: Sequence[Noticed]) -> str:
    """The audit for readers: a row for each defect, and one for each learning claim."""
    rows = ["| defect | what is broken | noticed by | missed by |", "|---|---|---|---|"]
    for name in dict.fromkeys(answer.defect for answer in answers):
        own = [answer for answer in answers if answer.defect == name]
        seen = ", ".join(f"{_short(a.by)} ({a.words})" for a in own if a.noticed)
        missed = ", ".join(_short(a.by) for a in own if not a.noticed)
        rows.append(f"| {name} | {DEFECTS[name].words} | {seen} | {missed} |")
    rows += ["", "| claim that runs a learner | notices |", "|---|---|"]
    for claim in LEARNING:
        caught = [answer.defect for answer in answers if answer.by == claim and answer.noticed]
        rows.append(f"| {claim} | {', '.join(caught)} |")
    return "\n".join(rows) + "\n"


def _short(by: str) -> str:
    return f"`{by}`" if "/" in by else by


assert defects_of_detail
assert defects_of_data  # defects are entered when their modules are imported
assert defects_of_runs
CHECKS: dict[str, Check] = {"mutations": check_mutations}
