"""Text files drawn at random, with much around the table: every outcome is a table, a notice or a sentence."""

import random

import pytest

from microagg.errors import DataError
from microagg.tables import read_file
from microagg.tables.text import read_cells

ODD = ["a,b", 'say "hi"', "two\nlines", "semi;colon", "#1", "  pad ", '"', "'q'", "|", "", "NA", "Rom", "x y"]
LEADING = ["", "  ", "Table 1: people", '"Title over\ntwo lines"', "# a comment", ",,,,", ',,,"TITLE', '",', ',"T\n",']
LAST = ["", "Source: office", "Note: a, b; c", ",,,,", "Total,,", '"never closed']
READINGS = [
    *({name: True} for name in ("header", "units_row", "skip_blanks", "number_names", "repeated_header")),
    *({"unnamed": choice} for choice in ("first", "last", "drop")),
    *({"quote": choice} for choice in ("none", "curly", "'")),
    *({"inner_quotes": choice} for choice in ("plain", "escaped")),
    *({"uneven": choice} for choice in ("drop", "mend")),
    *({"skip_lines": 2}, {"skip_last": 2}, {"header": False}, {"header_lines": 2}, {"comment": "#"}),
    *({"delimiter": "fixed width"}, {"delimiter": " "}, {"decimal": ","}),
]


def draw(rng, width):
    """Return the records of a table."""
    kinds = [
        rng.choice([ODD, ["True", "False"], ["1", "2.50", "-7"], ["2020-01-31", "2021-12-01"]]) for _ in range(width)
    ]
    return [[rng.choice(kind) for kind in kinds] for _ in range(rng.choice([0, 1, 2, 5, 12]))]


def line(cells, delimiter):
    quoted = [
        f'"{cell.replace(chr(34), chr(34) * 2)}"' if set(cell) & {delimiter, '"', "\n"} else cell for cell in cells
    ]
    return delimiter.join(quoted)


def test_files_in_disorder_never_end_in_a_fault():
    rng, n_read, sentences = random.Random(48), 0, []
    for _ in range(150):
        width, delimiter = rng.choice([1, 2, 3, 5]), rng.choice(",,;\t|")
        lines = [line([f"name {j}" for j in range(width)], delimiter)][: rng.randrange(8)]
        lines += [line(record, delimiter) for record in draw(rng, width)]
        for i in range(len(lines)):
            lines[i] += rng.choice([*[""] * 30, delimiter, f"{delimiter}more", '"', "\n"])
        around = [rng.choices(LEADING, k=rng.randrange(4)), rng.choices(LAST, k=rng.randrange(3))]
        text = rng.choice(["\n", "\r\n", "\r"]).join([*around[0], *lines, *around[1]])
        reading = rng.choice(READINGS) | rng.choice(READINGS) if rng.random() < 0.5 else {}
        try:
            n_read += len(read_file(text.encode(), name="x.csv", **reading).frame) > 0
        except DataError as error:
            sentences.append(str(error))
    assert all(sentence.endswith(".") for sentence in sentences)
    assert n_read > 30


def test_regular_files_have_every_cell():
    rng = random.Random(8)
    for _ in range(100):
        width, delimiter = rng.choice([2, 3, 5]), rng.choice(",;\t|")
        rows = [[f"name {j}" for j in range(width)], *draw(rng, width)]
        text = "\n" * rng.randrange(3) + "".join(f"{line(row, delimiter)}\n" for row in rows)
        cells = read_cells(text.encode(), "x.csv", {"header": True})
        assert [list(cells), *cells.to_numpy().tolist()] == rows, text


def test_a_title_over_two_lines_below_empty_cells_is_skipped_by_the_first_offer():
    text = ',,,,\n,,,,\n,,,"TITLE\n",\na,b,c,d,e\n1,2,3,4,5\n2,3,4,5,6\n3,4,5,6,7\n'
    (notice,) = read_file(text.encode(), name="x.csv").notices
    assert notice.text == r"The first 4 lines may be a title above the header, such as 'TITLE\n'."
    frame = read_file(text.encode(), name="x.csv", **notice.offers[0].reading).frame
    assert frame.to_dict("list") == {"a": [1, 2, 3], "b": [2, 3, 4], "c": [3, 4, 5], "d": [4, 5, 6], "e": [5, 6, 7]}


def test_names_on_two_lines_of_other_widths_than_the_records():
    with pytest.raises(DataError, match=r"line 3 of the file 'x.csv' has 3 fields, but the header has 4 fields"):
        read_file(b"a,b,c\nd,e,f,g\n1,2,3\n4,5,6\n", name="x.csv", header_lines=2)
