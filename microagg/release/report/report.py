"""The report on a release: its figures, and the sentences that state them. ``html`` writes the page."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from microagg.columns.records import Filled
from microagg.errors import ParameterError
from microagg.optimum.formatting import number, percent
from microagg.release.findings import Finding
from microagg.release.guarantees import Guarantee, describe_counts
from microagg.release.measures import Generalization, Joint, Loss, Risk, Utility
from microagg.validation import counted, plain, quoted

#: The first line of what has figures that single records dominate.
FOR_STEWARD = "For the data steward only: do not pass this on. Its figures can give away values of single persons."

# A gap of at most this is rounding: see microagg.optimum.bounds.CLOSED, which needs Numba.
_CLOSED = 2e-7

_ATTRIBUTES = {"zscore": "attributes of variance 1", "minmax": "attributes from 0 to 1", "none": "unscaled attributes"}


@dataclass(frozen=True)
class Report:
    """The figures, guarantees and findings of a release.

    Attributes
    ----------
    k, scale, statistic, rounding
        The chosen options.
    n_records, n_dropped : int
        The records released, and those left out for a missing quasi-identifier, of which ``dropped`` are the labels.
    constant_columns, undeclared_columns : tuple
        The quasi-identifiers with one value only, and the columns without a role, which are released as they are.
    risk : Risk
    loss, utility : Loss and Utility, or None
        None where no quasi-identifier is numeric, or values are generalized.
    generalization : Generalization or None
        None where all quasi-identifiers are numeric and replaced by a mean or median.
    release_weights : {"mean", "keep", "drop"} or None
        The release of weights; None without weights.
    given, polished, shuffled : bool
        Whether the groups were formed elsewhere, whether they were improved by local search, and whether the records
        are in random order.
    findings, accepted : tuple of Finding
        The results of the checks, and those in spite of which the file is released, for the ``reason``; see
        :meth:`microagg.Release.accept`.
    filled : tuple of Filled
        The missing values of quasi-identifiers that were filled before grouping.
    guaranteed : tuple of Guarantee
        What is guaranteed of confidential columns beyond k, counted on the release.
    dominated : tuple
        The numeric quasi-identifiers whose figures one or two records dominate: see
        :func:`microagg.metrics.risk.dominated`. Reports to be passed on withhold these figures.
    joint : Joint or None
        The joint classes with an earlier release; None where none was compared.
    """

    k: int
    scale: str
    statistic: str
    n_records: int
    n_dropped: int
    dropped: tuple[Any, ...]
    constant_columns: tuple[Hashable, ...]
    undeclared_columns: tuple[Hashable, ...]
    loss: Loss | None
    risk: Risk
    utility: Utility | None
    generalization: Generalization | None
    rounding: str = "none"
    release_weights: str | None = None
    given: bool = False
    polished: bool = False
    shuffled: bool = False
    findings: tuple[Finding, ...] = ()
    accepted: tuple[Finding, ...] = ()
    reason: str = ""
    filled: tuple[Filled, ...] = ()
    guaranteed: tuple[Guarantee, ...] = ()
    dominated: tuple[Hashable, ...] = ()
    joint: Joint | None = None

    @property
    def in_short(self) -> str:
        """The requested and the realized k and the losses, as in the ``repr`` of a release."""
        losses = (("IL", self.loss), ("Total-IL", self.generalization))
        lost = [f"{name}={percent(loss.information_loss)}" for name, loss in losses if loss is not None]
        return f"k={self.k}, realized k={self.risk.realized_k}, {', '.join(lost)}"

    @property
    def measure(self) -> str:
        """The measure by which methods group the records: "Total-IL" with categories or ranges, "IL" otherwise."""
        return "IL" if self.generalization is None else "Total-IL"

    @property
    def measured(self) -> Loss | Generalization:
        """The loss by :attr:`measure`."""
        lost = self.loss if self.generalization is None else self.generalization
        assert lost is not None  # a release has quasi-identifiers, and so a loss
        return lost

    @property
    def highest_risk(self) -> float:
        """The largest probability, 0 to 1, that an intruder picks the right record, also with an earlier release."""
        of_both = 0.0 if self.joint is None else self.joint.of_classes
        return max(self.risk.max_reidentification_probability, of_both)

    @property
    def lost(self) -> dict[Hashable, float]:
        """The loss of each quasi-identifier in percent: of Total-IL where that is measured, otherwise of the IL."""
        of_numbers = {} if self.loss is None else self.loss.attributes
        return dict(of_numbers) | ({} if self.generalization is None else self.generalization.attributes)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The warnings that were not accepted, and what was accepted."""
        unaccepted = (finding for finding in self.findings if finding.level == "warn" and finding not in self.accepted)
        return (*unaccepted, *self.in_spite)

    @property
    def in_spite(self) -> tuple[Finding, ...]:
        """A warning of code "accepted" that names the accepted findings. Empty without any."""
        if not self.accepted:
            return ()
        codes = dict.fromkeys(finding.code for finding in self.accepted)
        columns = dict.fromkeys(name for finding in self.accepted for name in finding.columns)
        return (Finding("warn", "accepted", tuple(columns), f"Released despite {', '.join(codes)}: {self.reason}"),)

    def accept(self, *codes: str, reason: str) -> Self:
        """The same report, stating that the release is made in spite of some findings.

        Parameters
        ----------
        *codes, reason
            As for :meth:`microagg.Release.accept`.

        Raises
        ------
        ParameterError
            If there is no reason or no code, or a code belongs to no stop or warning.
        """
        if not reason.strip():
            raise ParameterError("a reason is needed for accepting a finding: say why, for the report has it.")
        doubtful = [finding for finding in self.findings if finding.level != "ok"]
        codes_here = list(dict.fromkeys(finding.code for finding in doubtful))
        unknown = [code for code in codes if code not in codes_here]
        if unknown or not codes:
            problem = f"there is no stop or warning {quoted(unknown)}" if unknown else "no code was given"
            advice = f"the codes are {quoted(codes_here)}" if codes_here else "there is none to be accepted"
            raise ParameterError(f"{problem}: {advice}.")
        accepted = tuple(finding for finding in doubtful if finding.code in codes or finding in self.accepted)
        return replace(self, accepted=accepted, reason="; ".join(filter(None, (self.reason, reason))))

    def to_dict(self) -> dict[str, Any]:
        """All figures as nested dicts and lists for JSON."""
        figures = plain(asdict(self))
        if not self.risk.predicted:
            del figures["risk"]["predicted"]
        for name in ("guaranteed", "joint"):
            if not getattr(self, name):
                del figures[name]
        return figures

    def summary(self) -> str:
        """The report in a few sentences, one per line."""
        risks = [self.protection, self.risk.sentence, self.of_releases, *filter(None, [self.beyond_k])]
        return "\n".join([*risks, *self.loss_sentences(), *self._remarks()])

    @property
    def beyond_k(self) -> str:
        """The guarantees beyond k as a sentence. Empty without any."""
        return describe_counts(self.guaranteed)

    @property
    def protection(self) -> str:
        """The groups and the k that was counted, as a sentence."""
        risk = self.risk
        within = " within each stratum" if risk.strata else ""
        of = "of" if risk.largest_group == self.k else "of at most"
        return (
            f"{counted(self.n_records, 'record')} in {counted(risk.n_groups, 'group')} {of} "
            f"{risk.largest_group:,}{within}: each combination of released quasi-identifiers is shared by at least "
            f"{counted(risk.realized_k, 'record')}, counted on the release (k = {self.k:,} was requested)."
        )

    @property
    def problems(self) -> str:
        """The number of findings that block the release, or that were accepted and why. Empty if there are none."""
        stops = [finding for finding in self.findings if finding.level == "stop"]
        overridden = [finding for finding in stops if finding in self.accepted]
        sentences = []
        if left := len(stops) - len(overridden):
            sentences.append(f"Blocked: {counted(left, 'problem')}. Do not release this file before it is fixed.")
        if overridden:
            codes = ", ".join(dict.fromkeys(finding.code for finding in overridden))
            sentences.append(
                f"The file is released despite {counted(len(overridden), 'problem')} ({codes}), for this reason: "
                f"{self.reason.removesuffix('.')}."
            )
        return " ".join(sentences)

    @property
    def of_releases(self) -> str:
        """The risk from an intruder who also holds an earlier release, as a sentence."""
        joint = self.joint
        if joint is None:
            return "k holds for this release alone: compare each earlier release of the same persons."
        return (
            "An intruder who also holds the earlier release and compares the classes of both picks the right record "
            f"with probability up to {100 * joint.of_classes:.3g} % (1 in {joint.smallest:,}). {joint.narrowed:,} of "
            f"{counted(joint.n_records, 'record')} ({joint.alone:,} alone) are in joint classes (one class in "
            f"each release) of fewer than k = {self.k:,} records and fewer than in the earlier release."
        )

    def loss_sentences(self) -> list[str]:
        """Sentences on each measured loss, and on the categories that change."""
        sentences = [self.loss_sentence(loss) for loss in (self.loss, self.generalization) if loss is not None]
        changed = {} if self.generalization is None else self.generalization.changed
        if changed:
            name, highest = max(changed.items(), key=lambda item: item[1])
            sentences.append(
                f"Of the attributes with categories, {str(name)!r} changes most: in {percent(highest)} of the records."
            )
        return sentences

    def loss_sentence(self, loss: Loss | Generalization) -> str:
        """A loss, its lower bound, and the attribute where it is highest.

        Parameters
        ----------
        loss : Loss or Generalization
            :attr:`loss` or :attr:`generalization` of this report.

        Returns
        -------
        str
            One or two sentences, with percentages.
        """
        if isinstance(loss, Generalization):
            text = (
                f"Information loss Total-IL is {percent(loss.information_loss)} of the largest possible "
                f"({loss.total_information_loss:,.1f} of {self.n_records * len(loss.attributes):,}: each record and "
                "attribute counts the range or the lowest common category of its group as a share of the whole)"
            )
        else:
            numeric = "" if self.generalization is None else "numeric "
            weighted = "" if self.release_weights is None else ", each record with its weight"
            text = (
                f"Information loss{' of the numeric attributes' if numeric else ''} is "
                f"{percent(loss.information_loss)} (IL = 100 · SSE / SST = 100 · {number(loss.sse)} / "
                f"{number(loss.sst)}, on {numeric}{_ATTRIBUTES[self.scale]}{weighted})"
            )
        if loss.lower_bound is not None and loss.gap is not None:
            within = " within the strata" if self.risk.strata else ""
            text += f"; the lower bound for groups of at least {self.k:,}{within} is {percent(loss.lower_bound)}"
            # Groups of mixed records are made for Total-IL: the gap of their IL means little.
            if loss is self.measured and loss.gap < math.inf:
                is_closed = loss.gap <= _CLOSED
                text += ", so this is the optimum" if is_closed else f" (gap {percent(100.0 * loss.gap)})"
        name, highest = max(loss.attributes.items(), key=lambda item: item[1])
        further = f" It is highest for {str(name)!r}: {percent(highest)}." if len(loss.attributes) > 1 else ""
        return f"{text}.{further}"

    def _remarks(self) -> list[str]:
        """Sentences on records left out, columns without a role, and accepted findings."""
        sentences = [
            *map(str, self.filled),
            *(each.text for each in self.findings if self.shuffled and (each.code, each.level) == ("order", "ok")),
        ]
        if self.n_dropped:
            dropped, n = counted(self.n_dropped, "record"), self.n_records + self.n_dropped
            were = "was" if self.n_dropped == 1 else "were"
            sentences.append(f"{dropped} of {n:,} with a missing quasi-identifier {were} left out.")
        if self.constant_columns:
            sentences.append(f"One value only, and no part in distances: {quoted(self.constant_columns)}.")
        if self.undeclared_columns:
            sentences.append(
                "Released as they are, without having been declared confidential: "
                f"{quoted(self.undeclared_columns)}; make sure that they identify nobody."
            )
        sentences += [f"Released despite: {each.text}" for each in self.accepted]
        if self.accepted:
            sentences.append(f"The reason given: {self.reason.removesuffix('.')}.")
        return sentences
