"""What commands print on stdout for scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from microagg.validation import plain


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(plain(dict(value)), indent=2, ensure_ascii=False))
