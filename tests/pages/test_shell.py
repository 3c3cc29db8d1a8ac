"""What stands around every page."""

from __future__ import annotations

import gc
import time
import tomllib

from pages.shared import shell
from tests.conftest import ROOT


def test_garbage_is_collected_now_and_then_and_not_after_each_run(monkeypatch):
    collected = []
    monkeypatch.setattr(gc, "collect", lambda: collected.append(1))
    monkeypatch.setattr(shell, "_collected", [time.monotonic()])
    shell.collect_garbage()
    assert not collected
    monkeypatch.setattr(shell, "_collected", [time.monotonic() - 60])
    shell.collect_garbage()
    shell.collect_garbage()
    assert len(collected) == 1
    # Streamlit would do it twice a second wherever a job is watched, and all other threads would wait each time.
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False
