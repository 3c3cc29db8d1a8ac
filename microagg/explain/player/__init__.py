"""The player: explained runs as pictures that can be stepped through in a browser.

:func:`scene` says all that is drawn, as plain data; ``player.js`` and ``player.css`` draw it, on a page of its own
(:func:`page`) or within another one, which then sends :func:`script` and :func:`style` to the browser.
"""

from microagg.explain.player.html import animation, page, script, style
from microagg.explain.player.scene import Watched, records, scene

__all__ = ["Watched", "animation", "page", "records", "scene", "script", "style"]
