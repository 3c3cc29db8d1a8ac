"""Text files from bytes to cells: decoded as UTF-8, or by their byte order mark, and divided into records and fields.

No other encoding is inferred: the user chooses one, with a sample of the text in each possible one.
"""

from __future__ import annotations

import codecs
import csv
import functools
import itertools
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import DataError, ParameterError
from microagg.tables.lossless import SEPARATOR, ArrowCells, brief, cells_in, is_number
from microagg.tables.notices import LayoutOptions, Offer, UnreadableError, check_cells
from microagg.validation import check_choice, check_whole

# By default, the csv module allows cells of at most 131,072 characters; the size of a file has a limit anyway.
csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))

# The maximum number of columns of a text file, and the length from which the number of fields of a line is checked.
_MAX_COLUMNS, _LONG_LINE = 20_000, 1_000_000

# The minimum number of records and the number of cells of a chunk. Cells are joined to one text per chunk, which takes
# a tenth of the memory.
_MIN_RECORDS, _CHUNK = 50, 10_000

LINE_END, _LINE = re.compile(r"\r\n|\n|\r"), re.compile(r"[^\r\n]*+(?:\r\n|\n|\r)|[^\r\n]++")

#: Used as a delimiter: columns are separated by positions where all lines have blanks.
FIXED = "fixed width"

# The separator of cells of fixed width for the csv module.
_UNIT = "\x1f"

# The number of records that are examined for columns of numbers.
_N_EXAMINED = 200

# Quotes around cells, quotes within cells, and the treatment of fields without a name and of lines with another number
# of fields.
_CHOICES = {
    "quote": ('"', "'", "none", "curly"),
    "inner_quotes": ("doubled", "escaped", "plain"),
    "unnamed": ("keep", "first", "last", "drop"),
    "uneven": ("error", "drop", "mend"),
}


@dataclass(frozen=True, kw_only=True)
class TextOptions(LayoutOptions):
    """Options for reading a text file: arguments of :func:`microagg.tables.read_file`."""

    delimiter: Any = None  # a text, but for None until it is found in the file
    encoding: str | None = None
    decimal: str = "."
    quote: str = '"'
    inner_quotes: str = "doubled"
    skip_blanks: bool = False
    drop_zeros: bool = False
    header: bool | None = None
    header_lines: int = 1
    number_names: bool = False
    repeated_header: bool = False
    unnamed: str = "keep"
    uneven: str = "error"
    comment: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one = isinstance(self.delimiter, str) and len(self.delimiter) == 1
        if self.delimiter not in (None, FIXED) and (not one or self.delimiter in f'"\r\n{self.quote}'):
            raise ParameterError(
                f"delimiter must be one character such as ',' or ';', or {FIXED!r}, not {self.delimiter!r}."
            )
        if self.decimal not in (".", ","):
            raise ParameterError(f"decimal must be '.' or ',', not {self.decimal!r}.")
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        check_whole("header_lines", self.header_lines, 1)
        if self.comment is not None and not (isinstance(self.comment, str) and self.comment.strip()):
            raise ParameterError(f"comment must be what lines begin with, such as '#', not {self.comment!r}.")


# A record: the number of its last line, from 0, and its fields.
_Line = tuple[int, list[str]]


@dataclass
class Divided:
    """A text file divided into cells: for each column, its chunks of cells, separated by :data:`SEPARATOR`."""

    header: list[str]  # empty if the first record is none
    chunks: list[Sequence[str]]
    records: int = 0
    units: list[str] = field(default_factory=list)  # the row of units, if there is one
    #: Lines that the options leave out: the last ones, those that do not fit, and repetitions of the header.
    last: list[_Line] = field(default_factory=list)
    odd: list[_Line] = field(default_factory=list)
    repeated: list[_Line] = field(default_factory=list)
    mended: list[tuple[_Line, list[str]]] = field(default_factory=list)  # lines that did not fit, and their cells
    #: Columns without a name and any value, and lines with empty fields at their end for which there is no column.
    dropped: int = 0
    cut: int = 0


class NotDividedError(Exception):
    """Some records have another number of fields than the ``header``, or one repeats it."""

    def __init__(self, header: list[str], *, repeated: bool) -> None:
        super().__init__()
        self.header, self.repeated = header, repeated


def _reader(text: str, options: TextOptions) -> Any:
    """Reader of the fields of each line, strict about quotes. A blank delimiter may be several blanks."""
    if options.delimiter == FIXED:
        return csv.reader(_cut_columns(text), delimiter=_UNIT, quoting=csv.QUOTE_NONE)
    delimiter = options.delimiter
    quotes: dict[str, Any] = {"quotechar": options.quote}
    if options.inner_quotes != "doubled" and len(options.quote) == 1:
        text = _double_quotes(text, options)
    if options.quote == "none":
        quotes = {"quoting": csv.QUOTE_NONE}
    elif options.quote == "curly":
        ends = rf"(?<![^{re.escape(delimiter)}\r\n])[“”„‟«]|[“”‟»](?=[{re.escape(delimiter)}\r\n]|\Z)"
        text, quotes = re.sub(ends, '"', text), {"quotechar": '"'}
    skips = options.skip_blanks or delimiter == " "
    return csv.reader(_lines(text, delimiter), delimiter=delimiter, strict=True, skipinitialspace=skips, **quotes)


def _lines(text: str, delimiter: str) -> Iterable[str]:
    lines, half = (match[0] for match in _LINE.finditer(text)), _LONG_LINE // 2
    has_ends = all(LINE_END.search(text, i, i + half) for i in range(0, len(text) - half, half))
    return lines if has_ends and delimiter != " " else _checked(lines, delimiter)


def _checked(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    for line in lines:
        if len(line) > _LONG_LINE and line.count(delimiter) > 10 * _MAX_COLUMNS:
            # Its fields would take much more memory than the file.
            raise DataError(
                f"a line of the file has {line.count(delimiter):,} fields, and a text file may have {_MAX_COLUMNS:,} "
                "columns: check the line ends and the delimiter."
            )
        yield re.sub(r" +(?=[\r\n]*\Z)", "", line) if delimiter == " " else line


def _double_quotes(text: str, options: TextOptions) -> str:
    """Double the quotes that stand within cells and do not end them, or after a backslash there."""
    quote, delimiter, pair = re.escape(options.quote), re.escape(options.delimiter), 2 * options.quote
    if options.inner_quotes == "escaped":
        # Pairs of backslashes are one match, so the quote after one ends the cell.
        return re.sub(rf"\\([\\{quote}])", lambda match: pair if match[1] == options.quote else match[0], text)
    ends = rf"(?=[{delimiter}\r\n]|\Z)"
    # A pair stands for one quote, unless the second of it ends the cell; a quote that nothing on its line ends is text.
    within = rf"[^{quote}\r\n]|{quote}{quote}|{quote}(?![{quote}{delimiter}\r\n]|\Z)|{quote}(?={quote}{ends})"
    whole = rf"(?<![^{delimiter}\r\n]){quote}(?:((?:{within})*?){quote}|([^{quote}{delimiter}\r\n]*)){ends}"

    def doubled(match: re.Match[str]) -> str:
        cell = f"{pair}{match[2]}" if match[1] is None else re.sub(f"{quote}{quote}?", pair, match[1])
        return f"{options.quote}{cell}{options.quote}"

    return re.sub(whole, doubled, text)


def _cut_columns(text: str) -> Iterator[str]:
    """Yield lines with the cells of a table of fixed width, in the form of the csv module."""
    lines = [line if line.strip() else "" for line in text.splitlines()]
    is_used = [any(sign != " " for sign in signs) for signs in itertools.zip_longest(*lines, fillvalue=" ")]
    starts = [i for i, has_text in enumerate(is_used) if has_text and (i == 0 or not is_used[i - 1])]
    bounds = list(itertools.pairwise([*starts, len(is_used)]))
    for line in lines:
        yield _UNIT.join(line[begin:end].strip() for begin, end in bounds) if line else ""


def numbered_rows(text: str, options: TextOptions) -> Iterator[_Line]:
    """Yield the last line, from 0, and the fields of each record, or of each line if there is one column."""
    return _numbered(_reader(text, options), options)


def _numbered(rows: Any, options: TextOptions) -> Iterator[_Line]:
    is_single = None
    for row in rows:
        if options.comment is not None and row and row[0].lstrip().startswith(options.comment):
            continue
        is_blank = _is_blank(row)
        if is_single is None and not is_blank:
            is_single = len(row) == 1
        if is_single or not is_blank:
            yield rows.line_num - 1, row or [""]


def is_empty(cells: Iterable[str]) -> bool:
    """Whether all cells are blank."""
    return not any(map(str.strip, cells))


def _is_blank(row: Sequence[str]) -> bool:
    return len(row) < 2 and is_empty(row)


def divide(text: str, options: TextOptions, has_header: bool, label: str, max_cells: int) -> Divided:
    """Divide a text into cells. csv.Error if quotes are broken, or a cell is longer than the csv module allows."""
    reader = _reader(text, options)
    lines = _numbered(reader, options)
    divided = Divided(_read_names(lines, text, options) if has_header else [], [])
    width = len(divided.header)
    first = [] if has_header else list(itertools.islice(lines, 1))
    width = len(first[0][1]) if first else width
    check_columns(width, label)
    # Most files need none of the options for single lines, which take several times as long.
    is_plain = not (options.comment or options.skip_last or options.repeated_header) and options.uneven == "error"
    rows: Iterator[list[str]]
    size = max(_MIN_RECORDS, _CHUNK // max(width, 1))
    if is_plain and width > 1 and options.unnamed != "drop":
        n_lines = 0 if first else reader.line_num
        columns = _arrow_columns(text, options, n_lines, divided.header, width) if not options.units_row else []
        if columns and len(columns[0]) * width <= max_cells:
            divided.chunks, divided.records = [ArrowCells(cells, size) for cells in columns], len(columns[0])
            return divided
        rows = itertools.chain((row for _, row in first), (row for row in reader if not _is_blank(row)))
    else:
        rows = _records(itertools.chain(first, lines), width, text, options, divided)
    chunks_of: list[list[str]] = [[] for _ in range(width)]
    divided.chunks = [*chunks_of]
    while records := list(itertools.islice(rows, size)):
        if set(map(len, records)) != {width}:
            raise NotDividedError(divided.header or [""] * width, repeated=False)
        if options.units_row and not divided.units:
            divided.units = records.pop(0)
        divided.records += len(records)
        if divided.records * width > max_cells:
            check_cells(divided.records, width, max_cells, label, at_least=True)
        if width > 1 and divided.header in records and any(divided.header):
            raise NotDividedError(divided.header, repeated=True)
        for chunks, cells in zip(chunks_of, zip(*records, strict=True), strict=False):
            chunks.append(SEPARATOR.join(cells))
    if options.unnamed == "drop":
        _leave_out_columns(divided, empty_columns(divided))
    return divided


def _arrow_columns(text: str, options: TextOptions, n_lines: int, header: list[str], width: int) -> list[Any]:
    """Columns of a text below ``n_lines`` lines as arrays of pyarrow. Empty if quotes divide it, or it has faults."""
    quote = options.quote if options.quote in text and options.quote != "none" else ""
    is_simple = options.quote != "curly" and not (quote and options.inner_quotes != "doubled")
    if not is_simple or options.skip_blanks or options.delimiter in (" ", FIXED) or text.startswith("\ufeff"):
        return []
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

        table = read_csv(
            pa.py_buffer(text.encode()),
            ReadOptions(use_threads=False, skip_rows=n_lines, autogenerate_column_names=True),
            ParseOptions(delimiter=options.delimiter, quote_char=False),
            ConvertOptions(column_types={f"f{j}": pa.string() for j in range(width)}, check_utf8=False),
            pool := pa.system_memory_pool(),  # Arrow's own would keep what is freed
        )
    except (ImportError, ValueError):
        return []
    if table.num_columns != width:
        return []
    columns = [pa.concat_arrays(column.chunks, pool) for column in table.columns]
    for j, cells in enumerate(columns if quote else ()):
        in_quotes = cells.filter(pc.match_substring(cells, quote))
        if not pc.all(pc.match_substring_regex(in_quotes, f"^{quote}[^{quote}]*{quote}$"), min_count=0).as_py():
            return []
        columns[j] = pc.utf8_trim(cells, quote)
    is_repeated = any(header) and pc.any(functools.reduce(pc.and_, map(pc.equal, columns, header))).as_py()
    return [] if is_repeated else columns


def _read_names(lines: Iterator[_Line], text: str, options: TextOptions) -> list[str]:
    """Names in the first of the ``lines``, those of several joined, with names for fields without one."""
    parts = [row for _, row in itertools.islice(lines, options.header_lines)]
    names = _join_names(parts) if len(parts) > 1 else [*itertools.chain(*parts)]
    if options.unnamed in ("first", "last"):
        widths = [len(row) for _, row in itertools.islice(numbered_rows(text, options), _N_EXAMINED)][len(parts) :]
        n_lacking = max(max(set(widths), key=widths.count, default=0) - len(names), 0)
        others = [""] * n_lacking
        names = [*["row"][:n_lacking], *others[1:], *names] if options.unnamed == "first" else [*names, *others]
    return names


def _join_names(parts: Sequence[Sequence[str]]) -> list[str]:
    """Join the names of several header lines. An upper one also applies to nameless columns on its right."""
    columns = itertools.zip_longest(*parts, fillvalue="")
    *uppers, lowest = [[cell.strip() for cell in row] for row in zip(*columns, strict=True)]
    for cells in uppers:
        for j in range(1, len(cells)):
            cells[j] = cells[j] or (cells[j - 1] if lowest[j] else "")
    return [" ".join(dict.fromkeys(filter(None, cells))) for cells in zip(*uppers, lowest, strict=True)]


def without_last(lines: Iterator[_Line], n: int, last: list[_Line] | None = None) -> Iterator[_Line]:
    """Yield all but the last ``n`` of the ``lines``, which are added to ``last``."""
    buffer: deque[_Line] = deque()
    for line in lines:
        buffer.append(line)
        if len(buffer) > n:
            yield buffer.popleft()
    if last is not None:
        last += buffer


def _records(
    lines: Iterator[_Line], width: int, text: str, options: TextOptions, divided: Divided
) -> Iterator[list[str]]:
    """Yield the records with ``width`` fields, mended if the options require it. ``divided`` collects the others."""
    header, mend = divided.header, _mender(text, width, options) if options.uneven == "mend" else None
    for number, row in without_last(lines, options.skip_last, divided.last):
        record = row
        if width > 1 and _is_blank(row):
            continue
        if options.unnamed == "drop" and is_empty(row[width:] or header[len(row) :]):
            record = [*row[:width], *[""] * (width - len(row))]
            divided.cut += len(row) > width
        is_mended = mend is not None and len(record) != width
        if mend is not None and is_mended:
            record = mend(record)
        if options.repeated_header and record == header:
            divided.repeated.append((number, row))
        elif options.uneven == "drop" and len(record) != width:
            divided.odd.append((number, row))
        else:
            if is_mended:
                divided.mended.append(((number, row), record))
            yield record


def _mender(text: str, width: int, options: TextOptions) -> Callable[[list[str]], list[str]]:
    """Function that makes a record of ``width`` fields from one that has fewer or more.

    Of too many fields, some are joined, so that numbers and texts are in the columns of numbers and texts; of equally
    good ways, in the column with the longest texts.
    """
    rows = [row for _, row in itertools.islice(numbered_rows(text, options), 5 * _N_EXAMINED)][options.header_lines :]
    columns = list(zip(*[row for row in rows if len(row) == width][:_N_EXAMINED], strict=True)) or [()] * width
    numeric = [any(cells) and all(is_number(cell, options.decimal) for cell in cells if cell) for cells in columns]
    lengths = [sum(map(len, cells)) for cells in columns]

    def mend(row: list[str]) -> list[str]:
        surplus = len(row) - width
        if mark := other_delimiter(row, width):
            return row[0].split(mark)
        if surplus < 0 or is_empty(row[width:]):
            return [*row[:width], *[""] * -surplus]

        def join(i: int) -> list[str]:
            return [*row[:i], options.delimiter.join(row[i : i + surplus + 1]), *row[i + surplus + 1 :]]

        def penalty(i: int) -> tuple[int, int]:
            cells = zip(join(i), numeric, strict=True)
            misplaced = sum(bool(cell) and is_number(cell, options.decimal) != number for cell, number in cells)
            return misplaced, -lengths[i]

        return join(min(range(width), key=penalty))

    return mend


def other_delimiter(row: Sequence[str], width: int) -> str | None:
    """The delimiter that divides a line of one field into ``width`` fields, if there is one."""
    return next((delimiter for delimiter in ";\t|," if len(row) == 1 and row[0].count(delimiter) == width - 1), None)


def empty_columns(divided: Divided) -> list[int]:
    """Columns without a name in which no record has a value."""
    names = divided.header or [""] * len(divided.chunks)
    return [
        j
        for j, (name, chunks) in enumerate(zip(names, divided.chunks, strict=True))
        if not name.strip() and not any(chunk.strip(f"{SEPARATOR} ") for chunk in chunks)
    ]


def _leave_out_columns(divided: Divided, columns: Sequence[int]) -> None:
    divided.dropped = len(columns)
    for part in ("chunks", "header", "units"):
        setattr(divided, part, [cells for j, cells in enumerate(getattr(divided, part)) if j not in columns])


def cells_of(chunks: Sequence[str]) -> Any:
    """The cells of a column as a Series or a list."""
    return chunks.cells.to_pandas() if isinstance(chunks, ArrowCells) else list(cells_in(chunks))


def check_columns(width: int, label: str) -> None:
    """Raise :class:`DataError` if there are too many columns."""
    if width > _MAX_COLUMNS:
        raise DataError(
            f"the file {label!r} has more than {_MAX_COLUMNS:,} columns, the limit for text files: leave out columns, "
            "or check the delimiter."
        )


#: Further encodings of files with their usual names, the likeliest first.
ENCODINGS: dict[str, str] = {
    "cp1252": "Windows, Western Europe",
    "latin-1": "Latin-1",
    "cp1250": "Windows, Central Europe",
    "cp1251": "Windows, Cyrillic",
    "cp1253": "Windows, Greek",
    "gb18030": "Chinese, simplified (GBK)",
    "big5": "Chinese, traditional (Big5)",
    "cp932": "Japanese (Shift-JIS)",
    "euc_jp": "Japanese (EUC-JP)",
    "cp949": "Korean (EUC-KR)",
    "koi8-r": "Russian (KOI8-R)",
    "mac-roman": "Mac, Western Europe",
    "cp850": "DOS, Western Europe",
    "utf-16-le": "UTF-16, little-endian",
    "utf-16-be": "UTF-16, big-endian",
}

# The mark of UTF-32 begins with that of UTF-16, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoding_of(data: bytes, encoding: str | None) -> tuple[bytes, str]:
    """Byte order mark of a text file, empty if it has none, and the encoding of the rest."""
    marks = _MARKS if encoding is None or encoding.lower().startswith("utf") else ()
    return next((pair for pair in marks if data.startswith(pair[0])), (b"", encoding or "utf-8"))


# The number of bytes that are decoded to compare encodings, once the whole file is valid; and of offers.
_SAMPLE_BYTES, _MAX_OFFERS = 1 << 16, 6

# The first and the last of the common characters of an encoding.
_COMMON = {
    "gb18030": (0xB0A1, 0xD7FE),
    "big5": (0xA440, 0xC67E),
    "cp949": (0xB0A1, 0xC8FE),
    "cp932": (0x829F, 0x9872),
    "euc_jp": (0xA4A1, 0xCFD3),
}


def decode(data: bytes, label: str, encoding: str | None, *, drop_zeros: bool = False) -> str:
    """Decode a file's bytes, without a byte order mark. By default in UTF-8 or the encoding of the mark.

    UnreadableError with the possible encodings if the bytes are not valid in this one.
    """
    # With a byte order mark, the name of the encoding has no byte order.
    chosen = encoding or encoding_of(data, None)[1].removesuffix("-le").removesuffix("-be")
    try:
        text = data.decode(chosen).removeprefix("\ufeff")
    except UnicodeError as error:
        position = "in it"
        if isinstance(error, UnicodeDecodeError):
            position = f"at byte {error.start} (0x{data[error.start]:02x})"
        offers = _encoding_offers(data, chosen)
        candidates = ", ".join(offer.reading["encoding"] for offer in offers[:3])
        advice = "choose another encoding" if encoding else "choose its encoding"
        hint = f", which may be {candidates}" if candidates else ""
        reason = f"the file {label!r} is not valid {chosen.upper()} {position}: {advice}{hint}."
        raise UnreadableError(reason, offers) from None
    except (LookupError, ValueError):
        raise ParameterError(f"there is no text encoding {chosen!r}: try 'utf-8', 'cp1252' or 'latin-1'.") from None
    if drop_zeros:
        return text.replace("\0", "")
    if (zero := text.find("\0")) >= 0:
        without = Offer(f"Leave out zero characters ({text.count(chr(0)):,})", {"drop_zeros": True})
        raise UnreadableError(
            f"the file {label!r} holds a zero character at position {zero}, so it is no text in {chosen.upper()}: "
            "choose its encoding, which may be utf-16-le, or leave such characters out.",
            (*_encoding_offers(data, chosen), without),
        )
    return text


def _encoding_offers(data: bytes, refused: str) -> tuple[Offer, ...]:
    """Encodings in which all of ``data`` is text, likeliest first, each with a sample."""
    offers: list[tuple[float, Offer]] = []
    samples: set[str] = set()
    wide = data.count(0, 0, _SAMPLE_BYTES) > 0
    for codec, name in ENCODINGS.items():
        if codec == refused or codec.startswith("utf-16") != wide:
            continue
        try:
            text = data.decode(codec)
        except UnicodeError:
            continue
        # The parts of the text around characters beyond ASCII, and some of the words that depend on the encoding.
        parts = re.finditer(r"[^\n\r,;\t|]*[^\0-\x7f][^\n\r,;\t|]*", text)
        sample = text[:_SAMPLE_BYTES] if wide else "\n".join(part[0][:200] for part in itertools.islice(parts, 300))
        lines = dict.fromkeys(line.strip(" \"'") for line in sample.splitlines() if line.strip())
        words = ", ".join(brief(line)[1:-1] for line in itertools.islice(lines, 4))
        if "\0" in text or words in samples:
            continue
        samples.add(words)
        sentence = f"{name} ({codec}){': ' if words else ''}{words}"
        offers.append((_likelihood(sample, codec), Offer(sentence, {"encoding": codec})))
    offers.sort(key=lambda pair: -pair[0])
    return tuple(offer for _, offer in offers[:_MAX_OFFERS])


def _likelihood(text: str, codec: str) -> float:
    """How likely the encoding is: the share of neighboring characters that fit, and that of common characters.

    In a wrong encoding, letters stand next to signs, to letters of another script, or capitals within words, and
    Chinese characters are rare ones.
    """
    text = text[:20_000]
    pairs = [pair for pair in itertools.pairwise(text) if max(pair) >= "\x80"]
    fit = sum(itertools.starmap(_fit, pairs)) / max(len(pairs), 1)
    codes = [int.from_bytes(sign.encode(codec), "big") for sign in text if sign >= "\x80"] if codec in _COMMON else []
    if not codes:
        return fit
    low, high = _COMMON[codec]
    common = sum(low <= code <= high for code in codes) / len(codes)
    # What is common in Korean is common in Chinese, too.
    return fit + 2 * common - 1 + 0.1 * (codec == "cp949")


def _fit(first: str, second: str) -> float:
    """How well two neighbors fit, at least one of which is beyond ASCII: from -1 to 1."""
    scripts = (_script(first), _script(second))
    if "" in scripts:
        # Next to a letter, a sign beyond ASCII is odd, a blank or a delimiter is not.
        return -float(any(sign >= "\x80" and not script for sign, script in zip((first, second), scripts, strict=True)))
    if scripts[0] != scripts[1] or (first.islower() and second.isupper()):
        return -1
    # Letters with accents seldom follow each other.
    return -0.5 if scripts[0] == "LATIN" and min(first, second) >= "\x80" else 1


def _script(character: str) -> str:
    """Script of a letter, empty for other characters."""
    script = unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""
    return script if script in ("", "LATIN", "GREEK", "CYRILLIC", "HALFWIDTH") else "East Asian"
