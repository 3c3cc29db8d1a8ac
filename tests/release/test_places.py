"""Releases made in other places: no locale, time zone, encoding or seed of hashes changes a byte of what is written."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

#: Variables of the environment, so that each value meets several of the others.
PLACES = [
    {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONUTF8": "1"},
    {"LC_ALL": "C", "TZ": "Pacific/Auckland", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "C.UTF-8", "TZ": "America/St_Johns", "PYTHONUTF8": "0"},
]

PROGRAM = r"""
import json, locale, sys
from pathlib import Path

locale.setlocale(locale.LC_ALL, "")
import pandas as pd
import microagg
from microagg.cli import cli
from microagg.tables import WRITTEN_ENDINGS, read_table

folder = Path(sys.argv[1])
frame = read_table("people.csv", delimiter=";", decimal=",")
assert frame["Größe"].dtype == "float64"
frame["seen"] = pd.to_datetime(frame["seen"])
release = microagg.microaggregate(
    frame, k=3, method="mdav", quasi_identifiers=["Größe", "born"], dates={"born": "day"}, identifiers="İsim",
    confidential="ill", others="seen",
)
for ending in WRITTEN_ENDINGS:
    folder.joinpath(f"out{ending}").write_bytes(release.export(f"out{ending}")[0])
folder.joinpath("recipe.json").write_bytes(json.dumps(release.recipe).encode())
about = {"file": folder / "out.csv", "title": "Iıİi Größe", "prepared_by": "Łódź", "prepared_on": "2026-01-02"}
release.to_html(folder / "report.html", **about)
folder.joinpath("program.txt").write_bytes(release.script("people.csv").encode())
own = [f"--out={folder / 'cli.csv'}", f"--report={folder / 'cli.html'}", f"--recipe={folder / 'cli.json'}"]
cli.main(
    ["run", "people.csv", "--k=3", "--qi=Größe,born", "--dates=born", "--drop=İsim,seen", "--confidential=ill",
     "--json", "--read-delimiter=;", "--read-decimal=,", *own],
    standalone_mode=False,
)
"""


@pytest.mark.slow
def test_every_place_makes_the_same_bytes(tmp_path):
    ills = ("Grippe", "Übelkeit", "ışık")
    lines = [
        f"İı {i};{1500 + 37 * i % 211},{i % 7}5;{1 + i % 28:02}.{1 + i % 12:02}.{1960 + i % 9};{ills[i % 3]};"
        f"2024-03-31 {i % 3 + 1:02}:30:00"
        for i in range(36)
    ]
    tmp_path.joinpath("people.csv").write_text("\n".join(["İsim;Größe;born;ill;seen", *lines]) + "\n", encoding="utf-8")
    tmp_path.joinpath("program.py").write_text(PROGRAM, encoding="utf-8")
    left = list(enumerate(PLACES))
    while left:
        two, left = left[:2], left[2:]
        running = []
        for number, place in two:
            folder = tmp_path / str(number)
            folder.mkdir()
            env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(number)} | place
            command = [sys.executable, "-W", "error", "program.py", str(folder)]
            pipe = subprocess.PIPE
            running.append(subprocess.Popen(command, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe))
        for process in running:
            _, complaints = process.communicate(timeout=300)
            assert (process.returncode, complaints.decode()) == (0, "")
    made = [{path.name: path.read_bytes() for path in (tmp_path / str(i)).iterdir()} for i in range(len(PLACES))]
    assert len(made[0]) == 11
    for place, files in zip(PLACES, made, strict=True):
        assert [name for name in made[0] if files.get(name) != made[0][name]] == [], place
    assert "Übelkeit" in made[0]["out.csv"].decode()
    assert "Łódź" in made[0]["report.html"].decode()
