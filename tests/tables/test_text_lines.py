"""Text in encodings other than UTF-8: refused, and offered with a sample of what it would say."""

import pytest

from microagg.tables import ENCODINGS, UnreadableError, read_file
from tests.cases import for_each
from tests.tables.common import read_csv

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


def test_every_encoding_that_is_offered_decodes_all_bytes():
    data = "a,b\né,1\nü,2\n".encode("cp1252") + b"\x81\n"
    for offer in offers(data):
        data.decode(offer.reading["encoding"])
    assert not {"cp1252", "cp949"} & {offer.reading["encoding"] for offer in offers(data)}


def test_a_wrong_encoding_that_was_chosen():
    data = TEXTS["cp1251"].encode("cp1251")
    assert "cp1251" in [offer.reading["encoding"] for offer in offers(data, encoding="cp949")]


def test_no_encoding_at_all():
    # Undefined in all encodings of one byte but Latin-1, which then says nothing of interest.
    found = offers(b"a,b\n\x81\x8d\x90\xff,1\n")
    assert "latin-1" in [offer.reading["encoding"] for offer in found]


def test_labels_are_short():
    data = ("ort,n\n" + "ü" * 5_000 + ",1\n").encode("cp1252")
    assert all(len(offer.label) < 250 for offer in offers(data))
    assert len(offers(data)) <= 6
