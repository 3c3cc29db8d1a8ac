"""The layering of what the pages share, and that pages are thin."""

from __future__ import annotations

import ast

import pytest

from pages.ui import navigation
from tests.conftest import ROOT
from tests.test_architecture import imports_of

PAGES = ROOT / "pages"
UI = PAGES / "ui"

# Who may import whom, lowest first: a file or room imports only from those above it in this list, or its own room.
LAYERS = [
    {"navigation", "text"},
    {"state"},
    {"shell", "widgets"},
    {"charts"},
    {"data"},
    {"chosen", "runs"},
    {"published", "steps"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

SHARED = sorted(UI.rglob("*.py"))
SCRIPTS = sorted(PAGES.glob("*.py"))


def names(path):
    return str(path.relative_to(ROOT))


def units_of(path):
    """Yield (what is below pages.ui, the name imported from it) for each import of the pages' own files."""
    for module, name in imports_of(path):
        parts = [*module.split("."), *([name] if name else [])]
        if parts[0] == "pages":
            assert parts[1] == "ui", f"{names(path)} imports the page {module}"
            yield parts[2], name


@pytest.mark.parametrize("path", SHARED, ids=names)
def test_imports_point_downward(path):
    own = path.relative_to(UI).parts[0].removesuffix(".py")
    for unit, name in units_of(path):
        assert unit == own or RANK[unit] < RANK[own], f"{names(path)} imports {name} of {unit}"


def test_no_circle_within_a_room():
    for room in (path for path in UI.iterdir() if path.joinpath("__init__.py").is_file()):
        inside = {path.stem: path for path in room.glob("*.py")}
        needs = {
            stem: {
                part
                for module, name in imports_of(path)
                if module.startswith(f"pages.ui.{room.name}")
                for part in [*module.split("."), name][3:4]
            }
            for stem, path in inside.items()
        }
        while free := {stem for stem, others in needs.items() if not others & set(needs)}:
            needs = {stem: others for stem, others in needs.items() if stem not in free}
        assert not needs, f"files of {room.name} import each other in a circle: {sorted(needs)}"


@pytest.mark.parametrize("path", [*SHARED, *SCRIPTS], ids=names)
def test_no_file_imports_another_ones_private_names(path):
    for module, name in imports_of(path):
        if module.split(".")[0] in {"pages", "microagg"}:
            parts = [*module.split("."), name or ""]
            assert not [part for part in parts if part.startswith("_") and part != "__future__"], f"{module}: {name}"


@pytest.mark.parametrize("path", [*SHARED, *SCRIPTS], ids=names)
def test_no_file_is_longer_than_500_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def test_every_file_and_room_has_its_layer():
    units = {path.relative_to(UI).parts[0].removesuffix(".py") for path in SHARED} - {"__init__"}
    assert units == set(RANK)


def test_every_page_is_in_the_navigation():
    assert {names(path) for path in SCRIPTS} == {path for path, _ in navigation.PAGES.values()}


@pytest.mark.parametrize("path", SCRIPTS, ids=names)
def test_pages_are_thin(path):
    """A page reads choices, calls microagg and draws: its figures, jobs and kernels stand elsewhere."""
    modules = {module for module, _ in imports_of(path)}
    assert not {module for module in modules if module.split(".")[0] == "plotly" or ".kernels" in module}
    *_, last = ast.parse(path.read_text(encoding="utf-8")).body
    assert ast.unparse(last) == "shell.show(body)"
