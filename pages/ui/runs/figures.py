"""What a partition costs, as a row of figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from pages.ui.text import percent


def show(
    loss: float | None, common: Mapping[str, Any] | None, sizes: np.ndarray, *, floor: float | None = None
) -> None:
    """Draw the information loss in percent, the measures of :class:`microagg.metrics.generalization.Summary`, the groups.

    Those that are None are left out; ``sizes`` are those of the groups, ``floor`` the loss that is proven to be the least.
    """
    shown: list[tuple[str, str, str]] = []
    if loss is not None:
        shown.append(("Information loss", percent(loss), "IL = 100 · SSE / SST of the numbers, on the scaled data."))
    if common is not None:
        lost, total = common["information_loss"], common["total_information_loss"]
        says = f"What ranges and common ancestors lose; 100 % if all values became “anything”. The sum is {total:,.1f}."
        shown.append(("Total-IL", percent(lost), says))
    if floor is not None:
        says = "Proven: whatever the method, less cannot be lost at this k."
        says += "" if loss is None else " A search on the page Choose k raises it."
        shown.append(("Floor", percent(floor), says))
    if common is not None:
        says = "DM, the sum of the squared group sizes: how many others each record cannot be told from, summed."
        shown.append(("Discernibility", f"{common['discernibility']:,}", says))
        if common["classification"] is not None:
            says = "CM, the records outside the majority class of their group."
            shown.append(("Classification", percent(100 * common["classification"]), says))
    says = f"Of {sizes.min():,} to {sizes.max():,} records, {sizes.mean():.3g} on average."
    shown.append(("Groups", f"{len(sizes):,}", says))
    with st.container(horizontal=True, gap="medium"):
        for label, figure, says in shown:
            st.metric(label, figure, help=says, width="content")
