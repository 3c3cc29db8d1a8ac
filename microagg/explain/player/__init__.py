"""The player: explained runs as pictures that can be stepped through in a browser.

:func:`scene` says all that is drawn, as plain data; ``player.js`` and ``player.css`` draw it, on a page of its own that
plays in any browser and loads nothing from elsewhere (:func:`page`, :func:`animation`), or within another one, which
then sends :func:`script` and :func:`style` to the browser.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from numpy.typing import ArrayLike

from microagg.algorithms.registry import algorithm
from microagg.explain import EXPLAINED, pseudo_code, steps
from microagg.explain.player.scene import Watched, records, scene
from microagg.explain.run import make_run

__all__ = ["Watched", "animation", "page", "records", "scene", "script", "style"]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; max-width: 90rem; padding: 1rem; font-family: system-ui, sans-serif; background: #fff; color: #17212b; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #10161d; color: #e8edf2; }} }}
h1 {{ font-size: 1.5rem; margin: 0 0 0.75rem; }}
{style}
</style>
</head>
<body>
<h1>{title}</h1>
<div id="player"></div>
<noscript>This page draws with JavaScript: allow it to see the steps.</noscript>
<script type="application/json" id="scene">{scene}</script>
<script type="module">
{script}
mount(document.getElementById("player"), JSON.parse(document.getElementById("scene").textContent));
</script>
</body>
</html>
"""  # noqa: E501


def script() -> str:
    """Return the player's ES module: ``mount(root, scene, {onTick, at})``, and a Streamlit component as its default."""
    return "\n".join(_read(name) for name in ("picture.js", "account.js", "player.js"))


def style() -> str:
    """Return the player's style sheet; each rule is of ``.mg-steps`` alone."""
    return _read("player.css")


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(drawn: Mapping[str, Any], title: str) -> str:
    """Return one self-contained HTML page that plays what :func:`scene` returns."""
    # Within a script element only "<" can end it, whatever the names are.
    data = json.dumps(drawn, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return _PAGE.format(title=html.escape(title), style=style(), script=script(), scene=data)


def animation(
    keys: str | Sequence[str],
    X: ArrayLike,
    *,
    k: int = 3,
    names: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    optimum: ArrayLike | None = None,
    **params: Any,
) -> str:
    """Return a self-contained HTML page that plays one algorithm, or two beside each other.

    Parameters
    ----------
    keys : str or two of them
        Algorithms of :data:`microagg.explain.EXPLAINED`.
    X, k, names, attributes
        As for :func:`microagg.explain.steps`.
    optimum : array-like of int, shape (n,), optional
        The group of each record in the best partition that is possible, drawn beside the runs.
    **params
        Parameters of the algorithms; each gets those that it has.

    Raises
    ------
    DataError, ParameterError
        As :func:`microagg.explain.steps` and :func:`scene` do.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = Path("mdav-star.html")
    >>> file.write_text(animation("mdav-star", [[1], [2], [3], [5], [6], [19]]), encoding="utf-8")  # doctest: +SKIP
    """
    keys = [keys] if isinstance(keys, str) else list(keys)
    unknown = dict(params)
    runs = []
    for key in keys:
        accepted = {param.name for param in algorithm(key).params} if key in EXPLAINED else set(params)
        # What none of them has is refused by the last, in its own words.
        unknown = {name: each for name, each in unknown.items() if name not in accepted}
        chosen = {name: each for name, each in params.items() if name in accepted}
        chosen |= unknown if key == keys[-1] else {}
        shown = list(steps(key, X, k=k, names=names, attributes=attributes, **chosen))
        settings = ", ".join(f"{name} = {each}" for name, each in chosen.items())
        runs.append(Watched(algorithm(key).info.title, settings, pseudo_code(key), shown))
    # What the texts call the records, the pictures do, too.
    run = make_run(X, k, names)
    matrix, names = run.X, run.names
    if attributes is None:
        attributes = ["value"] if matrix.shape[1] == 1 else [f"attribute {j + 1}" for j in range(matrix.shape[1])]
    drawn = scene(matrix, k, runs, names=names, attributes=attributes, optimum=optimum)
    return page(drawn, " beside ".join(each.title for each in runs) + ", step by step")
