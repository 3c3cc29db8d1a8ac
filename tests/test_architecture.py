"""The layering that the design promises, and what importing the package costs."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import tomllib

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "microagg"

# Who may import whom, lowest layer first: a module imports only from layers above it in this list, or its own.
LAYERS = [
    {"curves", "errors", "lazy", "progress", "solver", "turns"},
    {"jobs", "ks", "validation"},
    {"tables"},
    {"classes", "dates", "numerals", "partition", "rules", "scaling", "taxonomy"},
    {"records"},
    {"encoding", "gaps"},
    {"kernels", "schema"},
    {"columns"},
    {"metrics", "suggestions"},
    {"base", "exchange", "words"},
    {"algorithms"},
    {"coordinates", "datasets", "registry"},
    {"blocks"},
    {"explain", "method"},
    {"problem", "risks", "variants"},
    {"experiment", "frontier", "landscape", "search", "sweeps"},
    {"release"},
    {"certificate", "distributed", "literature"},
    {"compiling", "reproduction"},
    {"__init__"},
    {"cli"},
    {"__main__"},
]
# The same for the rooms of the kernels, and what stands beside them.
ROOMS = [{"threads", "borrowing"}, {"neighbors", "bounds"}, {"grouping", "paths"}, {"bases", "local_search"}]


def ranks(layers):
    return {name: rank for rank, layer in enumerate(layers) for name in layer}


RANK, ROOM_RANK = ranks(LAYERS), ranks(ROOMS)


def imports_of(path):
    """Yield (module, name or None) for each import of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


FILES = sorted(PACKAGE.rglob("*.py"))
EVERY_FILE = pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])


def units_of(module, name):
    """Return the names below the package: of ``microagg.kernels.paths.split`` they are kernels, paths and split."""
    return [*module.split("."), name][1:] if module.split(".")[0] == "microagg" else []


@EVERY_FILE
def test_imports_point_downward(path):
    relative = path.relative_to(PACKAGE)
    own = [part.removesuffix(".py") for part in relative.parts]
    for module, name in imports_of(path):
        assert module.split(".")[0] not in {"streamlit", "plotly"}
        unit, *room = units_of(module, name) or [None]
        if unit in RANK and unit != own[0]:
            assert RANK[unit] < RANK[own[0]], f"{relative} imports {name} of {module}"
        if own[0] == "algorithms":
            assert unit != "algorithms", f"{relative} imports another algorithm: {module}"
        if unit == own[0] == "kernels" and room[0] != own[1]:
            assert ROOM_RANK[room[0]] < ROOM_RANK[own[1]], f"{relative} imports {name} of {module}"


@EVERY_FILE
def test_no_file_imports_another_ones_private_names(path):
    for module, name in imports_of(path):
        if module.split(".")[0] == "microagg" and name is not None:
            assert not name.startswith("_") or name.startswith("__"), f"{path.name} imports {name} of {module}"


def test_every_room_has_its_floor():
    rooms = {path.stem for path in PACKAGE.joinpath("kernels").iterdir() if path.name[0] != "_"}
    assert rooms == set(ROOM_RANK)


def test_every_unit_has_its_layer():
    units = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES}
    assert units == set(RANK)


def test_what_is_no_python_is_installed_too():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = declared["tool"]["setuptools"]["package-data"]
    files = [p for p in PACKAGE.rglob("*.*") if p.is_file() and "__pycache__" not in p.parts]
    for path in files:
        package = ".".join(path.parent.relative_to(ROOT).parts)
        known = path.suffix in (".py", ".md") or any(path.match(pattern) for pattern in patterns.get(package, ()))
        assert known, f"{path.relative_to(ROOT)} would not be there once microagg is installed"


@pytest.mark.parametrize("below", ["", ".release", ".metrics", ".metrics.risk", ".metrics.utility"])
def test_public_names_are_all_there(below):
    package = importlib.import_module(f"microagg{below}")
    assert set(package._HOMES) == set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    with pytest.raises(AttributeError, match=f"'microagg{below}' has no attribute 'nonsense'"):
        _ = package.nonsense


def test_import_compiles_nothing_and_loads_nothing_heavy():
    code = (
        "import sys, microagg\n"
        "assert not {'numpy', 'pandas', 'numba', 'sklearn'} & set(sys.modules)\n"
        "microagg.microaggregate, microagg.metrics, microagg.Schema, microagg.standardize\n"
        "assert not {'numba', 'sklearn', 'scipy', 'polars', 'narwhals'} & set(sys.modules)\n"
        "microagg.ALGORITHMS, microagg.microaggregate, microagg.datasets, microagg.experiment\n"
        "from microagg.kernels.neighbors import brute_force\n"
        "from microagg.kernels.grouping import moving_mean\n"
        "assert not brute_force.pool_of.signatures and not moving_mean.form_pairs.signatures\n"
        "heavy = {'streamlit', 'plotly', 'rdata', 'pooch', 'pyarrow.parquet', 'openpyxl', 'sklearn.datasets'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"
