"""Sentences that users read hold none of the dialect that ``dialect.csv`` lists, each with what to say instead."""

import ast
import csv
import re

import pytest

from tests.conftest import ROOT

_WORDS = csv.DictReader((ROOT / "tests" / "dialect.csv").read_text(encoding="utf-8").splitlines())
_PATTERNS = {re.compile(row["pattern"], re.IGNORECASE): row["instead"] for row in _WORDS}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")), *sorted((ROOT / "microagg").rglob("*.py"))]
_TEXTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def sentences(path):
    """Return the texts of a program that are no docstrings, or the paragraphs of a document, each with its line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return list(enumerate(re.sub(r"`[^`]*`", "", text).splitlines(), start=1))
    nodes = list(ast.walk(ast.parse(text)))
    docstrings = {id(node.body[0].value) for node in nodes if isinstance(node, _DOCUMENTED) and is_text(node.body[0])}
    # A text without a blank is a key, such as that of a column of a table.
    return [
        (node.lineno, node.value)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()
        if id(node) not in docstrings
    ]


def is_text(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def dialect(path):
    """Return each passage of the dialect in a file, and what to say instead."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {match[0]!r}, say: {instead}"
        for line, text in sentences(path)
        for pattern, instead in _PATTERNS.items()
        if (match := pattern.search(text))
    ]


@pytest.mark.parametrize("paths", [_SOURCES, _TEXTS], ids=["programs", "texts"])
def test_sentences_are_in_the_words_of_the_field(paths):
    assert [passage for path in paths for passage in dialect(path)] == []


def test_dialect_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    program = tmp_path / "page.py"
    program.write_text(
        '"""Agree to all guesses."""\nst.button("Agree to all guesses")\nkey = "floor"\n', encoding="utf-8"
    )
    assert [passage.split(":")[1] for passage in dialect(program)] == ["2", "2"]
