"""Files as they come, with the table that is meant: read at once, or by the first of the ways that are offered."""

import gzip

from tests.corpus.case import Case

PEOPLE = {
    "name": ["Ann", "Bob", "Cyd", "Dan"],
    "age": ["31", "45", "22", "50"],
    "town": ["Rome", "Oslo", "Lyon", "Rome"],
}
LINES = "Ann,31,Rome\nBob,45,Oslo\nCyd,22,Lyon\nDan,50,Rome\n"
TABLE = f"name,age,town\n{LINES}"


def at_once(name, text, cells=PEOPLE):
    return Case(name, "x.csv", text.encode, cells)


def click(name, text, offer, done="", cells=PEOPLE, *, encoding="utf-8", page=False):
    return Case(name, "x.csv", lambda: text.encode(encoding), cells, offer=offer, done=done, page=page)


def people(**columns):
    return {**PEOPLE, **columns}


def numbered(lines=LINES):
    return "".join(f"{i},{line}\n" for i, line in enumerate(lines.splitlines(), start=1))


ROWS = {"row": ["1", "2", "3", "4"], **PEOPLE}
QUOTED = people(town=['the "old" town', "Oslo", "Lyon", "Rome"])

HEADERS = [
    click("row names as R writes them", f"name,age,town\n{numbered()}", "no name: call it 'row'", "fewer columns", ROWS, page=True),
    click("row names in quotes", '"name","age"\n"a","Ann",31\n"b","Bob",45\n', "call it 'row'", "fewer columns", {"row": ["a", "b"], "name": ["Ann", "Bob"], "age": ["31", "45"]}),
    at_once("row names with an empty name above", f",name,age,town\n{numbered()}", {"column 1": ROWS["row"], **PEOPLE}),
    click("an empty field at the end of each line", f"name,age,town\n{LINES}".replace("\n", ",\n").replace("town,", "town"), "neither a name nor a value", "without any value: empty fields at the end of 4 lines"),
    click("three empty fields at the end of each line", f"name,age,town\n{LINES}".replace("\n", ",,,\n").replace("town,,,", "town"), "neither a name nor a value", "without any value"),
    click("empty names at the end of the header", f"name,age,town,,\n{LINES}", "neither a name nor a value", "without any value: 2 columns"),
    click("empty columns at the end", TABLE.replace("\n", ",,\n"), "neither a name nor a value", "without any value", page=True),
    click("an empty column in the middle", "name,,age\nAnn,,31\nBob,,45\n", "neither a name", "without any value", {"name": ["Ann", "Bob"], "age": ["31", "45"]}),
    click("a title", f"People of 2020\n{TABLE}", "^Skip the first line$", "at the beginning: 1 line", page=True),
    click("a title and a blank line", f"People of 2020\n\n{TABLE}", "^Skip the first (line|2 lines)$", "at the beginning"),
    click("a padded title", f"Meetings,,\n{TABLE}", "^Skip the first line$", "at the beginning: 1 line"),
    click("a padded title and a padded blank line", f"Meetings,,\n,,\n{TABLE}", "^Skip the first 2 lines$", "beginning: 2 lines"),
    click("three padded titles", f"Meetings,,\nSource: the mayor,,\nas of May,,\n{TABLE}", "^Skip the first 3 lines$", "beginning: 3 lines"),
    click("a padded title with a date beside it", "Report,2020-05-01,,\nname,age,town,mail\nAnn,31,Rome,a\nBob,45,Oslo,b\nCyd,22,Lyon,c\n", "^Skip the first line$", "beginning: 1 line", {"name": ["Ann", "Bob", "Cyd"], "age": ["31", "45", "22"], "town": ["Rome", "Oslo", "Lyon"], "mail": ["a", "b", "c"]}),
    click("a padded title above records with gaps", "Meetings,,,\nday,hour,what,where\n2008-02-28,1:00,,here\n2008-02-29,,lunch,\n", "^Skip the first line$", "beginning: 1 line", {"day": ["2008-02-28", "2008-02-29"], "hour": ["1:00", None], "what": [None, "lunch"], "where": ["here", None]}),
    click("a title with a comma", f"People, as of 2020\n{TABLE}", "^Skip the first line$", "beginning: 1 line"),
    click("titles of several widths", f"People\nSource,register\n{TABLE}", "^Skip the first 2 lines$", "beginning: 2 lines"),
    click("comments above the header", f"# people\n# 2020\n{TABLE}", "begin with #", "Comments were left out: 2 lines"),
    click("names on two lines", f"who,,where\nname,age,town\n{LINES}", "Join the first 2 lines", "joined from 2 lines", {"who name": PEOPLE["name"], "who age": PEOPLE["age"], "where town": PEOPLE["town"]}, page=True),
    click("groups of columns above the names", ",Income,,Age\nid,first,second,\na,1,2,3\nb,4,5,6\n", "Join the first 2 lines", "joined from 2 lines", {"id": ["a", "b"], "Income first": ["1", "4"], "Income second": ["2", "5"], "Age": ["3", "6"]}),
    click("names on three lines", "who,,where\nname,age,town\n,years,\n" + LINES, "Join the first 2 lines.*; leave out the row of units|Join the first 3", "joined", {"who name": PEOPLE["name"], "who age": PEOPLE["age"], "where town": PEOPLE["town"]}),
    click("units below the names", f"name,age,town\n,years,\n{LINES}", "^Leave out the row of units$", "row of units"),
    click("equal names", "name,age,age\nAnn,31,32\nBob,45,46\n", r"Number them: 'age', 'age \(2\)'", "have got a number", {"name": ["Ann", "Bob"], "age": ["31", "45"], "age (2)": ["32", "46"]}),
    click("equal names on two lines", "id,2019,2019\n,men,women\na,1,2\nb,3,4\n", "Join the first 2 lines", "joined", {"id": ["a", "b"], "2019 men": ["1", "3"], "2019 women": ["2", "4"]}),
    click("no header, numbers", "31,1.5\n45,2.5\n12,3.5\n", "It is data", "no header", {"column 1": ["31", "45", "12"], "column 2": ["1.5", "2.5", "3.5"]}),
    click("no header, dates first", "2/28/2008,start\n2/29/2008,lunch\n3/1/2008,end\n", "It is data", "no header", {"column 1": ["2/28/2008", "2/29/2008", "3/1/2008"], "column 2": ["start", "lunch", "end"]}, page=True),
    click("no header, times first", "1:00:00,start\n2:30:00,lunch\n", "It is data", "no header", {"column 1": ["1:00:00", "2:30:00"], "column 2": ["start", "lunch"]}),
    click("no header, NaN first", "Ann,NaN\nBob,2.5\nCyd,3.5\n", "It is data", "no header", {"column 1": ["Ann", "Bob", "Cyd"], "column 2": [None, "2.5", "3.5"]}),
    click("no header, categories", "m,yes\nf,yes\nm,no\nf,no\n", "It is data", "no header", {"column 1": ["m", "f", "m", "f"], "column 2": ["yes", "yes", "no", "no"]}),
    click("no header, records are counted", "1,Ann\n2,Bob\n3,Cyd\n", "It is data", "no header", {"column 1": ["1", "2", "3"], "column 2": ["Ann", "Bob", "Cyd"]}),
    at_once("dates as names", "country,2020-01-01,2020-01-02\nA,1,2\nB,3,4\n", {"country": ["A", "B"], "2020-01-01": ["1", "3"], "2020-01-02": ["2", "4"]}),
    at_once("years as names", "country,2019,2020\nA,1,2\nB,3,4\n", {"country": ["A", "B"], "2019": ["1", "3"], "2020": ["2", "4"]}),
]  # fmt: skip

RECORDS = [
    click("notes at the end", f"{TABLE}\nSource: register\nas of 2020\n", "^Leave out the last 2 lines$", "at the end: 2 lines", page=True),
    click("a padded note at the end", f"{TABLE}Source: register,,\n", "^Leave out the last record$", "at the end: 1 line"),
    click("a total at the end", f"{TABLE}Total,148,\n", "^Leave out the last record$", "at the end: 1 line"),
    click("padded lines at the end", f"{TABLE}{',,' + chr(10)}" + ",,\n" * 40, "^Leave out the last 41 records$", "at the end: 41 lines"),
    click("a padded note below padded lines", f"{TABLE},,\nNote: all,,\n", "^Leave out the last 2 records$", "at the end: 2 lines"),
    click("a line with a field too many", TABLE.replace("Cyd,22,Lyon", "Cyd,22,Lyon, France"), "^Mend the line that does not fit$", r"Mended.*1 line \(4\)", people(town=["Rome", "Oslo", "Lyon, France", "Rome"]), page=True),
    click("a field too many at the beginning", TABLE.replace("Cyd", "Dr., Cyd"), "^Mend the line", r"1 line \(4\)", people(name=["Ann", "Bob", "Dr., Cyd", "Dan"])),
    click("a line with a field too few", TABLE.replace("Cyd,22,Lyon", "Cyd,22"), "^Mend the line", r"1 line \(4\)", people(town=["Rome", "Oslo", None, "Rome"])),
    click("headings between records", "name,age,town\nAnn,31,Rome\nSouth\nBob,45,Oslo\nCyd,22,Lyon\nNorth\nDan,50,Rome\n", "^Leave out the 2 lines that do not fit$", r"2 lines \(3 and 6\)"),
    click("a line with empty fields too many", TABLE.replace("Lyon\n", "Lyon,,\n"), "neither a name nor a value", "without any value"),
    click("a header that is repeated", "name,age,town\nAnn,31,Rome\nBob,45,Oslo\nname,age,town\nCyd,22,Lyon\nDan,50,Rome\n", r"repeats the header \(1 line\)", r"header were left out: 1 line \(4\)", page=True),
    click("two headers that are repeated", "a,b\n1,x\na,b\n2,y\na,b\n3,z\n", r"\(2 lines\)", r"2 lines \(3 and 5\)", {"a": ["1", "2", "3"], "b": ["x", "y", "z"]}),
    click("two tables of other widths", f"{TABLE}\ntown,people\nRome,3000\nOslo,700\n", r"Read the table in lines 1 to 5 \(4 records, 3 columns\)", "at the end: 3 lines", page=True),
    click("the second of two tables", f"town,people\nRome,3000\nOslo,700\n\n{TABLE}", "Read the table in lines 5 to 9", "beginning: 4 lines"),
    click("tables with titles", f"People\n{TABLE}\nTowns\ntown,people\nRome,3000\nOslo,700\n", "Read the table in lines 2 to 6", "at the beginning: 1 line"),
    click("two tables of one width", f"{TABLE}\ntown,people,area\nRome,3000,1285\nOslo,700,454\n", "Read the table in lines 1 to 5", "at the end: 3 lines"),
    click("two padded tables", f"{TABLE},,\ntown,people,\nRome,3000,\nOslo,700,\n", "Read the table in lines 1 to 5", "at the end: 4 lines"),
    at_once("blank lines between records", TABLE.replace("Bob", "\nBob")),
]  # fmt: skip

CELLS = [
    click("quotes that are not doubled", 'name,age,town\nAnn,31,"the "old" town"\nBob,45,Oslo\nCyd,22,Lyon\nDan,50,Rome\n', "Quotes within cells are text", "quotes within cells", QUOTED, page=True),
    click("quotes with a backslash", 'name,age,town\nAnn,31,"the \\"old\\" town"\nBob,45,Oslo\nCyd,22,Lyon\nDan,50,Rome\n', "backslash", r"a \\ before quotes", QUOTED),
    click("quotes with a backslash beside delimiters", 'a,b\n"x \\"y\\", z",1\n"w",2\n', "backslash", "before quotes", {"a": ['x "y", z', "w"], "b": ["1", "2"]}),
    click("a quote that is never closed", 'name,age,town\nAnn,31,"Rome\nBob,45,Oslo\nCyd,22,Lyon\nDan,50,Rome\n', "Quotes within cells are text", "quotes within cells", people(town=['"Rome', "Oslo", "Lyon", "Rome"])),
    click("text behind a quote", 'a,b\n1,"x"y\n2,z\n', "All quotes are text", "part of the cells", {"a": ["1", "2"], "b": ['"x"y', "z"]}),
    click("single quotes around cells", "name,town\n'Ann, Dr.','Rome'\n'Bob','Oslo'\n", "single quotes", "single quotes", {"name": ["Ann, Dr.", "Bob"], "town": ["Rome", "Oslo"]}),
    click("single quotes that are doubled", "name,town\n'O''Hara, Ann','Rome'\n'Bob','Oslo'\n", "single quotes", "single quotes", {"name": ["O'Hara, Ann", "Bob"], "town": ["Rome", "Oslo"]}),
    click("single quotes around names", "'name','town'\n'Ann','Rome'\n'Bob','Oslo'\n", "single quotes", "single quotes", {"name": ["Ann", "Bob"], "town": ["Rome", "Oslo"]}),
    click("typographic quotes", "“name”,“town”\n“Ann, Dr.”,“Rome”\n“Bob”,“Oslo”\n", "curly quotes", "curly quotes", {"name": ["Ann, Dr.", "Bob"], "town": ["Rome", "Oslo"]}),
    click("a quote in one line that is never closed, beside quoted cells", 'name,age,town\n"Ann, Dr.",31,Rome\nBob,45,"Oslo\n"Cyd",22,Lyon\nDan,50,Rome\n', "Quotes within cells are text", "quotes within cells", people(name=["Ann, Dr.", "Bob", "Cyd", "Dan"], town=["Rome", '"Oslo', "Lyon", "Rome"])),
    click("a quote at the end of a quoted cell", 'a,b\n"say "hi"",1\nx,2\n', "Quotes within cells are text", "quotes within cells", {"a": ['say "hi"', "x"], "b": ["1", "2"]}),
    click("blanks before quotes", 'name, town\n"Ann, Dr.", "Rome, Italy"\n"Bob", "Oslo"\n', "Blanks after delimiters", "", {"name": ["Ann, Dr.", "Bob"], "town": ["Rome, Italy", "Oslo"]}),
    click("one line with another delimiter", TABLE.replace("Cyd,22,Lyon", "Cyd;22;Lyon"), "^Mend the line", r"1 line \(4\)"),
    click("blanks as the delimiter", TABLE.replace(",", " "), "Divide by space"),
    click("several blanks as the delimiter", "name   age\nAnn     31\nBob     45\n", "Divide by space", "", {"name": ["Ann", "Bob"], "age": ["31", "45"]}),
    click("columns of fixed width", "name        age city\nJohn Smith   34 New York\nMary         27 Rome\nBob Dylan    27 Rome\n", "blanks stand below each other", "", {"name": ["John Smith", "Mary", "Bob Dylan"], "age": ["34", "27", "27"], "city": ["New York", "Rome", "Rome"]}),
    click("another rare delimiter", TABLE.replace(",", "^"), r"Divide by '\^'"),
    click("a delimiter in the second half only", "a;b\n1,5;2\n2,5;3\n", "decimal mark is a comma", "", {"a": ["1.5", "2.5"], "b": ["2", "3"]}),
    at_once("line ends of the Macintosh", TABLE.replace("\n", "\r")),
    at_once("line ends of the Macintosh, tabs", TABLE.replace("\n", "\r").replace(",", "\t")),
    at_once("line ends within cells", 'a,b\n"x\ny",1\nz,2\n', {"a": ["x\ny", "z"], "b": ["1", "2"]}),
    at_once("a delimiter that is said", f"sep=;\n{TABLE.replace(',', ';')}"),
    click("Japanese without a mark", "名前,都市\n山田太郎,東京都\n鈴木花子,大阪市\n", "Japanese", "", {"名前": ["山田太郎", "鈴木花子"], "都市": ["東京都", "大阪市"]}, encoding="shift_jis"),
    click("Chinese without a mark", "姓名,城市\n张伟,北京市\n王芳,上海市\n", "Chinese", "", {"姓名": ["张伟", "王芳"], "城市": ["北京市", "上海市"]}, encoding="gbk"),
    click("Korean without a mark", "이름,도시\n김철수,서울시\n이영희,부산시\n", "Korean", "", {"이름": ["김철수", "이영희"], "도시": ["서울시", "부산시"]}, encoding="euc_kr"),
    click("UTF-16 without a mark", TABLE, "UTF-16, little-endian", encoding="utf-16-le"),
    click("Western Europe", "name,town\nJosé,Köln\nRené,Orléans\n", "cp1252", "", {"name": ["José", "René"], "town": ["Köln", "Orléans"]}, encoding="cp1252"),
]  # fmt: skip

SEVERAL = [
    click("a title, and a note below a blank line", f"People\n\n{TABLE}\nSource: register\n", "^Skip the first .*last one", "at the end: 1 line"),
    click("titles, units, a total and notes", f"People\n\nname,age,town\n,years,\n{LINES}Total,148,\n\nSource: register\n", "Skip the first .*; .*units", "at the beginning", page=True),
    click("padded titles, units and a total", f"People,,\n,,\nname,age,town\n,years,\n{LINES}Total,148,\n", "Skip the first 2 lines; leave out the row of units; leave out the last record", "beginning: 2 lines"),
    click("a title above decimal commas", "Prices\nwhat;price\nbread;1,5\nmilk;2,25\n", "Skip the first line; the decimal mark is a comma", "beginning: 1 line", {"what": ["bread", "milk"], "price": ["1.5", "2.25"]}),
    click("a title in another encoding", "Städte\nname,town,n\nJosé,Köln,1\nRené,Orléans,2\n", "cp1252.*; skip the first line", "beginning: 1 line", {"name": ["José", "René"], "town": ["Köln", "Orléans"], "n": ["1", "2"]}, encoding="cp1252"),
    click("padded titles and empty columns", f"People,,,,\n{TABLE.replace(chr(10), ',,' + chr(10))}", "Skip the first line; leave out what has neither", "beginning: 1 line"),
    click("a title above a line too long", f"People\n{TABLE.replace('Lyon', 'Lyon, France')}", "Skip the first line; mend the line", r"Mended.*\(5\)", people(town=["Rome", "Oslo", "Lyon, France", "Rome"])),
    click("row names and a total", f"name,age,town\n{numbered()},Total,148,\n", "call it 'row'; leave out the last record|Leave out", "fewer columns", ROWS),
    click("a title above no header", "Meetings,,\n2/28/2008,1:00,start\n2/29/2008,2:00,end\n3/1/2008,3:00,late\n", "Skip the first line; it is data", "no header", {"column 1": ["2/28/2008", "2/29/2008", "3/1/2008"], "column 2": ["1:00", "2:00", "3:00"], "column 3": ["start", "end", "late"]}),
    Case("packed", "x.csv.gz", lambda: gzip.compress(TABLE.encode()), PEOPLE),
    Case("packed in two parts, zeros behind", "x.csv", lambda: gzip.compress(TABLE[:20].encode()) + gzip.compress(TABLE[20:].encode()) + bytes(9), PEOPLE),
    Case("text named as an old workbook", "x.xls", lambda: TABLE.replace(",", "\t").encode(), PEOPLE),
    at_once("a very long cell", f"a,b\n{'x' * 140_000},1\ny,2\n", {"a": ["x" * 140_000, "y"], "b": ["1", "2"]}),
    click("zero characters", TABLE.replace("Bob", "Bob\0") + "\0\0", r"Leave out zero characters \(3\)", "Zero characters", page=True),
    click("a title above two columns of text", "Meetings\nday,place\nMon,here\nTue,there\nWed,here\n", "^Skip the first line$", "beginning: 1 line", {"day": ["Mon", "Tue", "Wed"], "place": ["here", "there", "here"]}, page=True),
    click("two titles above two columns of text", "Meetings\nof 2024\nday,place\nMon,here\nTue,there\nWed,here\n", "^Skip the first 2 lines$", "beginning: 2 lines", {"day": ["Mon", "Tue", "Wed"], "place": ["here", "there", "here"]}),
    click("a title and a blank line above two columns of text", "Meetings\n\nday,place\nMon,here\nTue,there\nWed,here\n", "^Skip the first 2 lines$", "beginning: 2 lines", {"day": ["Mon", "Tue", "Wed"], "place": ["here", "there", "here"]}),
    click("a padded title above two columns of text", "Meetings,\nday,place\nMon,here\nTue,there\nWed,here\n", "^Skip the first line$", "beginning: 1 line", {"day": ["Mon", "Tue", "Wed"], "place": ["here", "there", "here"]}),
    at_once("one column of text with commas", "name\nAbt, Ada\nBeck, Ben\nCole, Cleo\n", {"name": ["Abt, Ada", "Beck, Ben", "Cole, Cleo"]}),
    click("a title with a comma above two columns", "Meetings, all\nday,count\nMon,1\nTue,2\nWed,3\n", "^Skip the first line$", "beginning: 1 line", {"day": ["Mon", "Tue", "Wed"], "count": ["1", "2", "3"]}),
]  # fmt: skip

CASES = [*HEADERS, *RECORDS, *CELLS, *SEVERAL]
