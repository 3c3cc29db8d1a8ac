"""The largest acceptable risk and loss of the session, and whether a run or a release meets them.

Choose k and Release put the same :class:`Verdict` in words, so that they never contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from microagg.optimum.formatting import percent
from microagg.studies import sweeps
from pages.shared import state
from pages.shared.measures import RISKS

#: The limit in percent that stands for none, as nothing exceeds it.
NONE = 100.0

_ROUNDING = 1e-9  # relative: floating-point numbers that differ by less are equal


@dataclass(frozen=True)
class Limits:
    """The largest acceptable risk and loss in percent, and which risk counts: one of :data:`microagg.studies.sweeps.RISKS`."""

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
        return sweeps.smallest_k(min(self.risk / 100 * (1 + _ROUNDING), 1.0))


def current() -> Limits:
    """Return the limits of the session. In an address 0 also means no limit."""
    choices = state.current().compare
    risk, loss = (value if 0 < value < NONE else NONE for value in (choices.risk_limit, choices.limit))
    return Limits(risk, loss, choices.risk)


@dataclass(frozen=True)
class Verdict:
    """Whether a run or a release, the ``subject``, meets the limits; its risk and loss are in percent.

    The risk is 100 / size of the smallest group, or more where other columns raise it, unless the map of risk and loss
    shows another risk; None until it is measured.
    """

    subject: str
    risk: float | None
    loss: float
    limits: Limits

    @property
    def meets_risk(self) -> bool:
        return self.risk is None or is_within(self.risk, self.limits.risk)

    @property
    def meets_loss(self) -> bool:
        return is_within(self.loss, self.limits.loss)

    @property
    def meets(self) -> bool:
        return self.meets_risk and self.meets_loss

    @property
    def risk_with_limit(self) -> str:
        """Such as "risk 20 % (limit 20 %)"."""
        return f"{self._risk} ({in_words(self.limits.risk)})"

    @property
    def loss_with_limit(self) -> str:
        """Such as "loss 8.81 % (no limit)"."""
        return f"{self._loss} ({in_words(self.limits.loss)})"

    @property
    def _risk(self) -> str:
        return f"{risk_name(self.limits)} {'…' if self.risk is None else written(self.risk, self.limits.risk)}"

    @property
    def _loss(self) -> str:
        return f"loss {written(self.loss, self.limits.loss)}"

    @property
    def sentence(self) -> str:
        """The verdict on both limits."""
        set_limits = [limit < NONE for limit in (self.limits.risk, self.limits.loss)]
        figures = [self.risk_with_limit, self.loss_with_limit]
        if not any(set_limits):
            return f"{self.subject}: {self._risk}, {self._loss}; no limit is set."
        if self.meets and all(set_limits):
            return f"{self.subject} meets both: {self._risk}, {self._loss}."
        verb = "meets the limit"
        if not self.meets_risk and not self.meets_loss:
            verb = "meets neither limit"
        elif not self.meets_risk:
            verb = "exceeds the largest acceptable risk"
        elif not self.meets_loss:
            verb, figures = "exceeds the largest acceptable loss", figures[::-1]
        return f"{self.subject} {verb}: {', '.join(figures)}."


def judge(subject: str, risk: float, loss: float, limits: Limits | None = None) -> Verdict:
    """Judge a run by the limits, by default those of the session; see :class:`Verdict`."""
    return Verdict(subject, risk, loss, limits or current())


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
        (
            text
            for text in texts
            if limit == NONE or is_within(float(text.removesuffix(" %")), limit) == is_within(value, limit)
        ),
        f"{value} %",
    )


def in_words(limit: float) -> str:
    """Return a limit in percent in words."""
    return "no limit" if limit == NONE else f"limit {limit:g} %"
