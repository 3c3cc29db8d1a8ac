"""The solver of linear and integer programs."""

from __future__ import annotations

import subprocess
import sys

from microagg.kernels.running import new_solver
from tests.conftest import ROOT


def test_it_takes_options():
    solver = new_solver(presolve="off", time_limit=7.0)
    found = {name: solver.getOptionValue(name)[1] for name in ("output_flag", "threads", "presolve", "time_limit")}
    assert found == {"output_flag": False, "threads": 1, "presolve": "off", "time_limit": 7.0}


def test_it_prints_nothing():
    # It would speak only once in a process, as soon as it is made.
    code = "from microagg.kernels.running import new_solver; s = new_solver(); s.addVar(0, 1); s.run()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
