"""``restive compare``: let learners play the same worlds, keep every run, and rank them."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from restive.base.errors import ProblemError, refusal
from restive.cli.app import (
    Json,
    app,
    argument,
    complete_learners,
    complete_problem,
    option,
    options,
    print_json,
)

if TYPE_CHECKING:
    from restive.experiments import Experiment, Results


@app.command(epilog="Example: restive compare example-1 example-3 --horizon 1e4 --out runs")
@options(
    files=argument(
        "PROBLEM",
        "Problem files, names from the gallery or a suite; or one experiment file.",
        autocompletion=complete_problem,
    ),
    out=option("DIR", "Directory for the results."),
    learners=option(
        "A,B,...",
        "Who plays; restive learners lists them. Or your own, module:function (default: "
        "tied-sampling, tied-ucrl, colored-ucrl2, thompson, best-arm).",
        autocompletion=complete_learners,
    ),
    horizon=option("T", "Steps of a run (default: 1e5); may be given several times."),
    runs=option("N", "Runs of each learner (default: 20)."),
    seed=option("N", "Same seed, same results (default: 0)."),
    delta=option("P", "Probability with which a guarantee may fail (default: 0.05)."),
    workers=option("N", "Processes at work (default: one for each core, or the whole cluster)."),
    backend=typer.Option(help="Where the runs take place: in local processes or on a cluster."),
    address=option("URL", "Address of a running Dask or Ray cluster, such as tcp://host:8786."),
)
def compare(
    files: list[str], out: str, learners: str = "", horizon: list[str] | None = None,
    runs: str = "", seed: str = "", delta: str = "", workers: str = "",
    backend: Literal["local", "dask", "ray"] = "local", address: str = "", json: Json = False,
) -> None:  # fmt: skip
    """Compare learners on problems, run by run in the same worlds.

    Every run is kept in DIR as it finishes. Ctrl-C or a crash loses no more than the runs under
    way: the same command goes on where it stopped, and ends with the same files. With more
    learners, problems, horizons or runs it adds to what is there. An experiment file (TOML) holds
    problems, learners with options, horizons, runs and a seed; options given here take the place of
    its own. A learner that raises an exception does not stop the others; the exit code is then 1,
    and the same command tries the failed runs again.
    """
    settings = _given(learners, horizon, runs, seed, delta)
    processes = _read_workers(workers)
    places = {"--out": out, "--workers": processes, "--backend": backend, "--address": address}
    command = _command(files, settings, places)
    from restive.base.backends import check_backend
    from restive.cli import compare_screen

    faults = check_backend(backend, address, processes)
    if faults:
        raise ProblemError([replace(fault, path=f"--{fault.path}") for fault in faults])
    experiment = _experiment(files, settings, command)
    warm = partial(_warm, experiment, backend)
    with compare_screen.watching(out, warm) as watcher:
        results = experiment.run(
            out, workers=processes, backend=backend, address=address, watcher=watcher
        )
    from restive.experiments.tables import read_statistics

    summary = read_statistics(results, Path(out)).summary
    if json:
        print_json({"directory": out, **summary.to_dict(), "failures": _failures(results)})
    else:
        compare_screen.show_comparison(results, summary, out)
    if results.failures or not results.finished:
        raise typer.Exit(1 if results.failures else 2)


def _failures(results: Results) -> list[dict[str, Any]]:
    return [
        {"problem": place[0], "learner": place[1], "horizon": place[2],
         "failed": list(failure.failed), "runs": failure.runs, "error": failure.error}
        for place, failure in results.failures.items()
    ]  # fmt: skip


def _warm(experiment: Experiment, backend: str) -> None:
    """Compile in this process what local workers will read from the cache."""
    from restive.cli.live import warm
    from restive.learners import LEARNERS

    if backend == "local":
        known = [player for player in experiment.learners if player.name in LEARNERS]
        pairs = product(known, (problem.bandit for problem in experiment.problems))
        warm(((player.name, bandit, player.options) for player, bandit in pairs), experiment.delta)


def _given(
    learners: str, horizon: list[str] | None, runs: str, seed: str, delta: str
) -> dict[str, Any]:
    """The parts of an experiment that are given as options, as numbers and lists."""
    from restive.cli.numbers import read_probability
    from restive.experiments.experiment import read_steps

    settings: dict[str, Any] = {}
    if learners:
        settings["learners"] = [name.strip() for name in learners.split(",") if name.strip()]
        if not settings["learners"]:
            remedy = "Give names of restive learners with commas between them."
            raise refusal("--learners", "there are none", learners, remedy)
    if horizon:
        settings["horizons"] = [read_steps(text) for text in horizon]
    if runs:
        settings["runs"] = read_steps(runs)
    if seed:
        settings["seed"] = read_steps(seed)
    if delta:
        settings["delta"] = read_probability("--delta", delta)
    return settings


def _read_workers(text: str) -> int | None:
    """The number, whose range is checked together with the place of work; None if not given."""
    from restive.cli.numbers import read_whole
    from restive.experiments.experiment import read_steps

    number = read_steps(text) if text else None
    return read_whole("--workers", text, 1) if isinstance(number, str) else number


def _experiment(files: list[str], settings: dict[str, Any], command: str) -> Experiment:
    from restive.experiments.experiment import experiment_from, experiment_in

    described = {file: fields for file in files if (fields := experiment_in(file)) is not None}
    if described and len(files) > 1:
        remedy = "Give one experiment file alone, or problem files only."
        raise refusal(next(iter(described)), "an experiment file beside others", "", remedy)
    if described:
        fields = described[files[0]]
        return experiment_from({**fields, **settings, "command": command}, Path(files[0]).parent)
    return experiment_from({"problems": files, **settings, "command": command})


def _command(files: list[str], settings: dict[str, Any], places: dict[str, Any]) -> str:
    """The command as it could be given again; defaults are left out."""
    words = ["restive", "compare", *files]
    for key, value in settings.items():
        if key == "horizons":
            words += [word for steps in value for word in ("--horizon", str(steps))]
        else:
            words += [f"--{key}", ",".join(value) if key == "learners" else str(value)]
    for name, place in places.items():
        if place and place != "local":
            words += [name, str(place)]
    return shlex.join(words)
