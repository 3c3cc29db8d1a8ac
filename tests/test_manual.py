"""The manual: what its guides show is what happens, and it is built without a warning."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from microagg.cli import cli
from tests.conftest import ROOT

MANUAL = ROOT / "docs"


@pytest.mark.parametrize("guide", ["steward", "researcher", "teacher", "programmer"])
def test_a_guide_shows_what_happens(guide, tmp_path, monkeypatch, registered_as_before):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "sample_data" / "survey.csv", "people.csv")
    text = (MANUAL / f"{guide}.md").read_text(encoding="utf-8")
    failed, tried = doctest.testfile(str(MANUAL / f"{guide}.md"), module_relative=False)
    assert failed == 0
    commands = re.findall(r"^microagg .*", text.replace("\\\n", " "), re.MULTILINE)
    for command in commands:
        done = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}\n{done.output}"
    assert tried or commands


@pytest.mark.slow
def test_it_is_built_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(MANUAL), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "microagg.optimum" in (tmp_path / "bounds.html").read_text(encoding="utf-8")
    assert "V-MDAV" in (tmp_path / "generated" / "methods.html").read_text(encoding="utf-8")
