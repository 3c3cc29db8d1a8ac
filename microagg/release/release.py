"""A release: the protected file, its groups, its report, and the recipe that makes it again.

``recoding`` replaces the values of each group by its centroid.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.columns import dates
from microagg.columns.numerals import COMMA
from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.partition import Partition
from microagg.release import recipe as recipes
from microagg.release.export_check import check_export
from microagg.release.findings import Finding
from microagg.release.guarantees import order_of
from microagg.release.prepare import Prepared
from microagg.release.recoding import with_ends
from microagg.release.report.report import Report
from microagg.tables import Notice, Reading, notice_lines
from microagg.tables.original import has_codes, write_like
from microagg.tables.stata_spss import left_out
from microagg.tables.writing import columns_with_formulas, written, written_ending
from microagg.validation import counted, quoted

if TYPE_CHECKING:
    from microagg.release.assessment import Assessment
    from microagg.release.source import Source


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected file with its report.

    Attributes
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        The protected file, of the kind that was given, with the n records released.
    partition : Partition
        The groups of the released records, in their order.
    report : Report
    recipe : dict
        What :func:`microagg.replay` needs, besides the original file, to reproduce the release; JSON can hold it. It
        has digests of the original values, so it belongs with the original, not with the release.
    """

    frame: Any
    partition: Partition
    report: Report
    recipe: dict[str, Any]
    _released: pd.DataFrame
    _prepared: Prepared | None = None

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling and copying, without the original file: it must not go where the release goes."""
        return self.__dict__ | {"_prepared": None}

    def to_pandas(self) -> pd.DataFrame:
        """The protected file as a DataFrame of pandas, from which files are written, not a copy.

        See :func:`microagg.tables.frames.as_pandas` for types that pandas does not have.
        """
        return self._released

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The results of all checks, accepted ones last: see :func:`microagg.release.checks.find`."""
        return (*self.report.findings, *self.report.in_spite)

    def accept(self, *codes: str, reason: str) -> Self:
        """The same release with a report that states that it is released in spite of some findings.

        Parameters
        ----------
        *codes : str
            The codes of these findings. Findings of level "ok" need no acceptance.
        reason : str
            The reason for the report; it is added to earlier reasons.

        Raises
        ------
        ParameterError
            If there is no reason or no code, or a code belongs to no stop or warning.
        """
        return replace(self, report=self.report.accept(*codes, reason=reason))

    def originals(self) -> pd.DataFrame:
        """The original records, missing values filled, in the order of the release, not a copy.

        Raises
        ------
        DataError
            If the release was pickled or copied, so that the originals are not at hand.
        """
        prepared = self.at_hand()
        return prepared.source.originals(prepared.order)

    def export(self, name: str, like: Reading | None = None) -> tuple[bytes, Finding]:
        """Write the protected file as bytes, and check these bytes.

        Parameters
        ----------
        name : str
            The name of the file, whose ending sets its kind: see :func:`microagg.tables.write_table`.
        like : Reading, optional
            The original, read by :func:`microagg.tables.read_file`. A file of its kind is written in the same way: its
            other columns to the byte, numbers and dates in its notation.

        Returns
        -------
        bytes, Finding
            The finding is that of :func:`microagg.release.check_export`: "stop" if the file must not be released. It
            is "warn" if labels were cut, and it names their columns (:mod:`microagg.tables.limits`).

        Raises
        ------
        DataError, ParameterError
            As :func:`microagg.tables.write_table`; or with ``like``, if the release was pickled or copied.
        """
        names, identifiers, strata = (tuple(self.recipe[role]) for role in ("quasi_identifiers", "identifiers", "by"))
        frame = self._released
        parents: dict[Hashable, Hashable] = {}
        if self.recipe["statistic"] == "generalize" and self.recipe.get("ranges", "text") != "text":
            chosen = recipes.choices(self.recipe)
            ranged = [name for name in names if name not in chosen["taxonomies"] and name not in chosen["ordinal"]]
            frame, ends = with_ends(frame, ranged, chosen["ranges"], rounds=chosen["rounding"] == "file")
            parents = {end: name for name, names in ends.items() for end in names}
            names = tuple(end for name in names for end in ends.get(name, [name]))
        schema = Schema(names, identifiers=identifiers, strata=strata)
        # Not those of identifiers, which are left out.
        guaranteed = [each for each in self.report.guaranteed if each.column in self._released.columns]
        check = partial(
            check_export,
            name=name,
            schema=schema,
            k=self.report.k,
            guarantees=[(each.column, each.rule, each.requested) for each in guaranteed],
            orders={each.column: order_of(self._released[each.column]) for each in guaranteed},
            meanings=dict(self.recipe.get("meanings") or ()),
            released=frame,
        )
        # Recipes of before write what they wrote.
        is_new, origin = self.recipe.get("written") == "original", like.source.name if like and like.source else ""
        is_like = recipes.is_like(self.recipe, name, origin) or (is_new and has_codes(name, origin))
        if like is None or not is_like:
            file = written(frame, name)
            notices = file.notices if like is None else (*file.notices, *left_out(frame, name, like))
            return file.data, _with_notices(check(file.data, renamed=file.renamed, reading=file.reading), notices)
        prepared = self.at_hand()
        schema = prepared.source.schema
        numeric = [attribute.name for attribute in schema.attributes if attribute.kind == "numeric"]
        numeric += [*([] if schema.weights is None else [schema.weights]), *parents]
        changed = [*schema.quasi_identifiers, *numeric]
        measured = {column: _marks(prepared.source, parents.get(column, column)) for column in numeric}
        rows = prepared.source.rows(prepared.order)
        file = write_like(frame, name, like, rows, changed, strata, measured, parents)
        filled = [notice.column for notice in file.notices if notice.code == "kinds-left-out"]
        checked = check(file.data, renamed=file.renamed, reading=file.reading, measured=measured, filled=filled)
        finding = _with_notices(checked, file.notices)
        formulas = columns_with_formulas(self._released) if written_ending(name) == ".csv" else []
        if formulas and finding.level == "ok":
            text = f"As in the original, cells of {quoted(formulas)} are formulas to a spreadsheet that opens the file"
            advice = "choose .xlsx, which keeps them as text."
            finding = replace(finding, level="warn", columns=tuple(formulas), text=f"{finding.text} {text}: {advice}")
        return file.data, finding

    def assess(self) -> Assessment:
        """Measure the disclosure risk and the utility of the release.

        Risks: records that are unique before and after; records that are linked by distance, for at most 20,000
        records; released values near their originals; and attribute disclosure of each confidential column. Utility:
        changes of variances, correlations and distributions, and how well a model tells released records from
        originals. Each figure has its source; see :mod:`microagg.metrics.risk` and :mod:`microagg.metrics.utility`.

        Raises
        ------
        DataError
            If the release was pickled or copied, so that the originals are not at hand.
        """
        from microagg.release.assessment import assess  # which needs scikit-learn and SciPy

        return assess(self.at_hand(), self._released, self.report)

    def at_hand(self) -> Prepared:
        """The data and choices behind the release.

        Raises
        ------
        DataError
            If the release was pickled or copied, so that the originals are not at hand.
        """
        if self._prepared is None:
            raise DataError(
                "this release was copied or loaded, and the original is not kept with it: make it again by "
                "microagg.replay(frame, release.recipe), and assess that."
            )
        return self._prepared

    def to_dict(self, **about: Any) -> dict[str, Any]:
        """Contents of the report of :meth:`to_html`, for JSON.

        Parameters
        ----------
        **about
            Arguments of :meth:`to_html`, without the path.

        Returns
        -------
        dict of str to Any
            Figures have four digits, those of the steward's report all digits.

        Raises
        ------
        DataError, ParameterError
            As :meth:`to_html`; or if ``assessment`` is no Assessment.
        """
        from microagg.release.report.contents import contents  # which needs scikit-learn and Numba, for the methods

        if about.get("assessment") is None and self._prepared is not None:
            about["assessment"] = self.assess()
        return contents(self, **about)

    def to_html(self, path: str | os.PathLike[str], **about: Any) -> None:
        """Write the report that a data protection officer signs: one HTML file that needs no network and no script.

        It has no value of the original file that the release does not have, and no figures from which one follows, see
        :func:`microagg.metrics.risk.dominated`; it names the figures that it withholds. So it can be passed on with the
        release. The same arguments give the same bytes.

        Parameters
        ----------
        path : path
        assessment : Assessment, optional
            The result of :meth:`assess`; by default it is called, if the original is at hand.
        comparison : DataFrame, optional
            A row for each release that was compared: ``title`` of the method, ``k``, ``information_loss`` in percent;
            optional are ``floor``, the lower bound of the loss at that k in percent, and ``n_records``, the size of a
            sample. The row with True in ``chosen`` is this release; without
            that column, the one of its method and k.
        file : path or bytes, optional
            The released file, whose SHA-256 the report has.
        file_name : str, optional
            Its name; by default the name in ``file``.
        title, prepared_by, prepared_on : str, optional
            The head of the report. Without a date there is a line for it.
        origin : mapping, optional
            The source of the original, as arguments of :meth:`script`.
        read : sequence of str, optional
            The repairs and omissions when the original was read, in sentences without values: the texts of
            :attr:`microagg.tables.Reading.done`.
        labels : mapping, optional
            The labels of columns by their names: :attr:`microagg.tables.Reading.variable_labels`.
        for_steward : bool
            Whether to make the steward's report, which withholds nothing and must not be passed on.

        Raises
        ------
        DataError
            If ``file`` cannot be read, ``path`` cannot be written, ``comparison`` is no such table, or Jinja2 is
            not installed.
        """
        from microagg.release.report.html import document  # which needs Jinja2

        write_text(path, document(self.to_dict(**about)))

    def __repr__(self) -> str:
        report, method = self.report, self.recipe["method"]
        origin = f"by {method}"
        if report.given:
            origin = "given" if method is None else f"given, begun {origin}"
        origin = f"{origin}, polished" if report.polished else origin
        return (
            f"Release({counted(report.n_records, 'record')}, {counted(report.risk.n_groups, 'group')} "
            f"{origin}, {report.in_short})"
        )

    def script(self, file: str | os.PathLike[str] = "", **options: Any) -> str:
        """Write a program that makes this release from ``file``.

        Parameters
        ----------
        file, **options
            As for :func:`microagg.release.recipe.script`.

        Returns
        -------
        str
            The program in Python.

        Raises
        ------
        ParameterError
            If neither ``file`` nor ``dataset`` is named, or both.
        """
        return recipes.script(self.recipe, file, **options)


def _marks(source: Source, name: Hashable) -> tuple[str, bool]:
    """The decimal mark of a column of numbers as texts, else "", and whether days come before months in its dates."""
    column, day_first = source.table[name], dates.day_first(source.schema.dates.get(name, ""))
    if day_first is None:
        order = dates.order(value for value in column.unique() if isinstance(value, str))
        day_first = order.day_first is not None
    if is_numeric_dtype(column) or name not in source.schema.numbers:
        return "", day_first
    return "," if source.schema.numbers[name] == COMMA else ".", day_first


def _with_notices(finding: Finding, notices: Sequence[Notice]) -> Finding:
    """The finding on a file with what the file does not have as it was."""
    if not notices or finding.level == "stop":
        return finding
    lines = [line[:1].upper() + line[1:] for line in notice_lines(notices)]
    columns = tuple(dict.fromkeys(notice.column for notice in notices if notice.column))
    return replace(finding, level="warn", columns=columns, text=" ".join([finding.text, *lines]))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` in UTF-8, with the same line ends on every system. :class:`DataError` if that fails."""
    try:
        # A lone surrogate, which a column name can contain, has no UTF-8 form.
        Path(path).write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise DataError(f"the file {os.fspath(path)!r} cannot be written: {error.strerror}.") from None
