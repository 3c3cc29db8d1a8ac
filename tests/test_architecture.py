"""The layering that the design promises, and what importing the package costs."""

import importlib
import re
import subprocess
import sys
import zipfile
from functools import cache

import pytest

from benchmarks import tables
from tests.cases import for_each
from tests.conftest import ROOT

PACKAGE = ROOT / "microagg"

# The rooms from the ground up: a file imports only from those before its own in this list, or from its own.
ROOMS = [
    *("errors", "progress", "validation", "partition"),
    *("tables", "columns", "kernels", "algorithms", "metrics", "optimum", "datasets", "studies", "explain"),
    *("release", "distributed", "api", "__init__", "cli", "__main__"),
]
RANK = {name: rank for rank, name in enumerate(ROOMS)}

# The same within the kernels.
KERNELS = ["cache", "compiled", "running", "neighbors", "mixed", "bounds", "grouping", "paths", "bases", "local_search"]
KERNEL_RANK = {name: rank for rank, name in enumerate([*KERNELS, "__init__"])}

# What stands in the room of the algorithms and is none.
NO_ALGORITHMS = {"base", "method", "registry", "__init__"}


@cache
def imports_of(path):
    """Return (module, name or None) for each import of a file; imports by a name in a string are among them."""
    return list(tables.imports_of(path))


def imports_of_all(files):
    """Return (path, module, name or None) for each import of the files."""
    return [(path, module, name) for path in files for module, name in imports_of(path)]


FILES = sorted(PACKAGE.rglob("*.py"))


def units_of(module, name):
    """Return the names below the package: of ``microagg.kernels.paths`` they are kernels and paths."""
    parts = module.split(".")
    if parts[0] != "microagg":
        return []
    if parts == ["microagg"] and name not in RANK:
        return [] if name == "__version__" else ["__init__"]  # it stands there before anything is loaded
    return [*parts, *([name] if name else [])][1:]


def test_imports_point_downward():
    for path, module, name in imports_of_all(FILES):
        relative = path.relative_to(PACKAGE)
        own = [part.removesuffix(".py") for part in relative.parts]
        assert module.split(".")[0] not in {"streamlit", "plotly"}, f"{relative} imports {module}"
        unit, *inner = units_of(module, name) or [None]
        if unit in RANK and unit != own[0]:
            assert RANK[unit] < RANK[own[0]], f"{relative} imports {name} of {module}"
        if unit == own[0] == "algorithms" and own[1] not in NO_ALGORITHMS:
            assert inner[0] in NO_ALGORITHMS, f"{relative} imports another algorithm: {module}"
        if unit == own[0] == "kernels" and inner[0] != own[1]:
            assert KERNEL_RANK[inner[0]] < KERNEL_RANK[own[1]], f"{relative} imports {name} of {module}"


def test_no_files_import_each_other_in_a_circle():
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}
    needs = {}
    for own, path in names.items():
        wanted = {f"{module}.{name}" if f"{module}.{name}" in names else module for module, name in imports_of(path)}
        needs[own] = wanted & set(names) - {own}
    assert_no_circle(needs)


def assert_no_circle(needs):
    while free := {own for own, others in needs.items() if not others & set(needs)}:
        needs = {own: others for own, others in needs.items() if own not in free}
    assert not needs, f"these files import each other in a circle, or what does: {sorted(needs)}"


@for_each("folder", ["microagg", "pages"])
def test_no_file_imports_another_ones_private_names(folder):
    for path, module, name in imports_of_all(sorted(ROOT.joinpath(folder).rglob("*.py"))):
        if module.split(".")[0] in {"microagg", "pages"}:
            assert not re.search(r"(^|\.)_(?!_)", f"{module}.{name or ''}"), f"{path} imports {name} of {module}"


def test_every_room_has_its_floor():
    assert {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES} == set(RANK)
    inside = PACKAGE.joinpath("kernels").iterdir()
    assert {path.stem for path in inside if path.name[0] != "_"} == set(KERNELS)


def test_the_picture_of_the_rooms_is_that_of_their_imports():
    text = ROOT.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    assert text == tables.filled(text), "draw it anew: python benchmarks/tables.py"
    rooms = [name for name in ROOMS if PACKAGE.joinpath(name).is_dir()]
    listed = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `") and "/`" not in line[:20]]
    assert listed == rooms


def test_the_house_can_be_counted():
    """Ground files, rooms and lines are a cost: what these bounds hold back is to be taken out elsewhere."""
    rooms = {path.relative_to(PACKAGE).parts[0] for path in FILES if len(path.relative_to(PACKAGE).parts) > 1}
    assert len(rooms) <= 14
    assert len(list(PACKAGE.glob("*.py"))) <= 8


def test_a_wheel_has_all_of_the_package_and_of_the_dashboard(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    places = [("microagg", "microagg"), ("pages", "microagg/_dashboard/pages")]
    places += [("sample_data/taxonomies", "microagg/datasets/taxonomies")]
    files = {f"{at}/{path.relative_to(ROOT / of)}" for of, at in places for path in (ROOT / of).rglob("*.*")}
    needed = {name for name in files if "__pycache__" not in name} | {"microagg/_dashboard/.streamlit/config.toml"}
    assert needed - names == set()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"microagg"}


@for_each("below", ["", ".release", ".metrics", ".metrics.risk", ".metrics.utility", ".optimum", ".studies"])
def test_public_names_are_all_there(below):
    package = importlib.import_module(f"microagg{below}")
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    with pytest.raises(AttributeError, match=f"No microagg{below} attribute nonsense"):
        _ = package.nonsense


def test_import_compiles_nothing_and_loads_nothing_heavy():
    code = (
        "import sys, microagg\n"
        "assert not {'numpy', 'pandas', 'numba', 'sklearn'} & set(sys.modules)\n"
        "microagg.microaggregate, microagg.metrics.utility, microagg.Schema, microagg.standardize\n"
        "assert not {'numba', 'sklearn', 'scipy', 'polars', 'narwhals'} & set(sys.modules)\n"
        "microagg.ALGORITHMS, microagg.microaggregate, microagg.datasets, microagg.tables, microagg.experiment\n"
        "from microagg.kernels.neighbors import brute_force\n"
        "from microagg.kernels.grouping import moving_mean\n"
        "assert not brute_force.pool_of.signatures and not moving_mean._form_by_passes.signatures\n"
        "heavy = {'streamlit', 'plotly', 'rdata', 'pooch', 'requests', 'pyarrow.parquet', 'openpyxl'}\n"
        "heavy.add('sklearn.datasets')\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"
