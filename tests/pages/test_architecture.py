"""The layering of what the pages share, and that pages are thin."""

import ast

from pages.shared import shell
from tests.conftest import ROOT
from tests.pages.helpers import APP
from tests.test_architecture import assert_no_circle, imports_of, imports_of_all

PAGES = ROOT / "pages"
FILES = sorted(PAGES.rglob("*.py"))
SCRIPTS = sorted(PAGES.glob("*/page.py"))


def names(path):
    return str(path.relative_to(ROOT))


def needs_of(path):
    """Return the files of the pages that a file imports, as (folder, file)."""
    needs = set()
    for module, name in imports_of(path):
        parts = [*module.split("."), *([name] if name else [])]
        if parts[0] == "pages":
            needs.add((parts[1], parts[2]))
    return needs


def test_a_page_imports_what_is_shared_and_its_own():
    for path in FILES:
        others = {folder for folder, _ in needs_of(path)} - {"shared", path.relative_to(PAGES).parts[0]}
        assert not others, f"{names(path)} imports from {others}"


def test_no_circle():
    needs = {tuple(path.relative_to(PAGES).with_suffix("").parts): needs_of(path) for path in FILES}
    assert_no_circle(needs)


def test_what_one_page_needs_stands_beside_it():
    """A file in pages/shared serves two pages or more, or the router."""
    users = {path.stem: set() for path in PAGES.joinpath("shared").glob("*.py")}
    everywhere = {tuple(path.relative_to(PAGES).with_suffix("").parts): needs_of(path) for path in FILES}

    def reach(own, seen):
        for folder, stem in everywhere.get(own, ()):
            if folder == "shared" and stem not in seen:
                seen.add(stem)
                reach((folder, stem), seen)
        return seen

    for own in everywhere:
        if own[0] != "shared":
            for stem in reach(own, set()):
                users[stem].add(own[0])
    lonely = sorted(stem for stem, folders in users.items() if len(folders) < 2 and "router" not in folders)
    assert not lonely, f"each of these serves one page at most: {lonely}"


def test_no_file_is_longer_than_450_lines():
    lines = {names(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert max(lines.values()) <= 450, max(lines, key=lines.get)


def test_every_page_is_in_the_navigation():
    """There is no file directly in pages/, and the router does not stand beside a folder pages/.

    Otherwise Streamlit would answer the first visitor of a process by itself.
    """
    assert not list(PAGES.glob("*.py"))
    assert not APP.parent.joinpath("pages").exists()
    assert f'st.App("{APP.relative_to(ROOT)}", ' in ROOT.joinpath("app.py").read_text(encoding="utf-8")
    assert {path.parent.name for path in SCRIPTS} == set(shell.PAGES)
    assert {name for section in shell.SECTIONS.values() for name in section} == set(shell.PAGES)


def test_pages_are_thin():
    """A page reads choices, calls microagg and draws: its figures, jobs and kernels stand elsewhere."""
    for path, module, _ in imports_of_all(SCRIPTS):
        assert module.split(".")[0] != "plotly", names(path)
        assert ".kernels" not in module, f"{names(path)} imports {module}"
    for path in SCRIPTS:
        *_, last = ast.parse(path.read_text(encoding="utf-8")).body
        assert ast.unparse(last) == "shell.show(body)", names(path)
