"""Workbooks written by hand, for what no package writes."""

import io
import zipfile

from microagg.tables import read_file

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def sheet(*rows, after="", before="", first=1):
    """Return the XML of a sheet whose cells are given as ``attributes>content`` or as numbers, None being blank."""
    lines = []
    for number, row in enumerate(rows, start=first):
        cells = "".join(
            f'<c r="{chr(65 + j)}{number}"{cell if isinstance(cell, str) else f"><v>{cell!r}</v>"}</c>'
            for j, cell in enumerate(row)
            if cell is not None
        )
        lines.append(f'<row r="{number}">{cells}</row>')
    return f'<worksheet xmlns="{_MAIN}">{before}<sheetData>{"".join(lines)}</sheetData>{after}</worksheet>'


def text(content):
    """Return a cell with a text of its own."""
    return f' t="inlineStr"><is><t xml:space="preserve">{content}</t></is>'


def styled(style, content):
    """Return a cell with a number and a style."""
    return f' s="{style}"><v>{content}</v>'


def book(*sheets, formats=(), shared=None, properties="", states=None):
    """Return a workbook of sheets' XML; style ``i + 1`` has the number format ``formats[i]``, a code or a number."""
    names = [f"Sheet{i}" for i in range(1, len(sheets) + 1)]
    states = states or ["visible"] * len(sheets)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{i}" state="{state}" r:id="rId{i}"/>'
        for i, (name, state) in enumerate(zip(names, states, strict=True), start=1)
    )
    codes = [(200 + i, code) for i, code in enumerate(formats) if isinstance(code, str)]
    numbers = [0, *(200 + i if isinstance(code, str) else code for i, code in enumerate(formats))]
    written = "".join(f'<numFmt numFmtId="{i}" formatCode="{code}"/>' for i, code in codes)
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in numbers)
    targets = [("worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(sheets) + 1)]
    targets += [("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")]
    relations = "".join(
        f'<Relationship Id="rId{i}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets, start=1)
    )
    texts = "".join(f"<si>{item}</si>" for item in shared or ())
    kinds = [
        ("xl/workbook.xml", "sheet.main"),
        ("xl/styles.xml", "styles"),
        ("xl/sharedStrings.xml", "sharedStrings"),
        *((f"xl/worksheets/sheet{i}.xml", "worksheet") for i in range(1, len(sheets) + 1)),
    ]
    types = "".join(f'<Override PartName="/{part}" ContentType="{_KIND}.{kind}+xml"/>' for part, kind in kinds)
    contents = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE[:-13]}content-types">{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r" Type="{_OFFICE}/officeDocument" '
        'Target="/xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{properties}<sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{relations}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><numFmts>{written}</numFmts><cellStyleXfs><xf numFmtId="14"/>'
        f"</cellStyleXfs><cellXfs>{styles}</cellXfs></styleSheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{texts}</sst>',
    }
    contents |= {f"xl/worksheets/sheet{i}.xml": xml for i, xml in enumerate(sheets, start=1)}
    return zipped(contents)


def zipped(contents):
    """Return an archive of parts by their names; those that are None are left out."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            if content is not None:
                archive.writestr(name, content)
    return stream.getvalue()


def read(data, **options):
    """Return the columns of a workbook as lists, with None where a value is missing, and its notices by their codes."""
    reading = read_file(data, name="x.xlsx", **options)
    columns = {
        name: [None if absent else cell for cell, absent in zip(series.tolist(), series.isna(), strict=True)]
        for name, series in reading.frame.items()
    }
    notices = {}
    for notice in reading.notices:
        assert notice.code not in notices, "tests have one notice of a kind"
        notices[notice.code] = notice
    return columns, notices
