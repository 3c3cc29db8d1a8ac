"""A small table of mixed attributes, and taxonomies and levels for it."""

import pandas as pd

from microagg.columns.taxonomy import Taxonomy

ZIP = Taxonomy.from_nested({"*": {"4107*": ["41075", "41076"], "4109*": ["41095", "41099"]}})
MARITAL_TEXT = "*\n  married\n    civil\n    abroad\n  single\n    never\n    never again\n"
LEVELS = ("low", "middle", "high")


def mixed_frame():
    """Return four records with an attribute of every kind; the index has a label twice."""
    return pd.DataFrame(
        {
            "name": ["Ann", "Bob", "Cem", "Dot"],
            "age": [20, 30, 40, 60],
            "zip": [41076, 41099, 41075, 41076],
            "sex": ["f", "m", "m", "f"],
            "income": pd.Categorical(["high", "low", "middle", "low"], categories=LEVELS, ordered=True),
            "status": pd.Categorical(["never", "civil", "never", "abroad"]),
            "smoker": [True, False, True, False],
        },
        # Records are numbered by their position, whatever the index.
        index=[7, 5, 5, 1],
    )
