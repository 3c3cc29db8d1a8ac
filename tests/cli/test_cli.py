"""The command line: what it prints, what it writes, how it refuses, and a new user's session in a real shell."""

import csv
import errno
import inspect
import json
import re
import shlex
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import microagg
from microagg import ALGORITHMS, datasets
from microagg.api import microaggregate
from microagg.cli import cli, exploring
from microagg.cli.flags import algorithm_flags, release_flags
from microagg.cli.group import working, write_files
from microagg.errors import DataError, ParameterError
from microagg.progress import checkpoint
from microagg.tables import WRITTEN_ENDINGS, read_file, read_table, write_table
from tests.cases import for_each
from tests.conftest import ROOT
from tests.release.common import smallest_class

ROLES = ["--qi", "age,income", "--confidential", "illness", "--drop", "name"]


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A file of forty people in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def write_people(path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"name": [f"P{i}" for i in range(40)], "age": rng.integers(18, 90, 40)})
    frame["income"] = rng.integers(10, 99, 40) * 100
    frame.assign(illness=rng.choice(["flu", "cold", "none"], 40)).to_csv(path, index=False)


def call(*words, code=0):
    """Run a command, make sure of its exit code, and return what it printed."""
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="microagg")
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def refused(*words):
    """Return the one sentence with which a command refuses."""
    done = call(*words, code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.strip()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_the_bytes_are_those_that_the_page_offers(people, ending):
    from pages.release import files as page

    call("run", "people.csv", "--k", 4, *ROLES, "--rounding", "file", "--method", "mdav", "--out", f"out{ending}")
    chosen = {"quasi_identifiers": ["age", "income"], "confidential": "illness", "identifiers": "name"}
    read = read_file(people)
    release = microaggregate(read.frame, k=4, method="mdav", rounding="file", **chosen)
    data, counted = page.written.__wrapped__(("test", ending), f"protected{ending}", release, read)
    assert counted.level == "ok"
    assert people.with_name(f"out{ending}").read_bytes() == data


def test_a_release_is_k_anonymous_and_has_the_parameters_of_its_method(people):
    flags = ["--method", "v-mdav", "--gamma", "0.7", "--out", "out.csv", "--recipe", "r.json"]
    done = call("run", "people.csv", "-k", 3, *ROLES, *flags)
    assert "40 records in" in done.stdout
    *thoughts, last = done.stderr.splitlines()
    assert last == "Written: out.csv, r.json"
    assert len(thoughts) == 2
    assert all(line.startswith("Warning: ") for line in thoughts)
    out = pd.read_csv("out.csv")
    assert list(out.columns) == ["age", "income", "illness"]
    assert smallest_class(out, ["age", "income"]) >= 3
    recipe = json.loads(people.with_name("r.json").read_text())
    assert (recipe["method"], recipe["params"]) == ("v-mdav", {"gamma": 0.7, "leftovers": "centroid"})
    call("replay", "r.json", "people.csv", "--out", "again.csv")
    assert people.with_name("again.csv").read_bytes() == people.with_name("out.csv").read_bytes()


@pytest.mark.parametrize("qi", ["age", "age,income", "age,income,illness"])
def test_without_a_method_it_is_the_least_loss_and_says_how_near_the_optimum(people, qi):
    roles = ["--qi", qi, *([] if "illness" in qi else ["--confidential", "illness"])]
    roles += ["--drop", "name,income"] if qi == "age" else ["--drop", "name"]
    exact = ["--rounding", "none"]
    done = call("run", "people.csv", "-k", 3, *roles, *exact, "--out", "out.csv", "--recipe", "r.json")
    proven = "so this is the optimum"
    assert re.search(proven if qi == "age" else rf"{proven}|\(gap [0-9.]+ %\)", done.stdout)
    text = people.with_name("r.json").read_text()
    assert json.loads(text)["params"] == {"effort": "moderate", "iterations": 0}
    assert not re.search("lower_bound|floor|seconds", text)
    call("replay", "r.json", "people.csv", "--out", "again.csv")
    assert people.with_name("again.csv").read_bytes() == people.with_name("out.csv").read_bytes()


def test_a_file_goes_out_as_it_came_in_and_is_verified_in_its_encoding(people):
    lines = [f"{20 + i};{1 + i},50;Übel {i % 3}" for i in range(40)]
    people.with_name("old.csv").write_bytes("\r\n".join(["Größe;cost;ill", *lines]).encode("cp1252"))
    reading = ["--read-encoding", "cp1252", "--read-decimal", ","]
    flags = ["--qi", "Größe,cost", "--confidential", "ill", "--method", "mdav", "--force"]
    call("run", "old.csv", "-k", 4, *reading, *flags, "--out", "out.csv", "--recipe", "r.json")
    header, *records = people.with_name("out.csv").read_bytes().decode("cp1252").split("\r\n")
    assert header == "Größe;cost;ill"
    assert all(re.fullmatch(r"\d\d;\d+,\d\d;Übel \d", record) for record in records)
    recipe = json.loads(people.with_name("r.json").read_text(encoding="utf-8"))
    assert (recipe["rounding"], recipe["written"]) == ("file", "original")
    assert call("verify", "out.csv", "--qi", "Größe,cost", "--k", 4, *reading[:2]).exit_code == 0
    assert "add --read-encoding cp1252" in call("verify", "out.csv", "--qi", "age", "--k", 4, code=2).stderr


def test_a_report_names_the_file_and_no_folder(people):
    reports = ["--report", "report.html", "--steward-report", "all.html"]
    done = call("run", people, "--k", 5, *ROLES, "--out", "out.csv", *reports, "--json")
    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert found["written"] == ["out.csv", "report.html", "all.html"]
    assert found["n_records"] == 40
    assert found["findings"][0]["code"] == "bytes"
    for name, notice in (("report.html", False), ("all.html", True)):
        report = people.with_name(name).read_text()
        assert ("For the data steward only" in report.splitlines()[0]) is notice
        assert "out.csv" in report
        assert "people.csv" in report
        assert str(people.parent) not in report


def test_what_must_be_known_holds_a_release_up(people):
    words = ["run", "people.csv", "--k", 5, "--qi", "age,income", "--out", "out.csv"]
    done = call(*words, code=1)
    assert "Problem: " in done.stderr
    assert "'name'" in done.stderr
    assert [path.name for path in people.parent.iterdir()] == ["people.csv"]
    codes = {finding["code"] for finding in json.loads(call(*words, "--json", code=1).stdout)["findings"]}
    assert "undecided" in codes
    accepting = [word for code in ("undecided", "k", "identifying") for word in ("--accept", code)]
    call(*words, *accepting, "--reason", "test data")
    assert smallest_class(pd.read_csv("out.csv"), ["age", "income"]) >= 5


def test_verify_counts_anybodys_file(people):
    rows = [("a", "1"), ("a", "1"), ("b", ""), ("b", ""), ("b", ""), ("b", "2")]
    with people.with_name("other.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows([("x", "y"), *rows])
    assert min(Counter(rows).values()) == 1
    done = call("verify", "other.csv", "--qi", "x,y", "--k", 2, code=1)
    assert "1 record of 6; 1 are" in done.stdout
    assert "2 records of 6." in call("verify", "other.csv", "--qi", "x", "--k", 2).stdout
    pd.DataFrame({"x": [1, 1, 2, 2]}).to_parquet("other.parquet")
    assert "2 records of 4." in call("verify", "other.parquet", "--qi", "x", "--k", 2).stdout
    found = json.loads(call("verify", "other.csv", "--qi", "x", "--qi", "y", "-k", 3, "--json", code=1).stdout)
    assert (found["holds"], found["smallest_class"], found["below_k"], found["unique"]) == (False, 1, 3, 1)
    people.with_name("head.csv").write_text("x,y\n")
    assert "has a header but no records" in refused("verify", "head.csv", "--qi", "x", "--k", 1)
    assert "--qi names no column" in refused("verify", ".", "--qi", "", "--k", 1)


@for_each("ending", [*WRITTEN_ENDINGS, "-cr.csv", "-utf-16.csv", "-sep.csv"])
def test_verify_reads_what_run_writes_and_only_a_verdict_has_exit_code_1(people, ending):
    file, text = people.with_name(f"file{ending}"), people.read_text()
    if ending in WRITTEN_ENDINGS:
        file.write_bytes(write_table(pd.read_csv(people), file.name))
    else:
        text = text.replace("\n", "\r") if "cr" in ending else f"sep=,\n{text}" if "sep" in ending else text
        file.write_bytes(text.encode("utf-16" if "utf" in ending else "utf-8"))
    call("run", file, "-k", 4, *ROLES, "--method", "mdav", "--out", f"out{ending}")
    assert "holds" in call("verify", f"out{ending}", "--qi", "age,income", "--k", 4).stdout
    assert "does not hold" in call("verify", f"out{ending}", "--qi", "age,income", "--k", 30, code=1).stdout
    data = people.with_name(f"out{ending}").read_bytes()
    for damaged in (data[: len(data) // 2] + b'"\xff\0', data[:7], b"", b"\0" * 900):
        people.with_name(f"bad{ending}").write_bytes(damaged)
        call("verify", f"bad{ending}", "--qi", "age,income", "--k", 4, code=2)


def test_a_fault_is_no_verdict(people, monkeypatch):
    monkeypatch.setattr("microagg.cli.verifying.as_written", lambda *_, **__: [][0])
    done = CliRunner().invoke(cli, ["verify", "people.csv", "--qi", "age", "--k", "4"])
    assert (done.exit_code, done.stdout) == (70, "")
    assert "fault of microagg (IndexError), not a result" in done.stderr


def test_verify_counts_what_is_guaranteed_beyond_k(people):
    people.with_name("other.csv").write_text("x,ill,pay\n1,a,1\n1,b,9\n2,a,2\n2,a,8\n")
    base = ("verify", "other.csv", "--qi", "x", "--k", 2, "--confidential", "ill,pay")
    held = call(*base, "--diversity", "pay=2", "--closeness", "ill=0.25").stdout
    assert "Holds: each class has at least 2 distinct values of 'pay'" in held
    broken = call(*base, "--diversity", "ill=entropy:1.5", code=1).stdout
    assert "Does not hold: a class has only 1 equally frequent values of 'ill'" in broken
    found = json.loads(call(*base, "--closeness", "pay=0.1", "--json", code=1).stdout)
    assert not found["holds"]
    # Cumulated shares are 1/2, 1/2, 1/2 in place of 1/4, 1/2, 3/4.
    assert found["guarantees"][0]["counted"] == pytest.approx((0.25 + 0 + 0.25) / 3)
    people.with_name("comma.csv").write_text("x;pay\n1;1,0\n1;1,00\n2;2,5\n2;8,5\n")
    commas = ("verify", "comma.csv", "--qi", "x", "--k", 2, "--confidential", "pay", "--read-decimal", ",")
    assert "a class has only 1 distinct values of 'pay'" in call(*commas, "--diversity", "pay=2", code=1).stdout
    people.with_name("folder").mkdir()
    assert "verify each of its files" in refused("verify", "folder", "--qi", "x", "--k", 2, "--diversity", "ill=2")


@for_each(
    ("words", "says"),
    [
        ("run people.csv --k 5 --qi agee", "Error: There is no column 'agee': did you mean 'age'?"),
        ("run people.csv --k 5 --qi AGE", "did you mean 'age'?"),
        ("verify people.csv --k 5 --qi incme", "did you mean 'income'?"),
        ("run nobody.csv --k 5", "There is no file 'nobody.csv'"),
        ("verify nobody.csv --k 5 --qi a", "There is no file 'nobody.csv'"),
        ("run people.csv --k 5 --out no/out.csv", "There is no folder 'no'"),
        ("run people.csv --k 5 --out people.csv --force", "named twice"),
        ("run people.csv --k 5 --out a.csv --recipe a.csv", "named twice"),
        ("run people.csv --k 5 --out out.doc", "must end in .csv"),
        ("run people.csv --k 5 --report out.html", "add --out"),
        ("run people.csv --k five", "'five' is not a valid integer"),
        ("run people.csv --k 50 --qi age,income --confidential illness --drop name", "40 records, fewer than k=50"),
        ("run people.csv", "Missing option"),
        ("run --k 5", "name a file, or a data set"),
        ("run people.csv --data toy --k 5", "and not both"),
        ("run people.csv --k 5 --method mdavv", "did you mean mdav"),
        ("run people.csv --k 5 --gamma 1", "has no flag --gamma"),
        ("run people.csv --k 5 --method v-mdav --gamma -1", "Error: --gamma must be at least 0.0"),
        ("run people.csv --k 5 --dates birth=year", "There is no column 'birth'"),
        ("run people.csv --k 5 --gama 1", "'--gamma'"),
        ("run people.csv --k 5 --shuffle=people.csv", "'people.csv' is neither a seed nor 'recorded'"),
        ("replay people.csv people.csv", "is not a recipe"),
        ("certify people.csv", "cannot be read as a certificate (it is damaged, or a file of another kind)"),
        ("certify .", "'.' cannot be read as a certificate (Is a directory)"),
        ("certify none.npz", "'none.npz' cannot be read as a certificate (No such file or directory)"),
        ("replay nothing.json people.csv", "recipe 'nothing.json' cannot be read"),
        ("sweep people.csv --k 2-1 --qi age", "runs backward"),
        ("sweep people.csv --k 2 --qi age --gamma 1", "none of the algorithms has a flag --gamma"),
        ("sweep people.csv --k 2 --qi age --method ,", "--method names no algorithm"),
        ("steps people.csv --qi age --method tfrp-1", "is not explained step by step"),
        ("steps people.csv --qi age --by illness", "No such option '--by'"),
        ("bound people.csv --qi illness --k 999", "k"),
        ("bound people.csv --qi age --k 2 --weights income", "No such option '--weights'"),
        ("sweep people.csv --qi age --k 2 --weights income", "none of the algorithms has a flag --weights"),
        ("methods mdavv", "did you mean"),
        ("run --data toy --k 3 --read-decimal ,", "--read-decimal says how a file is read"),
        ("run people.csv --k 3 --data-seed 1", "--data-seed is for generated data sets"),
        ("run people.csv --k 3 --block-size 9", "--block-size needs --engine dask"),
        ("run --data simu --k 3 --data-seed -1", "Error: --data-seed must"),
        ("run people.csv --k 3 --read-delimiter=", "Error: --read-delimiter must"),
        ("run people.csv --k 3 --read-sheet a", "Error: --read-sheet is not for .csv files such as 'people.csv'"),
        ("run --data wnie --k 3", "did you mean 'wine'?"),
        ("sweep --data toy --k 12", "Error: k can be at most 11"),
        ("rum", "No such command 'rum'"),
        ("reproduce Kabir --table IV", "Error: --table must name one of"),
        ("verify people.csv --qi age --k 0", "k must be at least 1"),
        ("verify people.csv --qi , --k 2", "--qi names no column"),
        ("verify people.csv --qi age --k 2 --diversity illness=2", "name it with --confidential"),
        ("verify people.csv --qi age --k 2 --confidential illness --diversity illness=x", "Error: --diversity of"),
        ("dashboard nobody.csv", "There is no file 'nobody.csv'"),
    ],
)
def test_bad_input_is_one_sentence(people, words, says):
    assert says.lower() in refused(*words.split()).lower()
    assert [path.name for path in people.parent.iterdir()] == ["people.csv"]


def test_a_printed_table_is_computed(tmp_path):
    assert "Table II: Census (48 figures)" in call("reproduce").stdout
    done = call("reproduce", "Thaeter", "--table", "One-dim", "--out", tmp_path / "figures.csv")
    assert "2 of 2 figures" in done.stderr
    assert list(pd.read_csv(tmp_path / "figures.csv", dtype=str)["ours"]) == ["1.44", "0.118"]


def test_a_file_is_overwritten_only_by_force(people):
    people.with_name("out.csv").write_text("mine")
    words = ["run", "people.csv", "--k", 5, *ROLES, "--out", "out.csv"]
    assert "add --force" in refused(*words)
    assert people.with_name("out.csv").read_text() == "mine"
    call(*words, "--force")
    assert len(pd.read_csv("out.csv")) == 40


def test_what_another_command_has_written_meanwhile_is_kept(tmp_path):
    out, gone = tmp_path / "out.csv", tmp_path / "gone" / "second.csv"
    with pytest.raises(DataError, match=r"there is no folder '.*gone'"):
        write_files({str(out): b"1", str(gone): b"2"}, force=False)
    assert list(tmp_path.iterdir()) == []
    out.write_text("of the other command")
    with pytest.raises(ParameterError, match="already exists"):
        write_files({str(out): b"1", str(tmp_path / "new"): b"2"}, force=False)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.csv": "of the other command"}


def test_a_full_disk_leaves_no_half_file(people, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("microagg.cli.group.os.fsync", full)
    words = ["run", "people.csv", "--k", 5, *ROLES, "--out", "out.csv", "--recipe", "r.json"]
    assert "'out.csv' cannot be written (No space left on device)" in refused(*words)
    assert [path.name for path in people.parent.iterdir()] == ["people.csv"]


def test_a_file_that_is_not_read_is_shown_with_the_flags_that_read_it(people):
    text = people.read_text()
    people.write_text("People\n" + text.replace("P7,", "P7,Dr. X,") + "Source: register\n")
    words = ["run", "people.csv", "--k", 5, *ROLES, "--out", "out.csv", "--report", "report.html"]
    done = call(*words, code=2)
    assert ">     1 | People\n" in done.stderr
    first = re.search("To read it, add (.+?) [(]Skip the first line and the last one; mend", done.stderr)[1]
    done = call(*words, *shlex.split(first))
    assert "1 line (10)" in done.stderr
    assert len(read_table("out.csv")) == 40
    # The report has the sentences, and none of the lines.
    report = Path("report.html").read_text(encoding="utf-8")
    for says in ("beginning: 1 line", "1 line (10)", "end: 1 line"):
        assert says in report, says
    assert "Source: register" not in report


def test_every_argument_and_every_parameter_is_a_flag():
    help_text = " ".join(call("run", "--help").stdout.split())
    parameters = inspect.signature(microaggregate).parameters.values()
    arguments = [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    others = {"labels", "method_params", "out", "client", "against"}
    assert {flag.name for flag in release_flags()} == set(arguments) - others
    known = {flag.name.removeprefix("param_") for flag in algorithm_flags()}
    assert known == {param.name for cls in ALGORITHMS.values() for param in cls.params}
    reading = set(inspect.signature(read_file).parameters) - {"source", "name"}
    for name in [*arguments, *known, *(f"read_{name}" for name in reading)]:
        flag = re.search(rf"--{name.replace('_', '-')}\b", help_text)
        assert flag or name in ("labels", "method_params", "client"), name


@pytest.mark.parametrize("command", list(cli.list_commands(None)))
def test_every_command_has_an_example(command):
    text = call(command, "--help").stdout
    assert f"microagg {command}" in text.partition("Example")[2]


def test_a_data_set_brings_its_roles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("run", "--data", "wine", "--k", 5, "--out", "wine.csv", "--recipe", "r.json")
    wine = datasets.load("wine")
    recipe = json.loads((tmp_path / "r.json").read_text())
    assert recipe["quasi_identifiers"] == list(wine.quasi_identifiers)
    assert recipe["confidential"] == ["target"]
    first = wine.quasi_identifiers[0]
    found = json.loads(call("run", "--data", "wine", "--k", 5, "--qi", f"{first},target", "--json").stdout)
    assert found["n_records"] == 178


def test_shuffle_takes_a_seed_or_none(people):
    words = ["run", "people.csv", "--k", 4, *ROLES, "--recipe", "r.json", "--out", "o.csv", "--force", "--shuffle"]
    for after, says in (([], "another order"), (["recorded"], "holds its seed"), ([7], "")):
        out = call(*words, *after)
        assert says in out.stdout
        assert ("seed below 2**64" in out.stderr) == (after == [7])
        file, seed = Path("o.csv").read_bytes(), json.loads(Path("r.json").read_text())["shuffle"]
        assert seed is True if not after else seed == 7 if after == [7] else seed >= 2**64
        assert says in call("replay", "r.json", "people.csv", "--out", "again.csv", "--force").stdout
        assert (Path("again.csv").read_bytes() == file) == (after != [])
        assert sorted(Path("again.csv").read_bytes().splitlines()) == sorted(file.splitlines())


def test_sweep_agrees_with_the_package(people):
    words = ["sweep", "people.csv", "--qi", "age,income", "--method", "mdav,v-mdav", "--gamma", "0,0.5", "-k2", "-k3"]
    call(*words, "--out", "table.csv")
    table = pd.read_csv("table.csv")
    X = microagg.standardize(pd.read_csv("people.csv")[["age", "income"]])
    for row in table.itertuples():
        settings = [{}] if row.method == "mdav" else [{"gamma": 0.0}, {"gamma": 0.5}]
        labels = [microagg.make(row.method, k=row.k, **params).fit_predict(X) for params in settings]
        least = min(microagg.metrics.information_loss(X, one) for one in labels)
        assert row.information_loss == pytest.approx(least, rel=1e-12)
    assert table[["method", "k"]].to_numpy().tolist() == [[key, k] for key in ("mdav", "v-mdav") for k in (2, 3)]
    assert len(json.loads(call(*words, "--json").stdout)["rows"]) == 4


def test_bound_meets_the_optimum(people):
    # Eleven numbers in groups of 3: dynamic programming gives 0.118 %.
    found = json.loads(call("bound", "--data", "toy", "--k", 3, "--json").stdout)
    X = datasets.load("toy").X
    least = 100 * microagg.optimum.bounds.exact(X, 3)[0] / float(((X - X.mean(axis=0)) ** 2).sum())
    assert found["information_loss"] == pytest.approx(least, rel=1e-6)
    # Of categories it is one on Total-IL.
    flags = ["people.csv", "--qi", "age,illness", "--k", 3]
    found = json.loads(call("bound", *flags, "--json").stdout)
    lost = json.loads(call("run", *flags, "--method", "k-member", "--json").stdout)["generalization"]
    assert found["converged"]
    assert 0 < found["total_information_loss"] <= lost["total_information_loss"]
    assert f"{found['information_loss']:.4g} %" in call("bound", *flags).stdout
    # Within strata it is the one in the report.
    flags = ["people.csv", "--qi", "age,income", "--by", "illness", "--json", "--k"]
    found = json.loads(call("bound", *flags, 3).stdout)
    lost = json.loads(call("run", *flags, 3, "--method", "mdav-star").stdout)["loss"]
    assert found["information_loss"] == pytest.approx(lost["lower_bound"])
    assert not found["optimal"]
    assert "fewer than k=20" in refused("bound", *flags, 20)


def test_risk_measures_a_release_beside_its_original(people):
    call("run", "people.csv", "--k", 4, *ROLES, "--out", "out.csv", "--recipe", "r.json")
    found = json.loads(call("risk", "r.json", "people.csv", "--json").stdout)
    linked = next(figure for figure in found["figures"] if figure["measure"] == "record_linkage")
    assert 0.0 < linked["after"] <= 1 / 4
    assert "nearest" in call("risk", "r.json", "people.csv").stdout


def test_an_earlier_release_holds_the_next_one_up(people):
    by = ["run", people, "--method", "mdav", *ROLES]
    call(*by, "--k", 4, "--out", "first.csv", "--recipe", "first.json")
    again = [*by, "--k", 5, "--out", "next.csv"]
    for earlier in ("first.json", "first.csv"):
        done = call(*again, "--against", earlier, code=1)
        assert "(to release despite it, add --accept releases and --reason TEXT)" in done.stderr
        assert not Path("next.csv").exists()
    found = json.loads(call(*again, "--against", "first.json", "--json", code=1).stdout)
    assert found["joint"]["narrowed"] > 0
    assert str(found["joint"]["narrowed"]) in done.stderr
    call(*again, "--against", "first.json", "--accept", "releases", "--reason", "withdrawn", "--recipe", "next.json")
    assert "against" not in json.loads(Path("next.json").read_text(encoding="utf-8"))
    both = call("risk", "next.json", people, "--against", "first.json").stdout
    assert f"(1 in {found['joint']['smallest']})" in both
    assert "named twice" in refused(*by, "--k", 5, "--out", "first.csv", "--against", "first.csv", "--force")
    assert "--against" in refused(*by, "--k", 5, "--engine", "dask", "--out", "parts", "--against", "first.json")


def test_steps_are_those_of_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("steps", "--data", "toy", "--method", "v-mdav", "--gamma", "0.3")
    texts = [step.text for step in microagg.explain.steps("v-mdav", datasets.load("toy").X, k=3, gamma=0.3)]
    assert [line[6:] for line in done.stdout.splitlines()] == texts
    call("steps", "--data", "toy", "--html", "toy.html")
    assert "<!doctype html>" in (tmp_path / "toy.html").read_text()


def test_the_dashboard_begins_with_a_file(people, monkeypatch):
    asked = []
    monkeypatch.setattr(exploring.subprocess, "call", lambda words, env: asked.append((words, env)) or 0)
    monkeypatch.delenv("MICROAGG_FILE", raising=False)
    call("dashboard")
    call("dashboard", "people.csv", "--port", "8555", "--no-browser")
    assert [words[5:] for words, _ in asked] == [
        [str(ROOT / "app.py"), "--server.headless", "false"],
        [str(ROOT / "app.py"), "--server.headless", "true", "--server.port", "8555"],
    ]
    here = Path.cwd().resolve()
    assert [env.get("MICROAGG_FILE") for _, env in asked] == [None, str(here / "people.csv")]
    assert "no file '.'" in refused("dashboard", ".")
    monkeypatch.setattr(exploring.importlib.util, "find_spec", lambda name: None)
    assert 'needs streamlit and plotly: pip install "microagg[dashboard]"' in refused("dashboard")


def test_suppressed_cells_are_never_counted_in_silence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = ["*" if i % 5 == 0 else str(100 + i * 7 % 90) for i in range(120)]
    pd.DataFrame({"n": cells, "x": range(120)}).to_csv("cells.csv", index=False)
    words = ("run", "cells.csv", "--k", 5, "--qi", "n,x", "--method", "mondrian")
    assert "'n' is nominal, though 72 of 73 categories are numbers" in call(*words).stderr
    chosen = ("--numbers", "n", "--missing-codes", "n=*", "--missing", "drop", "--shuffle", "--out", "out.csv")
    assert "is nominal" not in call(*words, *chosen).stderr
    released = pd.read_csv("out.csv")["n"]
    assert (len(released), pd.api.types.is_numeric_dtype(released)) == (96, True)
    assert "'*' in record 0" in refused(*words, "--numbers", "n")


def test_a_log_tells_how_far_a_run_is(monkeypatch, capsys):
    times = iter([0.0, 31.0, 40.0, 61.0])
    monkeypatch.setattr("microagg.cli.group.time", SimpleNamespace(monotonic=lambda: next(times)))
    with working("Grouping"):
        for share in (0.25, 0.3, 0.5):
            checkpoint("moving records", share)
    lines = ["Grouping: moving records, 25% …", "Grouping: moving records, 50%, 30 s left …"]
    assert capsys.readouterr().err.splitlines() == lines
