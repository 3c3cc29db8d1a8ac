"""The manual: ``python -m sphinx -W docs manual``, with ``sphinx``, ``myst-parser`` and ``furo`` installed.

Methods, the list of names and the bibliography are written from the package as it is.
"""

import importlib
import re
import sys
from itertools import groupby
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import microagg  # noqa: E402
from microagg.studies import bibliography  # noqa: E402

project, author, release = "microagg", "the microagg developers", microagg.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme, html_title = "furo", "microagg"
html_show_sourcelink = html_show_copyright = False
napoleon_use_ivar = True
napoleon_use_param = napoleon_use_rtype = False  # types are words, such as "array of float, shape (n, d)"
autodoc_typehints = "none"

PACKAGES = ("", "metrics", "metrics.risk", "metrics.utility", "optimum", "optimum.bounds", "optimum.certificate")
PACKAGES += ("datasets", "explain", "columns", "tables", "release", "studies.experiment", "studies.landscape")


def _heading(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _methods() -> str:
    """Return the page of all algorithms, family by family and file by file."""
    text, seen = _heading("Methods"), set()
    families = [cls.info.family for cls in microagg.ALGORITHMS.values()]
    classes = sorted(microagg.ALGORITHMS.values(), key=lambda cls: (families.index(cls.info.family), cls.__module__))
    for family, members in groupby(classes, key=lambda cls: cls.info.family):
        text += _heading(family, "-")
        for module, own in groupby(members, key=lambda cls: cls.__module__):
            listed = list(own)
            text += _heading(", ".join(cls.info.title for cls in listed), "~")
            text += "" if module in seen else f".. automodule:: {module}\n\n"
            seen.add(module)
            text += "".join(f".. autoclass:: {module}.{cls.__name__}\n\n" for cls in listed)
    return text


def _api() -> str:
    """Return the page of all public names, each under the first package that has it."""
    text, seen = _heading("Names"), set()
    for below in PACKAGES:
        name = f"microagg.{below}".rstrip(".")
        package = importlib.import_module(name)
        text += _heading(name, "-") + f".. automodule:: {name}\n\n"
        own = [
            each for each, what in vars(package).items() if getattr(what, "__module__", "") == name and each[0] != "_"
        ]
        for each in sorted(getattr(package, "__all__", own)):
            what = getattr(package, each)
            kind = "class" if isinstance(what, type) else "function" if callable(what) else ""
            if kind and what not in seen and getattr(what, "__module__", "").startswith("microagg"):
                seen.add(what)
                text += f".. auto{kind}:: {name}.{each}\n" + ("   :members:\n" if kind == "class" else "") + "\n"
    return text


def _bibliography() -> str:
    """Return the page of all works."""
    text = _heading("Bibliography")
    for work in bibliography.works():
        text += f"- {work.text()}{f' {work.note}' if work.note else ''}\n"
    return text


def _write(app: object) -> None:
    folder = Path(__file__).parent / "generated"
    folder.mkdir(exist_ok=True)
    for name, text in (("methods", _methods()), ("api", _api()), ("bibliography", _bibliography())):
        folder.joinpath(f"{name}.rst").write_text(text, encoding="utf-8")


def _as_it_stands(app: object, what: str, name: str, of: object, options: object, lines: list[str]) -> None:
    """Keep the lines of formulas, and |x - y| and types in words from being taken for names of something."""
    types = dict(re.findall(r"^:vartype (\S+): (.*)", "\n".join(lines), re.MULTILINE))
    written, formula, above = [], False, ""
    for line in (each for each in lines if not each.startswith(":vartype ")):
        if found := re.match(r":ivar (\S+):", line):
            line = (
                f"{found[0]} *{types.get(found[1], '')}*." + line.removeprefix(found[0]) if found[1] in types else line
            )
        is_deep = line.startswith("    ")
        if what == "module" and is_deep and not formula and above and not above.startswith((" ", "- ", ">>>")):
            formula = not above[0].isdigit()
            written += ["::", ""] if formula else []
        formula = formula and (is_deep or not line)
        parts = [line] if formula else re.split("(``[^`]*``)", line)
        written.append("".join(part if formula or part[:2] == "``" else part.replace("|", r"\|") for part in parts))
        above = line or above
    lines[:] = written


def setup(app: Sphinx) -> None:
    """Have the pages written before any is read."""
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-docstring", _as_it_stands)
