"""The roles that the data sets give their columns: each column has one."""

from __future__ import annotations

from microagg import datasets
from microagg.columns.schema import ROLES
from tests.cases import for_each

BENCHMARKS = tuple(name for name in datasets.NAMES if datasets.CATALOG[name].kind == "benchmark")
LOCAL = tuple(name for name in datasets.NAMES if name not in BENCHMARKS)


def columns_with_a_role(schema):
    return [name for role in ROLES if role != "classes" for name in schema.columns(role)]


@for_each("name", LOCAL)
def test_every_column_of_a_local_set_has_a_role(name):
    data = datasets.load(name)
    assert sorted(columns_with_a_role(data.schema)) == sorted(data.frame)
    assert data.schema.confidential == (("target",) if datasets.CATALOG[name].kind == "bundled" else ())


@for_each("name", BENCHMARKS)
def test_every_column_of_a_benchmark_has_a_role(benchmark, name):
    data = benchmark(name)
    assert sorted(columns_with_a_role(data.schema)) == sorted(data.frame)
    assert data.schema.quasi_identifiers == data.quasi_identifiers


def test_schema_of_eia_leaves_the_names_of_the_utilities_out(benchmark):
    schema = benchmark("eia").schema
    assert schema.identifiers == ("UTILNAME",)
    assert schema.others == ("STATE", "YEAR", "MONTH")
    assert not schema.confidential
