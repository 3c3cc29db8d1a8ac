"""Digests of code, by which results that take long to compute are known to be those of the code as it is.

A digest covers the definitions that an algorithm reaches by name, from its class on: in its own file, in the kernels
and in ``microagg.partition``. What every algorithm shares beside them, the base class and the checks of what comes in,
decides no label and is left out, and so is how kernels are compiled. Comments, docstrings, annotations, imports and the
words of ``Info`` and ``Param`` do not count, nor does the file in which a definition stands: code can move without
outdating what is stored.
"""

from __future__ import annotations

import ast
import hashlib
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from microagg.algorithms.registry import ALGORITHMS

PACKAGE = Path(__file__).parents[1] / "microagg"

#: A definition at the top of a module: the module's name, and its own.
Definition = tuple[str, str]

# Of these modules and rooms definitions are followed, but not of the others.
_FOLLOWED = ("microagg.algorithms", "microagg.kernels", "microagg.partition", "microagg.distributed.block")
_SHARED = ("microagg.algorithms.base", "microagg.kernels.compiled")

# Decorators that decide no label.
_COMPILING = ("kernel", "borrows")

# The arguments of Param that may decide a label: name, kind, bounds and default. All of Info are words.
_COUNTED = {"Param": 4, "Info": 0}


def code_digest(keys: Iterable[str], also: Iterable[Definition] = ()) -> str:
    """Return a digest of the code that algorithms run, 16 hexadecimal digits.

    Parameters
    ----------
    keys : iterable of str
        Keys of :data:`microagg.ALGORITHMS`. An algorithm that starts from another one has that at its default, too.
    also : iterable of (module, name)
        What else is run.

    Raises
    ------
    KeyError
        If there is no such algorithm, or no such definition.
    """
    waiting, classes = list(keys), {}
    while waiting:
        key = waiting.pop()
        cls = ALGORITHMS[key]
        if key not in classes:
            classes[key] = (cls.__module__, cls.__name__)
            waiting += [param.default for param in cls.params if param.kind == "algorithm"]
    todo: list[Definition] = [*classes.values(), *also]
    texts: dict[Definition, str] = {}
    while todo:
        definition = todo.pop()
        if definition not in texts:
            texts[definition], others = _text_and_names(definition)
            todo += others
    return hashlib.sha256("\n".join(sorted(texts.values())).encode()).hexdigest()[:16]


@cache
def _text_and_names(definition: Definition) -> tuple[str, tuple[Definition, ...]]:
    """Return the code of a definition without words, and the definitions that it names."""
    module = _module(definition[0])
    statements = module.definitions[definition[1]]
    imported = module.imported | _imports(statements, definition[0])
    tree = _without_words(ast.parse("\n".join(map(ast.unparse, statements))))
    others = []
    for node in ast.walk(tree):  # such as ``brute_force.pool_of``, where a module was imported
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            others.append((".".join(imported[node.value.id]), node.attr))
            node.value = ast.Name("_")  # a module may have another name tomorrow
    text = ast.unparse(tree)
    names = set(_global_names(symtable.symtable(text, definition[0], "exec")))
    others += [(definition[0], name) for name in names & set(module.definitions) if name != definition[1]]
    others += [imported[name] for name in names & set(imported)]
    return text, tuple({defined for other in others if (defined := _where_defined(other))})


def _where_defined(definition: Definition) -> Definition | None:
    """Return a definition of the code that is followed as the module has it that defines it, else None."""
    name, attribute = definition
    if not name.startswith(_FOLLOWED) or name.startswith(_SHARED) or not (module := _module(name)):
        return None
    if attribute in module.definitions:
        return definition
    return _where_defined(module.imported[attribute]) if attribute in module.imported else None


@dataclass(frozen=True)
class _Module:
    """What stands at the top of a module: its definitions, and where the names come from that it imports."""

    definitions: dict[str, list[ast.stmt]]
    imported: dict[str, Definition]

    def __bool__(self) -> bool:
        return bool(self.definitions or self.imported)


@cache
def _module(name: str) -> _Module:
    """Return a module of the package; an empty one if there is none."""
    path = PACKAGE.joinpath(*name.split(".")[1:])
    # A folder may be left over that holds nothing but what was compiled.
    path = path / "__init__.py" if (path / "__init__.py").is_file() else path.with_suffix(".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    definitions: dict[str, list[ast.stmt]] = {}
    for statement in body:
        for defined in _defined_by(statement):
            definitions.setdefault(defined, []).append(statement)
    return _Module(definitions, _imports(body, name))


def _defined_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
        stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        yield from {node.id for node in stored if isinstance(node.ctx, ast.Store)}


def _imports(statements: list[ast.stmt], module: str) -> dict[str, Definition]:
    """Return where the names come from that statements import, functions' own imports among them."""
    nodes = [node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 0 for node in nodes), f"{module} has a relative import"
    return {alias.asname or alias.name: (str(node.module), alias.name) for node in nodes for alias in node.names}


def _without_words(tree: ast.Module) -> ast.Module:
    """Return code without docstrings, imports, annotations and the words of Info and Param."""
    for node in ast.walk(tree):
        for body in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
            if isinstance(body, list) and body:
                body[:] = [part for part in body if not _is_import_or_text(part)] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            node.decorator_list = [each for each in node.decorator_list if getattr(each, "id", "") not in _COMPILING]
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.Call) and (name := getattr(node.func, "id", "")) in _COUNTED:
            node.args, node.keywords = node.args[: _COUNTED[name]], []
    return tree


def _is_import_or_text(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return isinstance(statement.value.value, str)
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names that code looks up outside of its functions and classes."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _global_names(inner)
