"""The layering that the design promises, and what importing the package costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "microagg"

# Who may import whom, lowest layer first: a module imports only from layers above it in this list, or its own.
LAYERS = [
    {"errors", "progress"},
    {"validation"},
    {"partition", "taxonomy"},
    {"records"},
    {"kernels", "tables"},
    {"metrics"},
    {"base"},
    {"algorithms", "preprocessing"},
    {"datasets", "recoding", "registry", "report"},
    {"experiment", "release", "search"},
    {"literature"},
    {"__init__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def unit_of(dotted):
    """Return the first name below the package, for ``microagg.kernels.pool`` it is ``kernels``."""
    return dotted.split(".")[1] if dotted.startswith("microagg.") else None


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_imports_point_downward(path):
    relative = path.relative_to(PACKAGE)
    own = relative.parts[0].removesuffix(".py")
    for name in imports_of(path):
        assert name.split(".")[0] not in {"streamlit", "plotly"}
        unit = unit_of(name)
        if unit in RANK and unit != own:
            assert RANK[unit] < RANK[own], f"{relative} imports {name}"
        if own == "algorithms":
            assert unit != "algorithms", f"{relative} imports another algorithm: {name}"


def test_every_unit_has_its_layer():
    units = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES}
    assert units == set(RANK)


def test_public_names_are_all_there():
    import microagg

    assert set(microagg._HOMES) == set(microagg.__all__)
    for name in microagg.__all__:
        assert getattr(microagg, name) is not None
        assert name in dir(microagg)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = microagg.nonsense


def test_import_compiles_nothing_and_loads_nothing_heavy():
    code = (
        "import sys, microagg\n"
        "assert not {'numpy', 'pandas', 'numba', 'sklearn'} & set(sys.modules)\n"
        "microagg.ALGORITHMS, microagg.microaggregate, microagg.datasets, microagg.experiment\n"
        "from microagg.kernels import pool\n"
        "from microagg.kernels import mdav\n"
        "assert not pool.make_pool.signatures and not mdav.mdav_by_passes.signatures\n"
        "heavy = {'streamlit', 'plotly', 'rdata', 'pooch', 'pyarrow.parquet', 'openpyxl', 'sklearn.datasets'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_readme_lists_every_algorithm():
    from microagg import ALGORITHMS

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for key, cls in ALGORITHMS.items():
        info = cls.info
        row = f"| `{key}` | {info.title} | {info.family} | {info.sizes} | {info.complexity} | {info.reference} |"
        assert row in readme, f"README.md lacks the row: {row}"
