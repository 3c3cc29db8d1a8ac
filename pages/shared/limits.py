"""The largest acceptable risk and loss of the session, and whether a run or a release meets them.

Choose k and Release judge by :func:`judge`, so that both print the same figures and come to the same verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from microagg.optimum.formatting import percent
from microagg.studies import pareto
from pages.shared import state
from pages.shared.measures import RISKS

#: The limit in percent that stands for none, as nothing exceeds it.
NONE = 100.0

_ROUNDING = 1e-9  # relative: floating-point numbers that differ by less are equal


@dataclass(frozen=True)
class Limits:
    """The largest acceptable risk and loss in percent, and which risk counts: one of :data:`microagg.studies.pareto.RISKS`."""

    risk: float = NONE
    loss: float = NONE
    measure: str = "max_reidentification"

    @property
    def by_k(self) -> bool:
        """Whether k alone decides the risk."""
        return self.measure == "max_reidentification"

    @property
    def smallest_k(self) -> int:
        """The smallest k at which the risk of each record, 1 / k, is acceptable."""
        return pareto.smallest_k(min(self.risk / 100 * (1 + _ROUNDING), 1.0))


def current() -> Limits:
    """Return the limits of the session. In an address 0 also means no limit."""
    choices = state.current().compare
    risk, loss = (value if 0 < value < NONE else NONE for value in (choices.risk_limit, choices.limit))
    return Limits(risk, loss, choices.risk)


@dataclass(frozen=True)
class Verdict:
    """Whether a run or a release meets the limits, with a line for each limit and a sentence for both."""

    meets_risk: bool
    meets_loss: bool
    risk: str  # such as "risk 20 % (limit 20 %)"
    loss: str  # such as "loss 8.81 % (no limit)"
    sentence: str

    @property
    def meets(self) -> bool:
        return self.meets_risk and self.meets_loss


def judge(subject: str, risk: float, loss: float, limits: Limits | None = None) -> Verdict:
    """Judge a run or a release by the limits.

    Parameters
    ----------
    subject : str
        Its name, with which the sentence begins.
    risk : float
        Its risk in percent: 100 / size of the smallest group, unless the map of risk and loss shows another risk.
    loss : float
        Its information loss in percent.
    limits : Limits, optional
        By default those of the session.
    """
    limits = limits or current()
    meets_risk, meets_loss = is_within(risk, limits.risk), is_within(loss, limits.loss)
    of_risk, of_loss = f"{risk_name(limits)} {written(risk, limits.risk)}", f"loss {written(loss, limits.loss)}"
    with_limits = [f"{of_risk} ({in_words(limits.risk)})", f"{of_loss} ({in_words(limits.loss)})"]
    if limits.risk == limits.loss == NONE:
        text = f"{subject}: {of_risk}, {of_loss}; no limit is set"
    elif not meets_risk and not meets_loss:
        text = f"{subject} meets neither limit: {', '.join(with_limits)}"
    elif not meets_risk:
        text = f"{subject} exceeds the largest acceptable risk: {', '.join(with_limits)}"
    elif not meets_loss:
        text = f"{subject} exceeds the largest acceptable loss: {', '.join(reversed(with_limits))}"
    elif NONE in (limits.risk, limits.loss):
        text = f"{subject} meets the limit: {', '.join(with_limits)}"
    else:
        text = f"{subject} meets both: {of_risk}, {of_loss}"
    return Verdict(meets_risk, meets_loss, with_limits[0], with_limits[1], f"{text}.")


def is_within(value: float, limit: float) -> bool:
    return value <= limit * (1 + _ROUNDING)


def risk_name(limits: Limits) -> str:
    """Return the risk that counts as a noun within a sentence."""
    return "risk" if limits.by_k else RISKS[limits.measure].label.lower()


def written(value: float, limit: float = NONE) -> str:
    """Return a percentage with three significant digits, or more where these would hide on which side of its limit it is.

    >>> written(20.0), written(100 / 11), written(10.004, 10.0)
    ('20 %', '9.09 %', '10.004 %')
    """
    if float(f"{value:.12g}") == float(f"{value:.3g}"):  # a round number: 20 %, 12.5 %
        return f"{value:.3g} %"
    texts = (percent(value, digits) for digits in range(3, 8))
    return next(
        (text for text in texts if is_within(float(text.removesuffix(" %")), limit) == is_within(value, limit)),
        f"{value} %",
    )


def in_words(limit: float) -> str:
    """Return a limit in percent in words."""
    return "no limit" if limit == NONE else f"limit {limit:g} %"
