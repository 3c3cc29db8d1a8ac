"""A comparison small enough to check by hand: three methods on two data sets at two values of k."""

import json

import pytest

from microagg.studies.landscape import conclusions, store

SETS = """data,seed,n,d,sst,digest
census,0,4,2,8,aaa
eia,0,4,2,8,ddd
simu,0,5,2,10,bbb
simu,1,5,2,10,ccc
"""
RUNS = """data,seed,method,k,information_loss,n_groups,smallest_group,largest_group,chosen,seconds
census,0,mdav,2,20,2,2,2,,0.1
census,0,mdav,3,60,1,4,4,,0.1
census,0,mdav-star,2,10,2,2,2,,0.2
census,0,mdav-star,3,60,1,4,4,,0.2
census,0,v-mdav-best,2,12,2,2,2,0.3,0.8
census,0,k-member,2,30,2,2,2,,0.1
census,1,k-member,2,50,2,2,2,,0.3
simu,0,mdav,2,40,2,2,3,,0.1
simu,1,mdav,2,50,2,2,3,,0.1
simu,0,mdav-star,2,30,2,2,3,,0.2
simu,1,mdav-star,2,60,2,2,3,,0.2
eia,0,mdav,2,20,2,2,2,,0.1
"""
BEST = """data,seed,k,best,best_by,since,floor,floor_by,spent
census,0,2,8,search,2026-11-25,5,programs,4
census,0,3,60,mdav,2026-11-25,5,programs,4
eia,0,2,10,search,2026-11-25,0,nearest neighbors,4
simu,0,2,30,search,2026-11-25,15,programs,4
simu,1,2,50,search,2026-11-25,20,programs,4
"""
ABOUT = {"date": "2026-11-22", "left_out": [{"method": "imhm", "data": "eia", "k": 2, "bound": 20.0}], "digests": {}}


def _forget():
    for module in (store, conclusions):
        for function in vars(module).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Have the package read the tables above instead of its own."""
    (tmp_path / "sets.csv").write_text(SETS)
    (tmp_path / "runs.csv").write_text(RUNS)
    (tmp_path / "best.csv").write_text(BEST)
    (tmp_path / "about.json").write_text(json.dumps(ABOUT))
    monkeypatch.setattr(store, "_FOLDER", tmp_path)
    monkeypatch.setattr(store, "_RUNS", "runs.csv")
    _forget()
    yield
    monkeypatch.undo()
    _forget()
