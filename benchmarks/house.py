"""The house: its rooms and floors, read from the code, and the picture of it in CONTRIBUTING.

    python benchmarks/house.py    # draws the picture anew

A room is a folder of ``microagg/``, or a file directly in it; it stands one floor above the highest room from which it
imports. Of the arrows the picture has those that no longer way implies.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- rooms: python benchmarks/house.py -->", "<!-- end of rooms -->"


def imports_of(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield (module, name or None) for each import of a file; imports by a name in a string are among them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {"import_module", "__import__"}:
            yield from ((argument.value, None) for argument in node.args[:1] if isinstance(argument, ast.Constant))


def files() -> list[Path]:
    """Return all files of the package and the pages."""
    return [*sorted(ROOT.joinpath("microagg").rglob("*.py")), *sorted(ROOT.joinpath("pages").rglob("*.py"))]


def room_of(path: Path) -> str:
    """Return the room of a file: pages, or the first part of its path below the package."""
    first, second, *_ = path.relative_to(ROOT).parts
    return first if first == "pages" else second.removesuffix(".py")


def arrows() -> dict[str, set[str]]:
    """Return from which rooms each imports, without those of the face (``__init__``), which all may show."""
    rooms = {room_of(path) for path in files()} - {"__init__", "__main__"}
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for path in files():
        if (own := room_of(path)) in rooms:
            for module, name in imports_of(path):
                top, *parts = [*module.split("."), *([name] if name else [])]
                if top == "microagg" and parts and parts[0] in rooms - {own}:
                    found[own].add(parts[0])
    return found


def floors(needs: dict[str, set[str]]) -> dict[str, int]:
    """Return the floor of each room, 1 for those that import from no other; raises RecursionError in a circle."""

    def floor(room: str) -> int:
        return 1 + max((floor(other) for other in needs[room]), default=0)

    return {room: floor(room) for room in needs}


def picture() -> str:
    """Return the rooms as a diagram of Mermaid, which pages of Markdown draw."""
    needs = arrows()
    ground = {room for room in needs if ROOT.joinpath("microagg", f"{room}.py").is_file()} - {"api"}
    needs = {room: others - ground for room, others in needs.items() if room not in ground}

    def reach(room: str) -> set[str]:
        return needs[room].union(*map(reach, needs[room]))

    lines = ["```mermaid", "flowchart TD"]
    for room in sorted(needs, key=lambda name: (-floors(needs)[name], name)):
        direct = needs[room] - set().union(*map(reach, needs[room]))
        lines += [f"  {room} --> {other}" for other in sorted(direct)] or [f"  {room}"]
    return "\n".join([*lines, "```"])


def drawn() -> str:
    """Return the text of CONTRIBUTING with the picture as it is now."""
    text = PICTURE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{picture()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
