"""Text files: delimiters, quotes, encodings, offers of other options, and files drawn at random."""

import random

import numpy as np
import pandas as pd
import pytest

from microagg.errors import DataError, ParameterError
from microagg.tables import ENCODINGS, UnreadableError, read_file, read_table
from microagg.tables.text import read_cells
from tests.cases import for_each
from tests.tables.common import fails, read_csv


@for_each("ending", ["csv", "tsv", "txt"])
@for_each("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(delimiter, ending):
    text = delimiter.join(["age", "name", "income"]) + "\n" + delimiter.join(["31", '"a,b;c|d\te"', "1.5"]) + "\n"
    frame = read_table(text.encode(), name=f"x.{ending}")
    assert frame.to_dict("list") == {"age": [31], "name": ["a,b;c|d\te"], "income": [1.5]}


def test_semicolons_with_decimal_commas():
    text = "a;b;c;d\n1,5;2,5;x;1,234\n-3,25;1e3;y;5,678\n"
    reading = read_file(text.encode(), name="x.csv")
    assert reading.frame["a"].tolist() == ["1,5", "-3,25"]
    # Commas that may separate thousands are no decimal marks.
    assert [notice.column for notice in reading.notices] == ["a"]
    assert read_csv(text, decimal=",")[["a", "b"]].to_dict("list") == {"a": [1.5, -3.25], "b": [2.5, 1000.0]}
    # Both delimiters divide header and lines alike: the comma is the decimal mark then.
    assert list(read_csv("income, net;age\n1,5;30\n2,5;40\n")) == ["income, net", "age"]


def test_wrong_delimiter_given():
    says = "divided by ',', the file 'x.csv' has only one column, .*: choose ';' as the delimiter"
    fails(says, b"a;b\n1;2\n", name="x.csv", delimiter=",")
    fails("choose tab as the delimiter", b"a\tb\n1\t2\n", name="x.csv", delimiter=";")
    # Here the wrong delimiter makes lines of different lengths.
    fails("choose ';' as the delimiter, which divides", b"a;b\n1,5;2\n3;4\n", name="x.csv", delimiter=",")


@for_each(
    ("text", "line", "width"),
    [
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", 3, "2 fields"),
        ("\n\na,b\n\n1,2\n3\n", 6, "1 field,"),
        ('a,b\n"1\n1",2\n3,4,5\n', 4, "3 fields"),
        ("a,b\r\n1,2\r\n3,4,5\r\n", 3, "3 fields"),
    ],
)
def test_ragged_lines(text, line, width):
    says = rf"line {line} of the file 'x.csv' has {width}.*the header has [23] fields: lines that do not fit can be"
    fails(says, text.encode(), name="x.csv")


def test_names_are_trimmed_and_empty_ones_numbered():
    frame = read_csv(',"", age , x\n1,2,3,4\n')
    assert list(frame) == ["column 1", "column 2", "age", "x"]
    assert frame.index.equals(pd.RangeIndex(1))
    fails("the column name 'column 2' occurs more than once", b"column 2,\n1,2\n", name="x.csv")


def test_blank_lines():
    assert read_csv("\na,b\n\n1,2\n  \n3,4\n\n\n")["a"].tolist() == [1, 3]
    # A line is a record where there is but one column, at least within the table.
    values = read_csv('a\n1\n\n3\n""\n5\n\n')["a"]
    np.testing.assert_array_equal(values, [1, np.nan, 3, np.nan, 5])


def test_quotes():
    frame = read_csv('"a ""b""","c\nd"\n"x, y",1\n"li\r\nne",2\n5" pipe,3\n')
    assert list(frame) == ['a "b"', "c\nd"]
    assert frame.iloc[:, 0].tolist() == ["x, y", "li\r\nne", '5" pipe']
    fails("after line 2, because of a quote that is never closed", b'a,b\n1,2\n"3,4\n5,6\n', name="x.csv")
    fails("after line 1, because of characters between a closing quote", b'a,b\n"1"x,2\n', name="x.csv")


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", b""), ("utf-8-sig", b""), ("utf-16", b""), ("utf-16-be", b"\xfe\xff"), ("utf-32", b"")],
)
def test_unicode_is_recognized(encoding, mark):
    text = "größe,Ort\n1.5,Łódź\n"
    frame = read_csv(mark + text.encode(encoding))
    assert list(frame) == ["größe", "Ort"]
    assert frame["Ort"].tolist() == ["Łódź"]
    if encoding != "utf-8-sig":
        assert list(read_csv(text.encode(encoding), encoding=encoding)) == ["größe", "Ort"]


def test_wrong_encoding():
    data = "ort,n\nKöln,1\n".encode("cp1252")
    fails(r"'x.csv' is not valid UTF-8 at byte 7 \(0xf6\).* cp1252", data, name="x.csv")
    assert read_csv(data, encoding="cp1252")["ort"].tolist() == ["Köln"]
    fails("is not valid UTF-8 at byte 7.*choose another encoding", data, name="x.csv", encoding="utf-8")
    fails("is not valid UTF-16", b"\xff\xfea\x00\x01", name="x.csv")
    fails("zero character at position 1.*utf-16", "a,b\n1,2\n".encode("utf-16-le"), name="x.csv")


def test_too_many_cells_in_text():
    data = b"a,b\n" + b"1,2\n" * 100
    assert len(read_table(data, name="x.csv", max_cells=200)) == 100
    fails("at least 100 records with 2 columns, over the limit of 198 cells", data, name="x.csv", max_cells=198)


RECORDS = "name,age,income\nA,31,100\nB,45,200\nC,22,300\nD,50,400\nE,61,500\n"


def test_a_header_repeated_with_another_delimiter():
    text = "a;b\n1,5;2\n2,5;3\n\na,b\n1,2\n3,4\n"
    with pytest.raises(UnreadableError) as caught:
        read_csv(text)
    reading = caught.value.offers[0].reading
    assert reading == {"uneven": "mend", "repeated_header": True, "decimal": ","}
    assert read_csv(text, **reading).to_dict("list") == {"a": [1.5, 2.5, 1, 3], "b": [2, 3, 2, 4]}


def test_skipping_what_is_not_there():
    fails("nothing after the lines that are skipped", b"a,b\n1,2\n", name="x.csv", skip_lines=5)
    fails("has a header but no records", b"a,b\n1,2\n", name="x.csv", skip_last=5)
    fails("has a header but no records", b"a,b\n1,2\n", name="x.csv", units_row=True)


@for_each("first", ['"sep=;"', "SEP=;"])
def test_a_file_may_declare_its_delimiter(first):
    assert read_csv(f"{first}\r\na;b\r\n1;x,y\r\n2;z\r\n").to_dict("list") == {"a": [1, 2], "b": ["x,y", "z"]}
    fails("line 4 of", f"{first}\na;b\n1;2\n3\n4;5\n".encode(), name="x.csv")


@for_each(
    ("arguments", "says"),
    [
        *(({"delimiter": given}, "delimiter must be one character") for given in ("", ",,", '"', "\n", 1)),
        ({"delimiter": "'", "quote": "'"}, "delimiter must be one character"),
        ({"decimal": "·"}, "decimal must be '.' or ','"),
        *(({"encoding": given}, "there is no text encoding") for given in ("klingon", "zlib", "hex")),
        ({"skip_lines": -1}, "skip_lines must be"),
        ({"skip_lines": True}, "skip_lines must be"),
        ({"skip_last": 1.5}, "skip_last must be"),
        ({"header_lines": 0}, "header_lines must be"),
        ({"comment": ""}, "comment must be"),
        ({"quote": "“"}, "quote must be one"),
        *(({name: "some"}, f"{name} must be one") for name in ("inner_quotes", "unnamed", "uneven")),
    ],
)
def test_impossible_arguments(arguments, says):
    fails(says, b"a\n1\n", name="x.csv", error=ParameterError, **arguments)


def test_what_is_offered_was_tried_and_shows_what_it_gives():
    text = f"Table 1\n{RECORDS.replace('C,22', 'C,D,22')}Source: INE\n"
    with pytest.raises(UnreadableError) as caught:
        read_file(text.encode(), name="x.csv")
    first = caught.value.offers[0]
    assert dict(first.reading) == {"skip_lines": 1, "skip_last": 1, "uneven": "mend"}
    reading = read_file(text.encode(), name="x.csv", **first.reading)
    assert first.preview.n_records == len(reading.frame) == 5
    assert first.preview.frame.equals(reading.frame.head(3))
    assert first.preview.done == reading.done
    (mended,) = (line for notice in reading.done for line in notice.lines if line.becomes)
    assert (mended.number, mended.text, mended.becomes) == (5, "C,D,22,300", "C,D | 22 | 300")
    # The lines that can be skipped are marked.
    assert [(line.number, line.marked) for line in caught.value.lines][:3] == [(1, True), (2, False), (3, False)]


def test_ways_of_a_long_file_are_tried_on_its_beginning_and_its_end():
    n = 60_000
    text = "Table 1\na,b\n" + "".join(f"{i},{i}\n" for i in range(n)) + "Total,5\nSource: INE\n"
    with pytest.raises(UnreadableError) as caught:
        read_file(text.encode(), name="x.csv")
    first = caught.value.offers[0]
    assert first.preview.n_records is None
    frame = read_csv(text, **first.reading)
    assert frame["a"].tolist() == list(range(n))


def test_quotes_within_cells_are_found_in_time():
    # Every other quote might end the cell.
    line = '"' + '""x"' * 20_000 + "y\n"
    with pytest.raises(UnreadableError):
        read_csv(f'a,b\n"1"z,2\n{line}', inner_quotes="plain")


TEXTS = {
    "gb18030": "姓名,年龄,城市\n王小明,31,广州\n李华,22,深圳\n张伟,45,成都\n",
    "big5": "城市,收入\n臺北,100\n高雄,200\n臺中,300\n",
    "cp932": "都市,収入\n東京,100\n大阪,200\nさいたま,300\n",
    "euc_jp": "氏名,年齢\n山田太郎,31\nサトウ,22\n",
    "cp949": "도시,소득\n서울,100\n부산,200\n",
    "cp1252": "nombre,año\nJosé,1\nMüller,2\nFrançois,3\n",
    "cp1250": "miasto,n\nŁódź,1\nKraków,2\nPoznań,3\n",
    "cp1251": "город,н\nМосква,1\nПермь,2\n",
    "koi8-r": "город,н\nМосква,1\nПермь,2\n",
    "cp1253": "πόλη,n\nΑθήνα,1\nΠάτρα,2\n",
    "mac-roman": "nombre,año\nJosé,1\nMüller,2\nFrançois,3\n",
    "cp850": "nombre,año\nJosé,1\nMüller,2\nFrançois,3\n",
    "utf-16-le": "ort,n\nKöln,1\nBonn,2\n",
    "utf-16-be": "ort,n\nKöln,1\nBonn,2\n",
}


def offers(data, **options):
    with pytest.raises(UnreadableError) as caught:
        read_file(data, name="x.csv", **options)
    return caught.value.offers


@for_each("codec", TEXTS)
def test_the_right_encoding_is_offered_first(codec):
    data = TEXTS[codec].encode(codec)
    first, *others = offers(data)
    assert first.reading == {"encoding": codec}
    # The sample is what the file says, the others say something else.
    word = next(word for word in TEXTS[codec].replace("\n", ",").split(",") if not word.isascii())
    assert word in first.label
    assert ENCODINGS[codec] in first.label
    assert all(word not in other.label for other in others)
    frame = read_csv(data, **first.reading)
    assert [*frame, *map(str, frame.iloc[:, 0])] == [
        *TEXTS[codec].split("\n")[0].split(","),
        *[line.split(",")[0] for line in TEXTS[codec].split("\n")[1:-1]],
    ]


def test_encodings_beside_a_wrong_choice_and_without_any_good_one():
    data = TEXTS["cp1251"].encode("cp1251")
    assert "cp1251" in [offer.reading["encoding"] for offer in offers(data, encoding="cp949")]
    # Undefined in all encodings of one byte but Latin-1, which then says nothing of interest.
    assert "latin-1" in [offer.reading["encoding"] for offer in offers(b"a,b\n\x81\x8d\x90\xff,1\n")]
    data = ("ort,n\n" + "ü" * 5_000 + ",1\n").encode("cp1252")
    assert all(len(offer.label) < 250 for offer in offers(data))


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
    lists = [ODD, ["True", "False"], ["1", "2.50", "-7"], ["2020-01-31", "2021-12-01"]]
    kinds = [rng.choice(lists) for _ in range(width)]
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
