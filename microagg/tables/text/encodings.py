"""The encodings of text files: UTF-8 or what a mark says; otherwise asked for, with a sample of what each gives."""

from __future__ import annotations

import codecs
import itertools
import re
import unicodedata

from microagg.errors import ParameterError
from microagg.tables.notices import Offer, UnreadableError
from microagg.tables.text.columns import shown

#: Encodings that files of other times and places have, by the names that people know; the likeliest first.
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
    "utf-16-le": "UTF-16, little-endian",
    "utf-16-be": "UTF-16, big-endian",
}

_MARKS = (
    # The mark of UTF-32 begins with that of UTF-16, so it comes first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# How much of a file is decoded to compare encodings, once all of it was found to be valid.
_SAMPLE_BYTES = 1 << 16

_MOST_OFFERS = 6

# The range of characters that texts in an encoding have most of, where it is not that of their alphabet: characters in
# daily use come first in GB 2312 and Big5.
_DAILY = {"gb18030": (0xB0A1, 0xD7FE), "big5": (0xA440, 0xC67E)}


def decode(data: bytes, label: str, encoding: str | None) -> str:
    """Return a file's bytes as text, without a byte order mark.

    Raises
    ------
    UnreadableError
        If they are not valid in the encoding, which is UTF-8 or that of the mark if none is given; its offers are
        the encodings that the file may have.
    ParameterError
        If there is no such encoding.
    """
    chosen = encoding
    if chosen is None:
        chosen = next((codec for mark, codec in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(chosen)
    except LookupError:
        raise ParameterError(f"there is no text encoding {chosen!r}: try 'utf-8', 'cp1252' or 'latin-1'.") from None
    except UnicodeError as error:
        where = "in it"
        if isinstance(error, UnicodeDecodeError):
            where = f"at byte {error.start} (0x{data[error.start]:02x})"
        offers = encoding_offers(data, chosen)
        named = ", ".join(offer.reading["encoding"] for offer in offers[:3])
        advice = "choose another encoding" if encoding else "choose its encoding"
        may = f", which may be {named}" if named else ""
        reason = f"the file {label!r} is not valid {chosen.upper()} {where}: {advice}{may}, or save it as UTF-8."
        raise UnreadableError(reason, offers) from None
    text = text.removeprefix("\ufeff")
    if (zero := text.find("\0")) >= 0:
        raise UnreadableError(
            f"the file {label!r} holds a zero character at position {zero}, so it is no text in {chosen.upper()}: "
            "choose its encoding, which may be utf-16-le, or save it as UTF-8.",
            encoding_offers(data, chosen),
        )
    if encoding is None and re.search(r"\x1b(?:\$[@B]|\([BJ])", text):
        raise UnreadableError(
            f"the file {label!r} holds signs of the Japanese encoding ISO-2022-JP: choose its encoding.",
            (Offer("Japanese (ISO-2022-JP)", {"encoding": "iso2022_jp"}), Offer("UTF-8", {"encoding": "utf-8"})),
        )
    return text


def encoding_offers(data: bytes, refused: str) -> tuple[Offer, ...]:
    """Return the encodings in which all of ``data`` is text, the likeliest first, each with some of what it says."""
    found: list[tuple[float, Offer]] = []
    samples: set[str] = set()
    wide = data.count(0, 0, _SAMPLE_BYTES) > 0
    for codec, name in ENCODINGS.items():
        if codec == refused or codec.startswith("utf-16") != wide:
            continue
        try:
            text = data.decode(codec)
        except UnicodeError:
            continue
        sample = text[:_SAMPLE_BYTES] if wide else _telling(text)
        words = _words(sample)
        if "\0" in text or words in samples:
            continue
        samples.add(words)
        says = f"{name} ({codec}){': ' if words else ''}{words}"
        found.append((_likelihood(sample, codec), Offer(says, {"encoding": codec})))
    found.sort(key=lambda pair: -pair[0])
    return tuple(offer for _, offer in found[:_MOST_OFFERS])


def _telling(text: str) -> str:
    """Return the parts of a text around characters beyond ASCII."""
    parts = (found[0] for found in re.finditer(r"[^\n\r,;\t|]*[^\0-\x7f][^\n\r,;\t|]*", text))
    return "\n".join(part[:200] for part in itertools.islice(parts, 300))


def _words(sample: str) -> str:
    """Return some of the words that an encoding decides about."""
    lines = dict.fromkeys(line.strip(" \"'") for line in sample.splitlines() if line.strip())
    return ", ".join(shown(line)[1:-1] for line in itertools.islice(lines, 4))


def _likelihood(text: str, codec: str) -> float:
    """Return how much a decoded text looks like one: the share of neighbors that belong together.

    In a wrong encoding, letters stand beside signs, beside letters of another script, or capitals within words, and
    Chinese characters are rare ones.
    """
    score, pairs = 0.0, 0
    for one, two in itertools.pairwise(text[:20_000]):
        if one < "\x80" and two < "\x80":
            continue
        pairs += 1
        first, second = _script(one), _script(two)
        if "control" in (first, second):
            score -= 2
        elif "sign" in (first, second):
            # A sign beyond ASCII beside a letter is odd, a blank or a delimiter is not.
            odd = (first == "sign" and one >= "\x80") or (second == "sign" and two >= "\x80")
            score -= 1 if odd else 0
        elif first != second or (one.islower() and two.isupper()):
            score -= 1
        elif first == "Latin" and one >= "\x80" and two >= "\x80":
            # Letters with accents seldom follow each other.
            score -= 0.5
        else:
            score += 1
    share = score / max(pairs, 1)
    high = [character for character in text[:20_000] if character >= "\x80"]
    return share + _daily(high, codec)


def _daily(characters: list[str], codec: str) -> float:
    """Return how common the characters are in the language that the encoding is for, from -1 to 1."""
    if not characters or codec not in ("gb18030", "big5", "cp932", "euc_jp", "cp949"):
        return 0.0
    common = 0.0
    for character in characters:
        spelled = int.from_bytes(character.encode(codec), "big")
        if codec in _DAILY:
            least, most = _DAILY[codec]
            common += least <= spelled <= most and (codec == "big5" or (spelled & 0xFF) >= 0xA1)
        elif codec == "cp949":
            common += "\uac00" <= character <= "\ud7a3" and 0xB0A1 <= spelled <= 0xC8FE and (spelled & 0xFF) >= 0xA1
        else:
            # Kana, and characters of the first level in JIS X 0208.
            kana = "\u3040" <= character <= "\u30ff"
            first = 0x889F <= spelled <= 0x9872 if codec == "cp932" else 0xB0A1 <= spelled <= 0xCFD3
            common += 1.0 if kana else 0.9 * first
    share = 2 * common / len(characters) - 1
    # A narrower range that holds all characters says more: that of Korean is within that of Japanese, and both are
    # within that of Chinese.
    return share + {"cp949": 0.1, "cp932": 0.05, "euc_jp": 0.05}.get(codec, 0.0) * (share >= 0.8)


def _script(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Cn", "Co", "Cs"):
        return "sign" if character in "\t\n\r" else "control"
    if category[0] not in "LM":
        return "sign"
    if character < "\u0250":
        return "Latin"
    if "\u0370" <= character <= "\u03ff":
        return "Greek"
    if "\u0400" <= character <= "\u052f":
        return "Cyrillic"
    if "\uff61" <= character <= "\uff9f":
        return "half-width"
    return "East Asian"
