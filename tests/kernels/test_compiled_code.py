"""The dropping of compiled code that is out of date."""

from __future__ import annotations

import os

from microagg.kernels import _drop_outdated_caches


def test_compiled_code_older_than_a_building_block_is_dropped(tmp_path):
    for name in ("kernels", "algorithms"):
        (tmp_path / name / "__pycache__").mkdir(parents=True)
    block = tmp_path / "kernels" / "pool.py"
    block.write_text("")
    old, new = (tmp_path / "algorithms" / "__pycache__" / f"{name}.nbi" for name in ("old", "new"))
    for index, age in ((old, -10), (new, 10)):
        index.write_text("")
        os.utime(index, (block.stat().st_mtime + age,) * 2)
    _drop_outdated_caches(tmp_path)
    assert not old.exists()
    assert new.exists()
