"""``restive suite``: the problem suites, their tables, and their files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from restive.base.errors import refusal
from restive.cli.app import Json, app, argument, option, options, print_json

if TYPE_CHECKING:
    from restive.problems.suites import Suite


@app.command(epilog="Example: restive suite restive-suite-v1 --out problems")
@options(
    words=argument("NAME", "A suite; none lists them."),
    out=option("DIR", "Write the problem files and the manifest there."),
)
def suite(words: list[str] | None = None, out: str = "", json: Json = False) -> None:
    """Show a frozen collection of problems, or write its files.

    Every problem has a best average reward in a certified interval. A suite never changes under
    its name, so that results on it can be compared across papers.
    """
    from restive.problems.suites import describe, suites

    name = " ".join(words or ())  # cited as restive-suite v1, which a shell makes two words of
    if not name and out:
        remedy = f"Name the suite: restive suite {suites()[-1]} --out {out}."
        raise refusal("NAME", "which suite?", "", remedy)
    listed = [describe(title) for title in ([name] if name else suites())]
    written = _write(listed[0], Path(out)) if out else []
    if json:
        print_json(_facts(listed[0]) if name else {"suites": [_facts(suite) for suite in listed]})
        return
    from restive.cli import problems_screen

    if name:
        problems_screen.show_suite(listed[0], out if written else "")
    else:
        problems_screen.show_suites(listed)


def _facts(suite: Suite) -> dict[str, Any]:
    from restive import __version__

    return {"version": __version__, **asdict(suite)}


def _write(suite: Suite, folder: Path) -> list[str]:
    """Put the frozen files there, byte for byte; files of another content are left alone."""
    from restive.base.writing import write_text
    from restive.problems.suites import HOME, MANIFEST, suite_files

    texts = suite_files(suite.name)
    texts[MANIFEST] = (HOME / suite.name / MANIFEST).read_bytes().decode("utf-8")
    for file, text in texts.items():
        target = folder / file
        if target.exists() and target.read_bytes() != text.encode("utf-8"):
            remedy = "Choose another folder, or move that file away."
            raise refusal("--out", "another file is there", str(target), remedy)
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        write_text(folder / file, text)
    return list(texts)
