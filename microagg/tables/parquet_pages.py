"""The pages of a Parquet file, as their own headers have them.

What a file says of its columns as a whole may be wrong, by damage or on purpose, but a reader makes room for a page as
the page's header says. So this is where a small file shows that it would become a large table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: The encoding in which a text may repeat the beginning of the one before without storing it again.
DELTA_BYTE_ARRAY = 7

# The types of pages, and where a header of each has its own part (by the numbers of parquet.thrift).
_DICTIONARY_PAGE = 2
_DATA_HEADERS = {0: (5, 2), 3: (8, 4)}

# The types of the compact protocol of Thrift.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

# How deep headers are nested: a page has a part, which has statistics.
_DEEPEST = 8


@dataclass
class Pages:
    """What a column's pages say.

    Attributes
    ----------
    largest : int
        Bytes of the largest page once it is unpacked.
    dictionaries : int
        Bytes of all dictionaries once they are unpacked.
    has_prefixes : bool
        Whether texts are encoded by what they share with the one before.
    """

    largest: int = 0
    dictionaries: int = 0
    has_prefixes: bool = False


def pages_of(data: bytes, metadata: Any, column: int) -> Pages:
    """Return what the headers of all pages of a column say; ``metadata`` is pyarrow's of the whole file.

    Raises
    ------
    ValueError
        If a header is damaged.
    """
    found = Pages()
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(column)
        at: int = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < at:
            at = chunk.dictionary_page_offset
        end, values = at + chunk.total_compressed_size, 0
        while at < end and values < chunk.num_values:
            header, at = _Header(data, at).struct()
            unpacked, packed = header.get(2), header.get(3)
            if not isinstance(unpacked, int) or not isinstance(packed, int) or min(unpacked, packed) < 0:
                raise ValueError("a page without a size")
            at += packed
            found.largest = max(found.largest, unpacked)
            if header.get(1) == _DICTIONARY_PAGE:
                found.dictionaries += unpacked
            elif header.get(1) in _DATA_HEADERS:
                part, encoding = _DATA_HEADERS[header[1]]
                values += header[part][1]
                found.has_prefixes |= header[part][encoding] == DELTA_BYTE_ARRAY
    return found


class _Header:
    """A reader of one structure in the compact protocol of Thrift.

    Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
    """

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        """Return the fields of a structure by their numbers, and where it ends."""
        if depth > _DEEPEST:
            raise ValueError("a page header that is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            fields[number] = self._value(head & 15, depth)
        return fields, self.at

    def _byte(self) -> int:
        if not 0 <= self.at < len(self.data):
            raise ValueError("a page beyond the end of the file")
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number of too many bytes in a page header")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_I16, _I32, _I64):
            return self._zigzag()
        if kind == _STRUCT:
            return self.struct(depth + 1)[0]
        if kind in (_BYTE, _DOUBLE, _BINARY):
            length = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self._varint()
            self.at += length
            return None
        # Headers of pages have neither lists nor sets nor maps.
        raise ValueError("a page header with parts that none has")
