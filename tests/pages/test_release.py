"""The page Release: problems block what must not leave, the files are what was counted, records stay paired."""

import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, metrics, replay
from microagg.progress import Cancelled
from microagg.release import compare_with, predicted_linkage
from microagg.release import release as releases
from microagg.studies import landscape
from microagg.studies.experiment import Method, run_one
from microagg.tables import write_table
from pages.choose_k import search
from pages.release import before_after, files
from pages.shared import certificate, jobs, released
from pages.shared.limits import written
from pages.shared.text import percent
from tests.messy import messy_csv
from tests.pages.helpers import (
    FRAME,
    SURVEY,
    choose,
    labels,
    open_page,
    open_survey,
    plain,
    press,
    settle,
    unescaped,
    upload,
    visit,
)
from tests.pages.helpers import metrics as tiles
from tests.pages.helpers import roles as roles_of

NUMBERS = ("age", "household_size", "rent")


def roles(names=tuple(FRAME), quasi=NUMBERS, **others):
    """Return the address's words by which the numbers ``quasi`` are the quasi-identifiers, and the rest is left out."""
    return roles_of(dict.fromkeys(quasi, "number"), names, **others)


@pytest.fixture
def seen(monkeypatch):
    """Return what the page drew last: its release and the bytes of the protected file."""
    last = SimpleNamespace()
    draw = files.show

    def show(workspace, release, data, *, ready):
        last.workspace, last.release, last.data, last.ready = workspace, release, data, ready
        draw(workspace, release, data, ready=ready)

    monkeypatch.setattr(files, "show", show)
    return last


def downloads(app):
    """Return whether the protected file can be downloaded, which the verdict says, too."""
    [protected] = [d.proto for d in app.get("download_button") if d.proto.label.startswith("Download ")]
    assert ("Blocked" in verdict(app)) is protected.disabled
    return not protected.disabled


def verdict(app):
    """Return the verdict without its icon."""
    return app.header[0].value.partition(" ")[2]


def findings(app, color, words=""):
    """Return the findings in a color that have these words."""
    said = [unescaped(line.value) for line in app.markdown if line.value.startswith(f":{color}[")]
    return [line for line in said if words in line]


def test_columns_that_tell_who_is_who_block_the_release_until_left_out_or_overridden(seen):
    frame = FRAME[["age", "education"]].assign(level=FRAME["education"].map(len), serial=range(300, 0, -1))
    columns = roles_of({"age": "number", "education": "category"}, frame.columns, "other")
    app = upload("a.csv", frame.to_csv(index=False).encode(), "release", columns=columns, k="5")
    first, *others = findings(app, "red")
    assert "serial" in first
    assert len(others) == 2
    assert all("'level'" in line and "'education'" in line for line in others)
    assert not downloads(app)
    press(app, "Leave out level")
    [red] = findings(app, "red")
    assert "serial" in red
    assert "level" not in seen.release.frame
    app.text_input[0].set_value("Contract forbids linking").run()
    press(app, "Override this problem")
    assert downloads(app)
    assert not app.error
    assert "The reason given: Contract forbids linking." in plain(app)
    assert app.query_params["overridden"].endswith(":Contract forbids linking")
    press(app, "Take back the override")
    assert "overridden" not in app.query_params
    assert not downloads(app)
    press(app, "Leave out serial")
    assert findings(app, "red") == []
    assert downloads(app)


def test_guesses_block_the_release_until_they_are_agreed_to(seen):
    app = open_survey("release", k="5")
    [red] = findings(app, "red")
    assert "'person_id', 'region'" in red
    assert not downloads(app)
    press(app, "Accept suggestions")
    assert findings(app, "red") == []
    assert downloads(app)
    assert verdict(app).startswith("Ready with conditions: ")
    # A column that the quasi-identifiers predict raises the risk above that of k.
    risk = 100 * seen.release.report.risk.max_reidentification_probability
    assert (tiles(app)["k"], tiles(app)["Risk"], tiles(app)["Records"]) == ("5", written(risk, 20.0), "300")
    assert risk > 20
    assert findings(app, "orange", "which raises it from 20 %")
    assert not [own.key for own in app.button if (own.key or "").startswith("cure_risk")]  # another k does not help


def test_an_earlier_release_blocks_the_next_one(seen):
    open_page("release", data="wine", k="5", method="mdav")
    earlier = seen.release
    app = open_page("release", data="wine", k="7", method="mdav")
    for name, content in (("earlier.json", json.dumps(earlier.recipe)), ("earlier.csv", earlier.frame.to_csv())):
        app.file_uploader(key="w_earlier").upload(name, content.encode())
        assert not downloads(settle(app))
    assert findings(app, "red", "cannot be compared")
    app.file_uploader(key="w_earlier").upload("earlier.csv", earlier.frame.to_csv(index=False).encode())
    settle(app)
    visit(app, "clusters")
    visit(app, "release")
    joint = compare_with(seen.release, earlier).report.joint
    [red] = findings(app, "red", "earlier release")
    assert f"{joint.narrowed:,} of 178 records ({joint.alone:,} alone)" in red
    assert tiles(app)["Risk"] == written(100 / joint.smallest, 20.0)
    app.text_input(key="reason_releases_").set_value("withdrawn").run()
    press(app, "Override this problem")
    assert "The reason given: withdrawn." in seen.release.report.summary()
    press(app, "Remove the earlier release")
    assert not findings(app, "red", "earlier release")
    assert seen.release.report.joint is None


def test_weights_that_are_kept_are_a_problem_with_a_remedy(seen):
    app = upload("messy.csv", messy_csv(), "release", weights="keep", k="5")
    press(app, "Accept suggestions")
    assert findings(app, "red", "'weight'")
    press(app, "mean weight")
    assert not findings(app, "red", "'weight'")
    before = pd.read_csv(io.BytesIO(messy_csv()))["weight"].drop(list(seen.release.report.dropped))
    weights = seen.release.frame["weight"].groupby(seen.release.partition.labels)
    assert (weights.nunique() == 1).all()
    assert weights.sum().sum() == pytest.approx(before.sum())


def test_a_loss_above_the_limit_is_a_warning_whose_fixes_are_tried():
    app = open_survey("release", columns=roles(), k="10", limit="1")
    assert len(findings(app, "orange", "The loss is above its limit")) == 1
    press(app, "Suggest fixes")
    form = r"([\d.]+) % instead of ([\d.]+) % on the other quasi-identifiers(?:; ([\d.]+) % in all)?$"
    said = [found for own in app.caption if (found := re.search(form, unescaped(own.value)))]
    gains = [float(unchanged) - float(loss) for loss, unchanged, _ in (found.groups() for found in said)]
    assert gains == pytest.approx(sorted(gains, reverse=True), abs=0.2)
    assert min(gains) >= 0
    helpful = [own for own in app.button if (own.key or "").startswith("help_")]
    assert len(helpful) == len(gains)
    # A click does it, and then the page says what was said before.
    helpful[0].click()
    assert findings(settle(app), "orange", "The loss is above its limit")
    assert float(tiles(app)["Loss"].removesuffix(" %")) == pytest.approx(float(said[0][3] or said[0][1]), rel=0.01)
    press(app, "Suggest fixes")
    assert "Loss as it is: " in plain(app)
    assert "Loss as it is: " not in plain(choose(app, w_k_chosen=2))
    within = open_survey("release", columns=roles(), k="10", limit="99")
    assert findings(within, "green", "The loss is within its limit")
    assert [tile.delta for tile in within.metric if tile.label == "Loss"] == ["✓ limit 99 %"]


def test_confidential_numbers_that_identify_are_rounded_by_a_click(seen):
    app = open_survey("release", columns=roles(household_income="confidential"), k="5")
    assert len(findings(app, "orange", "'household_income' has")) == 1
    label = next(label for label in labels(app) if "household_income by intervals of" in label)
    forms = (r"intervals of ([\d,]+),", r"(\d+) values instead")
    width, says = (int(re.search(form, label)[1].replace(",", "")) for form in forms)
    press(app, label)
    released = pd.read_csv(io.BytesIO(seen.data))["household_income"]
    assert released.nunique() == says == (FRAME["household_income"].dropna() // width).nunique()
    assert not findings(app, "orange", "'household_income' has")


@pytest.mark.parametrize("how", ["numbers", "categories", "found"])
def test_one_confidential_value_in_a_class_has_a_remedy(monkeypatch, seen, how):
    given = {"columns": roles(satisfaction="confidential"), "k": "2"}
    quasi = list(NUMBERS)
    if how == "categories":
        quasi = ["age", "rent", "region"]
        kinds = {"age": "number", "rent": "number", "region": "category"}
        given["columns"] = roles_of(kinds, satisfaction="confidential")
    if how == "found":
        monkeypatch.setattr(certificate, "best", lambda own, k: run_one(own.problem, Method("mdav-plus"), k))
        given["method"] = "found"

    def least_diverse():
        return pd.read_csv(io.BytesIO(seen.data), dtype=str).groupby(quasi)["satisfaction"].nunique().min()

    app = open_survey("release", **given)
    same = "'satisfaction' is the same for everyone"
    assert findings(app, "orange", same)
    assert least_diverse() == 1
    press(app, "Have at least 2 values in each class")
    assert not app.error
    assert app.query_params["diversity"] == "satisfaction=2"
    assert least_diverse() == 2
    assert not findings(app, "orange", same)
    assert findings(app, "green", "at least 2 distinct values of 'satisfaction'")
    assert app.number_input(key="w_distinct").value == 2


def test_what_is_guaranteed_is_chosen_by_hand_and_refused_with_the_nearest(seen):
    app = open_page("release", data="wine", k="5")
    choose(app, w_closeness=0.3)
    choose(app, w_entropy=1.5)
    assert (app.query_params["diversity"], app.query_params["closeness"]) == ("target=entropy:1.5", "target=0.3")
    guaranteed = [(own.rule, own.requested) for own in seen.release.report.guaranteed]
    assert guaranteed == [("entropy", 1.5), ("closeness", 0.3)]
    assert all(own.holds for own in seen.release.report.guaranteed)
    assert "1.5 equally frequent values of 'target'" in plain(app)
    assert "ask for 3 or less" in plain(choose(app, w_distinct=4))
    choose(app, w_distinct=None)
    assert not app.error
    assert "diversity" not in app.query_params
    assert [own.rule for own in seen.release.report.guaranteed] == ["closeness"]


@pytest.mark.parametrize("how", [{"method": "mdav"}, {"method": "mdav", "statistic": "ancestor"}])
def test_outliers_are_left_out_by_a_click_and_come_back(seen, how):
    frame = FRAME[list(NUMBERS)].astype({"rent": float})
    frame.loc[[7, 200], "rent"] = [90_000.0, 95_000.5]
    frame.loc[11, "rent"] = np.nan
    app = upload("rents.csv", frame.to_csv(index=False).encode(), "release", columns=roles(tuple(frame)), k="4", **how)
    assert len(findings(app, "orange", "There are outliers")) == 1
    before = seen.release
    assert len(before.frame) == len(frame) - 1
    press(app, "Leave out 2 records: rent above")
    assert not app.error
    after = seen.release
    assert set(after.report.dropped) == {7, 11, 200}
    assert not findings(app, "orange", "There are outliers")
    # It stands in the recipe, the program and, without the values, the report.
    [[name, changes]] = after.recipe["recode"]
    [limit] = changes
    assert (name, changes[limit]) == ("rent", None)
    assert replay(seen.workspace.table.original.frame, after.recipe).frame.equals(after.frame)
    assert limit in after.script(file="rents.csv")
    assert "'rent' (1 change)." in [choice["how"] for choice in after.to_dict()["choices"]]
    press(app, "Undo")
    assert set(seen.release.report.dropped) == {11}
    assert seen.release.frame.equals(before.frame)


def test_shuffled_records_stay_beside_their_own_release(seen, monkeypatch):
    app = open_survey("release", columns=roles(), k="5", exact="1")
    before = list(seen.release.frame["age"])
    assert paired(app)
    press(app, "Shuffle rows")
    assert app.query_params["shuffle"] == "1"
    shuffled = seen.release.frame
    assert list(shuffled["age"]) != before
    assert sorted(shuffled["age"]) == sorted(before)
    assert paired(app)
    assert not findings(app, "orange", "order")
    press(app, "Keep the row order of the file")
    assert list(seen.release.frame["age"]) == before
    monkeypatch.setattr(jobs, "_MOST_OUTCOMES", 1)
    choose(app, w_exact=False)
    choose(app, w_exact=True)
    press(app, "Shuffle rows")
    assert seen.release.frame.equals(shuffled)  # made again, in the same order
    choose(app, w_recorded=True)
    assert app.query_params["shuffle"] == "recorded"
    assert str(seen.release.recipe["shuffle"]) in app.code[0].value
    pd.testing.assert_frame_equal(replay(FRAME, seen.release.recipe).frame, seen.release.frame)


def table_with(app, column):
    """Return the table that has a column of this name, once the folded ones are opened."""
    app.session_state["side_by_side"] = app.session_state["attributes"] = True
    settle(app)
    [table] = [frame.value for frame in app.dataframe if column in frame.value]
    return table


def paired(app):
    """Return whether each group of the table side by side has the means of the values before."""
    table = table_with(app, "group")
    whole = table[table["group"] < table.iloc[-1]["group"]]
    assert len(whole) > 40
    before = whole[[f"{name} " for name in NUMBERS]].apply(pd.to_numeric)
    released = whole[[f"→ {name}" for name in NUMBERS]].apply(pd.to_numeric)
    return np.allclose(before.groupby(whole["group"]).transform("mean"), released, rtol=1e-5)


def test_integers_stay_whole_unless_all_digits_are_kept(seen):
    app = open_survey("release", columns=roles(), k="5")
    assert {str(dtype) for dtype in seen.release.frame[list(NUMBERS)].dtypes} == {"int64"}
    assert "Methods are compared by exact group means" in plain(visit(app, "choose_k"))
    choose(visit(app, "release"), w_exact=True)
    assert "Methods are compared" not in plain(app)
    assert "." in pd.read_csv(io.BytesIO(seen.data), dtype=str)["age"].str.cat()


@pytest.mark.parametrize("k", ["90", "179"])
def test_a_k_that_is_too_large_has_a_cure(k):
    """All 178 records form one group, or none."""
    app = open_page("release", data="wine", k=k)
    assert "Choose another k →" in [own.label for own in app.button]


def test_risk_and_utility_stand_before_and_after_and_the_rest_in_tables(seen, monkeypatch):
    app = open_page("release", data="wine", k="4", risk_limit="20")
    found, shown = seen.release.assess(), tiles(app)
    assert shown["Records linked by distance"] == percent(100 * found.of("record_linkage")[0].after)
    assert app.metric[list(shown).index("Records linked by distance")].delta == "before: 100 %"
    assert (shown["Risk"], shown["Loss"]) == ("25 %", percent(found.of("information_loss")[0].after))
    assert [tile.delta for tile in app.metric if tile.label == "Risk"] == ["⚠ limit 20 %"]
    assert findings(app, "orange", "The risk is above its limit. Groups of at least 5 records")
    assert verdict(app) == f"Ready with conditions: risk above the limit, {len(findings(app, 'orange')) - 1} warnings"
    # All that does not stand out stands in a table, with its sentence.
    tables = [frame.value for frame in app.dataframe if "sentence" in frame.value]
    of_verdict = {"k", "Risk", "Loss", "Records"}
    assert sum(map(len, tables)) + len(shown.keys() - of_verdict) == len(found.figures)
    columns = ["attribute", "hellinger", "sd_ratio"]
    pd.testing.assert_frame_equal(table_with(app, "lost")[columns], found.attributes[columns], check_dtype=False)
    table = table_with(app, "lost").set_index("attribute")
    assert table["lost"].tolist() == sorted(seen.release.report.lost.values(), reverse=True)
    assert plain(app).count(f"{table.index[0]} has the highest loss: ") == 1
    # One that loses too little for it can still be looked at.
    monkeypatch.setattr(before_after, "_SHOWN_CHANGES", 2)
    app = open_page("release", data="wine", k="5", risk_limit="20")
    assert not findings(app, "orange", "limit")
    assert findings(app, "green", "The risk is within its limit")
    assert table_with(app, "lost")["attribute"].size == 2
    other = next(name for name in table.index if name not in set(table_with(app, "lost")["attribute"]))
    assert f"{other}: the spread shrinks by" in plain(choose(app, w_release_attribute=other))


def test_the_best_known_partition_of_a_benchmark_is_released_and_replays(seen):
    none = open_page("release", data="wine", scale="none", k="3", method="found")
    assert "No search has been made at k = 3" in plain(none)
    assert not none.get("download_button")
    open_page("release", data="census", k="5", method="found")
    best, release = landscape.best("census", 5), seen.release
    assert release.partition.labels.tolist() == best.partition.labels.tolist()
    assert release.report.loss.information_loss == pytest.approx(best.information_loss, rel=0.01)  # means are rounded
    assert replay(seen.workspace.table.frame, release.recipe).export("protected.csv")[0] == seen.data


def search_for(monkeypatch, k, **query):
    """Open Choose k with the survey, search at k, and take what has been found."""
    monkeypatch.setattr(search, "SECONDS", 2)
    app = open_survey("choose_k", k=str(k), risk_limit="0", **query)
    press(app, "Search for 2 s")
    press(app, "Use the best known partition")
    assert f"Best known at k = {k}: gap" in plain(app)
    visit(app, "release")
    assert not app.error
    return app


def test_of_an_own_file_the_best_found_is_offered(monkeypatch, seen):
    app = search_for(monkeypatch, 4, columns=roles(), ks="3-5")
    own = run_one(seen.workspace.problem, Method("mdav-star"), 4)
    loss = metrics.information_loss(seen.workspace.X, seen.release.partition.labels)
    assert loss < own.information_loss
    assert replay(seen.workspace.table.frame, seen.release.recipe).frame.equals(seen.release.frame)
    # Clusters and the list of methods follow; another method that is chosen stays chosen.
    visit(app, "clusters")
    assert "**Best known**: gap" in plain(app)
    picker = choose(app, w_method_chosen="mdav").selectbox(key="w_method_chosen")
    assert picker.value == "mdav"
    assert "Best known" in picker.options


def test_a_file_that_cannot_be_written_or_checked_is_blocked_by_one_problem(monkeypatch):
    for failing in ("write_like", "check_export"):

        def fail(*args, failing=failing, **named):
            raise DataError(f"column '*b*' stops {failing}: leave it out.")

        with monkeypatch.context() as patched:
            patched.setattr(releases, failing, fail)
            # Another k each time, for what was written is kept.
            app = open_survey("release", columns=roles(), k=str(4 + len(failing)))
            assert findings(app, "red", f"Column '*b*' stops {failing}: leave it out.")
            assert not downloads(app)


def test_an_uploaded_workbook_goes_out_as_one_with_ranges_in_two_columns(seen):
    content = write_table(FRAME, "survey.xlsx")
    given = {"columns": roles(), "k": "5", "method": "mdav", "statistic": "set", "ranges": "columns"}
    app = upload("survey.xlsx", content, "release", **given)
    assert app.session_state["choices"].release.format == ".xlsx"
    written = pd.read_excel(io.BytesIO(seen.data))
    assert (written["rent_lower"] <= written["rent_upper"]).all()
    assert "original.frame" in app.code[0].value
    choose(app, w_ranges="middle")
    assert pd.api.types.is_integer_dtype(pd.read_excel(io.BytesIO(seen.data))["rent"])


def test_the_program_shown_writes_the_same_bytes(seen, tmp_path, monkeypatch):
    (tmp_path / "survey.csv").write_bytes(SURVEY.read_bytes())
    monkeypatch.chdir(tmp_path)
    app = open_survey("release", k="7", shuffle="recorded", statistic="set")
    exec(compile(app.code[0].value, "shown", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "survey_protected.csv").read_bytes() == seen.data


def test_nothing_is_written_or_compared_again_while_the_release_stays(seen, monkeypatch):
    calls = []
    write = releases.write_like
    monkeypatch.setattr(releases, "write_like", lambda frame, *how: calls.append(how[0]) or write(frame, *how))
    app = open_survey("release", columns=roles(), k="5")
    choose(app, w_release_attribute="rent")
    assert calls == ["survey_protected.csv"]


def test_models_of_columns_are_learned_once_for_all_k(seen, monkeypatch):
    app = open_survey("release", k="5")
    monkeypatch.setattr(predicted_linkage, "_cross_validated", None)
    choose(app, w_k_chosen=7)
    assert seen.release.report.k == 7
    assert seen.release.report.risk.predicted


def test_a_cancelled_release_says_so_and_too_large_a_k_is_one_sentence(monkeypatch):
    def cancelled(*args, **kwargs):
        raise Cancelled

    monkeypatch.setattr(released, "prepare", cancelled)
    app = open_page("release", data="wine", k="6", scale="minmax")
    assert "cancelled" in app.info[0].value
    assert not app.get("download_button")
    monkeypatch.undo()
    press(app, "Go on")
    assert downloads(app)
    [error] = choose(app, w_k_chosen=179).error
    assert "fewer than k = 179" in unescaped(error.value)
    assert "\n" not in error.value
