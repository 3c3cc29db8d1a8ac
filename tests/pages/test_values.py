"""Values become others on the page Data: spellings are made one by a click, taken back, and released as they became."""

from __future__ import annotations

import numpy as np
import pandas as pd

import microagg
from tests.pages.helpers import go_to, plain, settle, upload

RNG = np.random.default_rng(3)
N = 90
CLINIC = pd.DataFrame(
    {
        "sex": np.repeat(["f", "F ", "female", "m", "M"], [30, 5, 10, 35, 10]),
        "age": RNG.integers(18, 97, N),
        "grade": RNG.choice(["good", "Good", "poor"], N),
        "diagnosis": RNG.choice(["flu", "Flu", "cold"], N),
    }
)


def clinic(page="data", **query):
    roles = ["quasi-identifier.category..0:sex", "quasi-identifier.number..0:age"]
    roles += ["stratum...0:grade", "confidential...0:diagnosis"]
    return upload("clinic.csv", CLINIC.to_csv(index=False).encode(), page, columns=roles, k="3", **query)


def test_spellings_are_made_one_by_a_click_and_taken_back():
    app = clinic()
    assert "In **sex** there are values that hardly differ: 'f', 'female' and 'F '" in plain(app)
    assert "In **grade**" in plain(app)
    assert "In **diagnosis**" in plain(app)
    label = app.button(key="alike_sex").label.replace("\\", "")
    assert label == "Make them one: 'f' and 'm' (25 records changed)"
    app.button(key="alike_sex").click()
    settle(app)
    assert app.query_params["recode"] == ["sex=female=f", "sex=F =f", "sex=M=m"]
    assert "Values of **sex**: 'female' and 'F ' are now 'f' and 'M' is now 'm'." in plain(app)
    assert "In **sex**" not in plain(app)
    assert "2 distinct" in plain(app)
    # What was decided of the column is decided still.
    assert "was decided of other values" not in plain(app)
    app.button(key="undo_sex").click()
    settle(app)
    assert "recode" not in app.query_params
    assert "In **sex** there are values that hardly differ" in plain(app)


def test_what_is_released_has_the_new_values():
    app = clinic()
    for name in ("sex", "grade", "diagnosis"):
        app.button(key=f"alike_{name}").click()
        settle(app)
    go_to(app, "release")
    settle(app)
    # The program stands beside the file as it was, and does all of it.
    [code] = [block.value for block in app.code if "import microagg" in block.value]
    call = code[code.index("release = ") : code.index("print(")]
    scope = {"microagg": microagg, "frame": CLINIC}
    exec(call, scope)
    released = scope["release"].frame
    assert set(released["sex"]) <= {"f", "m", "*"}
    for name, kept in {"grade": "poor", "diagnosis": "cold"}.items():
        [other] = {*released[name]} - {kept}
        assert other.lower() in ("good", "flu")
        assert (released[name] == kept).sum() == (CLINIC[name] == kept).sum()
    assert scope["release"].report.risk.realized_k >= 3
