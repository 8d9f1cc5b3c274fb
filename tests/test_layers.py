"""Imports point one way: each part of the package uses only what lies below it."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import restive

ROOT = Path(restive.__file__).parent

# From the ground up. A room may use those on its own floor and below.
FLOORS = [
    {"base", "_kernels"},
    {"model"},
    {"estimation", "mdp", "theory"},
    {"planning", "policies", "problems"},
    {"many"},
    {"learners", "simulation"},
    {"experiments", "data", "paper"},
    {"report"},
    {"cli"},
    {"__main__"},
]
FLOOR = {part: level for level, parts in enumerate(FLOORS) for part in parts}


def part_of(path):
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imports(tree, package):
    """Absolute names of everything a module imports, lazily or not, but for type checking."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        pending += ast.iter_child_nodes(node)


def used_parts(path):
    """Parts of restive that a file imports; a name of the package itself stands for 'restive'."""
    package = ["restive", *path.relative_to(ROOT).parent.parts]
    modules_named = set()
    for name in imports(ast.parse(path.read_text(encoding="utf-8")), package):
        words = name.split(".")
        if words[0] == "restive":
            modules_named.add(words[1] if len(words) > 1 and words[1] in FLOOR else "restive")
    return modules_named


def modules():
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    part = part_of(path)
    assert part in FLOOR, f"{part} has no floor yet: add it to FLOORS and to docs/architecture.md"
    for used in used_parts(path) - {part}:
        if used == "restive":
            assert FLOOR[part] >= FLOOR["report"], f"{path} imports the whole package"
        else:
            assert FLOOR[used] <= FLOOR[part], f"{path} imports {used}, which lies above {part}"


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def used_modules(path, names):
    """Modules of restive that a file imports; an imported package stands for its __init__ file."""
    package = ["restive", *path.relative_to(ROOT).parent.parts]
    for name in imports(ast.parse(path.read_text(encoding="utf-8")), package):
        while name and name not in names:
            name = name.rpartition(".")[0]
        if name and name != "restive":
            yield name


def test_no_circles_between_files():
    names = {module_name(path) for path in modules()}
    graph = {
        module_name(path): {name for name in used_modules(path, names) if name != module_name(path)}
        for path in modules()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_files_are_short():
    paths = [path for path in modules() if part_of(path) != "_kernels"]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert not {str(path): count for path, count in lines.items() if count > 300}


def test_functions_are_short():
    lengths = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and part_of(path) != "_kernels":
                lengths[f"{path.relative_to(ROOT)}: {node.name}"] = (
                    node.end_lineno - node.lineno + 1
                )
    assert not {place: lines for place, lines in lengths.items() if lines > 40}


def test_no_two_public_classes_share_a_name():
    """Records of arrays inside kernels aside."""
    homes = defaultdict(list)
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and part_of(path) != "_kernels":
                homes[node.name].append(str(path.relative_to(ROOT)))
    shared = {name for name, files in homes.items() if len(files) > 1 and name[0] != "_"}
    assert not shared, {name: homes[name] for name in shared}


def test_kernels_use_nothing_but_numpy_and_numba():
    for path in sorted((ROOT / "_kernels").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {name.split(".")[0] for name in imports(tree, ["restive", "_kernels"])}
        inner = {part for part in used_parts(path) if part != "_kernels"}
        assert not inner, f"{path} imports {inner}"
        assert names <= {"numpy", "numba", "restive", *sys.stdlib_module_names}


def test_the_reader_of_imports_sees_them_all():
    tree = ast.parse(
        "import a.b\n"
        "from . import c\n"
        "from ..d import e\n"
        "def f():\n    from restive.g import h\n"
        "if TYPE_CHECKING:\n    import hidden\n"
    )
    modules_named = set(imports(tree, ["restive", "cli"]))
    assert modules_named == {"a.b", "restive.cli.c", "restive.d.e", "restive.g.h"}
