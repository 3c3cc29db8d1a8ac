"""The algorithms for mixed attributes, and their measures, written a second time as oracles, like those in ``naive``.

Plain Python, nothing shared with ``microagg``. Records are anything with ``values`` (a number, a rank or a node for
each record and attribute) and ``attributes`` (each with ``kind``, ``levels`` and ``taxonomy``, of which only
``parents`` is read). What both sides agree on, so that ties fall alike in two independent programs:

- the share of an attribute in a set is (max - min) / domain, the domain being that of all records (of the file that
  they are a part of, if ``file_domains`` has it), or levels - 1; for nodes, the height of the lowest common ancestor's
  subtree / the height of the tree; 0 where there is no domain;
- the shares of a set are added in the order of the attributes, and a set of m records loses m * their sum;
- ties go to the lowest record index, or to the group that was formed first.

In the code, U is the list of unassigned records in index order, and a group is the list of its records in joining
order.

Source: Byun, Kamra, Bertino & Li, Efficient k-Anonymization Using Clustering Techniques.
"""

import itertools
import math
from datetime import date
from types import SimpleNamespace

import numpy as np

# ---- Shares and what is made of them ---------------------------------------------------------------------------------


def numbers(X):
    """Return the records of a numeric table."""
    values = np.asarray(X, dtype=float)
    numeric = SimpleNamespace(kind="numeric", levels=(), taxonomy=None)
    return SimpleNamespace(values=values, attributes=[numeric] * values.shape[1])


def line(parents, node):
    """Return a node and what is above it, up to the root."""
    above = [node]
    while parents[above[-1]] != -1:
        above.append(parents[above[-1]])
    return above


def common(parents, nodes):
    """Return the lowest node that is on the lines of all nodes."""
    lines = [line(parents, node) for node in nodes]
    return next(node for node in lines[0] if all(node in other for other in lines[1:]))


def leaves(parents):
    """Return the nodes without children."""
    return [node for node in range(len(parents)) if node not in parents]


class Table:
    """Records as a list of columns, with the domain of each."""

    def __init__(self, records):
        given = getattr(records, "file_domains", None)
        self.n, self.d = records.values.shape
        self.kinds = [attribute.kind for attribute in records.attributes]
        self.columns, self.domains, self.parents = [], [], []
        for j, attribute in enumerate(records.attributes):
            column = records.values[:, j].tolist()
            parents = None
            if attribute.kind == "numeric":
                domain = max(column) - min(column) if given is None else float(given[j])
            elif attribute.kind == "ordinal":
                domain = len(attribute.levels) - 1
            else:
                column = [int(node) for node in column]
                parents = list(attribute.taxonomy.parents)
                domain = max(len(line(parents, leaf)) for leaf in leaves(parents)) - 1
            self.columns.append(column)
            self.domains.append(domain)
            self.parents.append(parents)

    def share(self, j, members):
        """Return how much of attribute j a set of records spans."""
        values, domain = [self.columns[j][i] for i in members], self.domains[j]
        if self.kinds[j] == "nominal":
            parents = self.parents[j]
            return (domain - (len(line(parents, common(parents, values))) - 1)) / domain
        return (max(values) - min(values)) / domain if domain > 0 else 0.0

    def loss(self, members):
        """Return I of a set: the sum of its shares."""
        result = 0.0
        for j in range(self.d):
            result += self.share(j, members)
        return result

    def distance(self, one, other):
        """Return the distance of two records."""
        return self.loss([one, other])

    def middle(self, U):
        """Return the central record: the mean, the lower median rank, the most frequent node of each attribute."""
        center = []
        for j, kind in enumerate(self.kinds):
            values = [self.columns[j][i] for i in U]
            if kind == "numeric":
                center.append(math.fsum(values) / len(values))
            elif kind == "ordinal":
                center.append(sorted(values)[(len(values) - 1) // 2])
            else:
                center.append(max(sorted(set(values)), key=values.count))
        return center

    def to_point(self, i, point):
        """Return the distance of a record to a point, which may lie between values."""
        result = 0.0
        for j, kind in enumerate(self.kinds):
            value, domain = self.columns[j][i], self.domains[j]
            if kind == "nominal":
                parents = self.parents[j]
                result += (domain - (len(line(parents, common(parents, [value, point[j]]))) - 1)) / domain
            elif domain > 0:
                result += abs(value - point[j]) / domain
        return result


def members_of(labels):
    """Return the groups in order of first appearance, each by record index."""
    return [[i for i, other in enumerate(labels) if other == label] for label in dict.fromkeys(labels)]


def total_loss(records, labels):
    """Return Total-IL (Definition 6)."""
    table = Table(records)
    return math.fsum(len(members) * table.loss(members) for members in members_of(labels))


def extents(records, labels):
    """Return size, lows, highs and shares of each group; for nodes, low and high are their lowest common ancestor."""
    table, found = Table(records), []
    for members in members_of(labels):
        lows, highs = [], []
        for j in range(table.d):
            values = [table.columns[j][i] for i in members]
            if table.kinds[j] == "nominal":
                values = [common(table.parents[j], values)]
            lows.append(min(values))
            highs.append(max(values))
        found.append((len(members), lows, highs, [table.share(j, members) for j in range(table.d)]))
    return found


def minority(classes, members):
    """Return how many records are outside the most frequent class of a set."""
    present = [classes[i] for i in members]
    return len(present) - max(present.count(one) for one in present)


def canonical_labels(groups):
    """Return the labels of a partition, groups numbered in order of first appearance."""
    label, number = {i: g for g, members in enumerate(groups) for i in members}, {}
    return [number.setdefault(label[i], len(number)) for i in range(len(label))]


# ---- The algorithms --------------------------------------------------------------------------------------------------


def k_member(records, k, furthest_from="last", class_penalty=0.0, random_state=0, classes=None):
    """Greedy k-member clustering (Section 4): groups of k, each from the record farthest from the one before.

    Each grows by the record with which it loses least; "the one before" is a random record at first, then the last
    that was added to a group or its first. Fewer than k left over join, in random order, the groups whose loss grows
    least. ``class_penalty`` is added for each more record outside the most frequent class of a group.
    """
    table = Table(records)
    rng = np.random.default_rng(random_state)
    r = int(rng.integers(table.n))
    U, groups = list(range(table.n)), []

    def surplus(members, x):
        return class_penalty * (minority(classes, [*members, x]) - minority(classes, members))

    def total_with(members, x):
        key = (len(members) + 1) * table.loss([*members, x])
        return key + surplus(members, x) if class_penalty != 0 else key

    def growth(members, x):
        key = (len(members) + 1) * table.loss([*members, x]) - len(members) * table.loss(members)
        return key + surplus(members, x) if class_penalty != 0 else key

    while len(U) >= k:
        seed = last = max(U, key=lambda i: table.distance(i, r))
        members = [seed]
        U.remove(seed)
        while len(members) < k:
            last = min(U, key=lambda x: total_with(members, x))
            members.append(last)
            U.remove(last)
        groups.append(members)
        r = last if furthest_from == "last" else seed
    if U:
        for x in rng.permutation(U).tolist():
            min(groups, key=lambda members: growth(members, x)).append(x)
    return canonical_labels(groups)


def mondrian(records, k, cut="strict"):
    """Mondrian: cut at the median of the widest attribute that allows both parts k records or more, again and again."""
    table = Table(records)

    def width(j, S):
        values = [table.columns[j][i] for i in S]
        if table.kinds[j] != "nominal":
            return (max(values) - min(values)) / table.domains[j] if table.domains[j] > 0 else 0.0
        order = leaves(table.parents[j])
        places = [order.index(node) for node in values]
        return (max(places) - min(places)) / (len(order) - 1) if len(order) > 1 else 0.0

    def parts(j, S):
        column = table.columns[j]
        if cut == "strict":
            median = sorted(column[i] for i in S)[(len(S) - 1) // 2]
            with_median = [i for i in S if column[i] <= median], [i for i in S if column[i] > median]
            without = [i for i in S if column[i] < median], [i for i in S if column[i] >= median]
            return max(with_median, without, key=lambda sides: min(map(len, sides)))
        by_value, half = sorted(S, key=lambda i: (column[i], i)), math.ceil(len(S) / 2)
        return sorted(by_value[:half]), sorted(by_value[half:])

    def cut_up(S):
        widths = [width(j, S) for j in range(table.d)]
        for j in sorted(range(table.d), key=lambda j: (-widths[j], j)):
            if widths[j] == 0:
                continue
            left, right = parts(j, S)
            if min(len(left), len(right)) >= k:
                return cut_up(left) + cut_up(right)
        return [S]

    return canonical_labels(cut_up(list(range(table.n))))


# ---- Local search ----------------------------------------------------------------------------------------------------


def exchange(records, labels, k, width):
    """Return labels after the best move or exchange of each record in turn; who joins a group is the first in it."""
    table, labels = Table(records), list(labels)
    groups = [[i for i in range(table.n) if labels[i] == group] for group in range(max(labels) + 1)]
    for x in range(table.n):
        own = labels[x]
        rest, size = [i for i in groups[own] if i != x], len(groups[own])
        loss = size * table.loss(groups[own])
        if not rest or loss == 0:
            continue
        best, least = (0.0, None, None), 1e-9
        others = [group for group in range(len(groups)) if group != own]
        spans = {group: table.loss([*groups[group], x]) for group in others}
        for group in others if size > k else []:
            before = len(groups[group]) * table.loss(groups[group])
            gain = loss + before - (size - 1) * table.loss(rest) - (len(groups[group]) + 1) * spans[group]
            if gain > best[0] and gain > least * (loss + before):
                best = gain, group, None
        for group in sorted(others, key=lambda group: (spans[group], group))[:width]:
            members = groups[group]
            before = len(members) * table.loss(members)
            for y in members if len(members) > 1 else []:
                after = len(members) * table.loss([x, *(i for i in members if i != y)])
                gain = loss + before - size * table.loss([*rest, y]) - after
                if gain > best[0] and gain > least * (loss + before):
                    best = gain, group, y
        _, group, y = best
        for one, goes in [(x, group), (y, own)] if group is not None else []:
            if one is not None:
                groups[labels[one]].remove(one)
                groups[goes].insert(0, one)
                labels[one] = goes
    return labels


def grown(records, k, number, draw):
    """Return labels of ``number`` groups that grow by the record that widens them least; draw(m) is below m."""
    table, groups, U = Table(records), [], list(range(len(records.values)))
    for _ in range(number):
        if groups and draw(2) == 0:
            begins = max(U, key=lambda x: (table.distance(groups[-1][0], x), -x))
        else:
            begins = U[draw(len(U))]
        groups.append([begins])
        U.remove(begins)
        for _ in range(k - 1):
            x = min(U, key=lambda x: (table.loss([*groups[-1], x]), x))
            groups[-1].append(x)
            U.remove(x)
    for x in U:
        rises = [(len(own) + 1) * table.loss([*own, x]) - len(own) * table.loss(own) for own in groups]
        groups[rises.index(min(rises))].append(x)
    return [next(i for i, own in enumerate(groups) if x in own) for x in range(table.n)]


# ---- An intruder who knows all quasi-identifiers ---------------------------------------------------------------------


def found_by_linkage(kinds, originals, released, strata=None):
    """Return for each record with what probability the released record nearest to it is its own.

    ``originals`` and ``released`` are lists of tuples of plain values as files have them, ``kinds`` says of each
    attribute what it is: "number", "float32", "date", the list of its levels in order, or a dict from each category and
    node of its taxonomy to what is above it (the root to None). The intruder tries three ways to measure how far a
    value is from a range, set or ancestor: to the nearest value in it, to its middle (or to all that it covers), and
    the latter among those that are as near by the former. The way by which most are found counts.
    """
    same = strata or [0] * len(originals)
    everything = range(len(kinds))

    def unit(j):
        values = [_number(kinds[j], row[j]) for row in originals]
        if isinstance(kinds[j], list):
            return len(kinds[j]) - 1
        if any(isinstance(kind, (list, dict)) for kind in kinds):
            return max(values) - min(values)
        mean = sum(values) / len(values)
        return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))

    units = [None if isinstance(kinds[j], dict) else unit(j) for j in everything]
    apart = [
        [[_apart(kinds[j], units[j], row[j], other[j]) for j in everything] for other in released] for row in originals
    ]

    ways = []
    # By which of the two distances, and by which next among those that are as near.
    for way in ((0,), (1,), (0, 1)):
        probabilities = []
        for i in range(len(originals)):
            nearest = [o for o in range(len(released)) if same[o] == same[i]]
            for w in way:
                distances = {o: math.sqrt(sum(apart[i][o][j][w] ** 2 for j in everything)) for o in nearest}
                nearest = [o for o in nearest if distances[o] <= min(distances.values()) + 1e-6]
            probabilities.append((i in nearest) / len(nearest))
        ways.append(probabilities)
    return max(ways, key=sum)


def _number(kind, value):
    if kind in ("number", "float32"):
        return float(np.float32(value) if kind == "float32" and isinstance(value, str) else value)
    return float(value.toordinal() if kind == "date" else kind.index(str(value)))


def _covered(kind, value):
    """Return the ends of what a released number, date, year or level covers, or a range of them."""
    if isinstance(kind, list):
        ends = [(a, b) for a in kind for b in kind if value in (f"[{a}, {b}]", a if a == b else None)]
        return tuple(_number(kind, end) for end in ends[0])
    if isinstance(value, str) and value.startswith("["):
        low, high = value[1:-1].split(", ")
        return _covered(kind, low)[0], _covered(kind, high)[1]
    if kind == "date" and isinstance(value, str) and "-" in value:
        value = date.fromisoformat(value)
    if kind == "date" and not isinstance(value, date):
        return float(date(int(value), 1, 1).toordinal()), float(date(int(value), 12, 31).toordinal())
    return (_number(kind, value),) * 2


def within_deviations(kind, originals, released, width):
    """Return the share of numbers or dates within ``width`` standard deviations of what is released, or its middle."""
    if kind == "date" and not any(isinstance(value, date) or str(value).count("-") > 1 for value in released):
        # The middle of years that are released is a year, and so is what it is compared with.
        kind, originals = "number", [value.year for value in originals]
    values = [_number(kind, value) for value in originals]
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    middles = [sum(_covered(kind, value)) / 2 for value in released]
    return sum(abs(x - y) <= width * deviation for x, y in zip(values, middles, strict=True)) / len(values)


def _apart(kind, unit, original, released):
    if not isinstance(kind, dict):
        if unit == 0:
            return 0.0, 0.0
        x, (low, high) = _number(kind, original), _covered(kind, released)
        return max(low - x, x - high, 0.0) / unit, abs(x - (low + high) / 2) / unit

    def above(name):
        return [name, *(above(kind[name]) if kind[name] is not None else [])]

    members = released[1:-1].split(", ") if str(released).startswith("{") else [str(released)]
    lines, own = [above(name) for name in members], above(str(original))
    height = len(own) - 1
    heights = [min(own.index(name) for name in line if name in own) for line in lines]
    inside = any(line[0] in own for line in lines)
    return (0.0 if inside else min(heights) / height), max(heights) / height


def least_closure(records, k, r):
    """Return the least extent of a closure of at least k records around record r: of r and up to 2d others."""
    table = Table(records)
    others = [i for i in range(len(table.columns[0])) if i != r]
    least = math.inf
    for size in range(min(len(others), 2 * table.d) + 1):
        for corners in itertools.combinations(others, size):
            members = [r, *corners]
            loss = table.loss(members)
            if loss < least and sum(table.loss([*members, i]) <= loss + 1e-12 for i in [r, *others]) >= k:
                least = loss
    return least
