"""Files that commands write: checked before the work begins, and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from microagg.errors import DataError, ParameterError


def check_targets(targets: Iterable[str | None], sources: Iterable[str | None] = (), *, force: bool) -> None:
    """Raise :class:`ParameterError` or :class:`DataError` if one of ``targets`` could not be, or must not be, written.

    Those that are None are not asked for. A file is overwritten only with ``force``, and one of ``sources`` never.
    """
    taken = {Path(source).resolve(): source for source in sources if source is not None}
    for target in targets:
        if target is None:
            continue
        path = Path(target).resolve()
        if path in taken:
            raise ParameterError(
                f"{target!r} is named twice: a file cannot be written over one that is read or written."
            )
        taken[path] = target
        if path.is_dir():
            raise ParameterError(f"{target!r} is a folder: name a file in it.")
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {str(Path(target).parent)!r}: make it, or choose another one.")
        if path.exists() and not path.is_file():
            raise ParameterError(f"{target!r} is no ordinary file: choose another name.")
        if path.exists() and not force:
            raise ParameterError(f"the file {target!r} is there already: choose another name, or add --force.")


def write_files(files: Mapping[str, bytes]) -> None:
    """Write all ``files``, each by its path, or none: each stands beside its place until all of them are whole.

    Raises
    ------
    DataError
        If one cannot be written.
    """
    beside: dict[Path, Path] = {}
    target = ""
    try:
        for target, data in files.items():
            path = Path(target).resolve()
            beside[path] = path.with_name(f".{path.name}.{os.getpid()}.part")
            with beside[path].open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        for path, part in beside.items():
            part.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(f"the file {target!r} cannot be written ({reason}): choose another place.") from None
    finally:
        for part in beside.values():
            part.unlink(missing_ok=True)
