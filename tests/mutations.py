"""Break the package in many small ways, one at a time, and see that the tests notice each.

Run it as ``python -m tests.mutations``, or with words to try only the mutations whose description has one of them.
It works on a copy of the repository, and the kernels run as plain Python, so that nothing has to be compiled. A
mutation is caught if one of its tests fails that passes without it, or runs for minutes. The exit code is 1 if one
survives or cannot be tried.
"""

import importlib
import os
import re
import shutil
import signal
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

#: Seconds of the processor after which a test fails: a mutation may let a search go on forever.
LONGEST = 400


class TimeLimit:
    """A plugin of pytest that fails a test after :data:`LONGEST`."""

    def pytest_runtest_setup(self) -> None:
        signal.signal(signal.SIGPROF, self._fail)
        signal.setitimer(signal.ITIMER_PROF, LONGEST, 1)  # and each second after: Hypothesis runs a failing test again

    def _fail(self, *_: object) -> None:
        raise TimeoutError(f"more than {LONGEST} s of the processor")


class Mutation(NamedTuple):
    """A way to break the package."""

    what: str  # in words
    where: str  # the file, or a folder in which one file holds the text, below ``microagg/``; empty for all of it
    old: str  # the text, which must be there exactly once
    new: str  # what takes its place
    tests: str  # arguments for pytest: the tests that are to notice


def oracle(key: str) -> str:
    """Return the tests that compare an algorithm with its plain version, on few records."""
    return f"tests/algorithms/test_oracles.py -k '{key} and not more_records and not many_records'"


GUARANTEES = "tests/release/test_guarantees.py"
BOUNDS, RISK, RELEASE, TABLES = "tests/optimum", "tests/metrics/risk", "tests/release", "tests/tables"

MUTATIONS = [
    # --- kernels: neighbors and groups
    Mutation("the last of equally far records", "kernels/neighbors/brute_force.py",
             "if values[position] > largest", "if values[position] >= largest", oracle("mdav")),
    Mutation("the last of equally near records", "kernels/neighbors/brute_force.py",
             "not value < ranked[count - 1]", "not value <= ranked[count - 1]",
             "tests/kernels/neighbors/test_brute_force.py"),
    Mutation("equally near records in reverse", "kernels/neighbors/brute_force.py",
             "ranked[slot - 1] > value", "ranked[slot - 1] >= value", "tests/kernels/neighbors/test_brute_force.py"),
    Mutation("sums that keep what rounding took", "kernels/neighbors/brute_force.py",
             "lost = (high - (rough - added)) + (value - added) + totals[1, j]", "lost = 0.0",
             "tests/algorithms/test_oracles.py -k extreme_outliers"),
    Mutation("ties in the tree by the higher record", "kernels/neighbors/tree_queries.py",
             "value == worst and record < worst_record", "value == worst and record > worst_record",
             "tests/kernels/neighbors/test_tree_queries.py"),
    Mutation("boxes of the tree a little too far away", "kernels/neighbors/tree_queries.py",
             "    return value < worst or", "    return 1.01 * value < worst or",
             "tests/kernels/neighbors/test_tree_queries.py"),
    Mutation("exchanges passed over that may gain", "kernels/local_search/descent.py",
             "center_distance) * (1.0 - _SLACK)", "center_distance) * 3.0",
             "tests/kernels/local_search/test_descent.py"),
    Mutation("the gain of a part that is solved is too much", "optimum/search.py",
             "return sse_before - loss.sse(self._X[part], better)", "return sse_before",
             "tests/optimum/test_search.py -k part_only"),
    Mutation("chains passed over that may gain", "kernels/local_search/descent.py",
             "share = 2.0 / size", "share = 0.0 / size",
             "tests/kernels/local_search/test_descent.py"),
    Mutation("a frozen centroid for left-over records", "kernels/grouping/groups.py",
             "        if moving:\n", "        if False:\n", oracle("mdav")),
    Mutation("left-over records to the last of equally near groups", "kernels/grouping/groups.py",
             "if distance < least:", "if distance <= least:", oracle("cbfs")),
    Mutation("growth without the factor N / (N + 1)", "kernels/grouping/groups.py",
             "return size / (size + 1) * distance", "return distance", oracle("mdav-star")),
    Mutation("a group that dissolves at any price", "kernels/grouping/division.py",
             "if not after < LOWER * before:", "if not after < 1.01 * before:",
             "tests/kernels/grouping/test_division.py"),
    Mutation("groups of 2k that are not split", "kernels/grouping/division.py",
             "np.bincount(labels) >= 2 * k", "np.bincount(labels) > 2 * k", oracle("dba-2")),
    Mutation("a group that gives up a record below k", "kernels/grouping/assignment.py",
             "begins[group + 1] - begins[group] > low", "begins[group + 1] - begins[group] >= low",
             "tests/kernels/grouping/test_assignment.py"),
    Mutation("a cut that leaves k - 1 records", "kernels/grouping/division.py",
             "or sizes[record] < k:", "or sizes[record] < k - 1:", "tests/kernels/grouping/test_division.py"),
    Mutation("of equally long edges the last", "kernels/grouping/division.py",
             "np.minimum(records, parents), -lengths)", "-np.minimum(records, parents), -lengths)",
             "tests/kernels/grouping/test_division.py"),
    # At most one group goes at a time, so the order in which the loop removes groups does not matter.
    Mutation("a group that is gone stays", "kernels/local_search/mixed_search.py",
             "            _remove(annealing, group)\n", "            pass\n",
             "tests/kernels/local_search/test_mixed_search.py -k state"),
    # --- kernels: whole algorithms
    Mutation("s stays although it went with r", "kernels/grouping/moving_mean.py",
             "if s < 0:", "if False:", oracle("mdav-1")),
    Mutation("2k records form one group", "kernels/bases.py",
             "while n - first >= 2 * k:", "while n - first > 2 * k:", oracle("mdav-argus")),
    Mutation("r is its own farthest record", "kernels/bases.py",
             "distances[r] = -1.0", "distances[r] = 0.0", oracle("mdav-argus")),
    Mutation("the seeds of MD change places", "kernels/bases.py",
             "(r, s) if r_first else (s, r)", "(s, r) if r_first else (r, s)", oracle("md-first")),
    Mutation("seeds from the outside, ties by the higher record", "kernels/neighbors/brute_force.py",
             "np.argsort(-pool.distances, kind=\"stable\")", "np.argsort(pool.distances, kind=\"stable\")[::-1]",
             oracle("mdav-plus")),
    Mutation("TFRP always from the same reference point", "kernels/bases.py",
             "reference, other = other, reference", "reference, other = reference, other", oracle("tfrp-1")),
    Mutation("V-MDAV extends where distances are equal", "algorithms/v_mdav.py",
             "if not to_group[e] < gamma * d_out:", "if not to_group[e] <= gamma * d_out:", oracle("v-mdav")),
    Mutation("V-MDAV grows groups of 2k", "algorithms/v_mdav.py",
             "members, gamma, 2 * k - 1)", "members, gamma, 2 * k)", oracle("v-mdav")),
    Mutation("MDAV* weighs a joined group by k", "algorithms/mdav_star.py",
             "sse_of(X, pool.records[without_r])) / (k + 1)", "sse_of(X, pool.records[without_r])) / k",
             oracle("mdav-star")),
    Mutation("k-Ward merges two groups of k", "algorithms/k_ward.py",
             "(size >= k and sizes[other] >= k)", "(size > k and sizes[other] >= k)", oracle("k-ward")),
    Mutation("k-member counts everybody among the majority", "algorithms/k_member.py",
             "0.0 if groups.of_class[its_class] == groups.majorities[group] else penalty",
             "0.0", "tests/algorithms/test_mixed.py"),
    Mutation("Mondrian leaves k - 1 records", "algorithms/mondrian.py",
             "if min(left, size - left) < k:", "if min(left, size - left) < k - 1:", oracle("mondrian")),
    Mutation("pieces of a path of 2k - 2 at most", "kernels/paths.py",
             "min(2 * k - 1, n - i)", "min(2 * k - 2, n - i)", oracle("mhm")),
    Mutation("of equal cuts the shorter last piece", "kernels/paths.py",
             "BETTER = 1.0 - 1e-12", "BETTER = 1.0 + 1e-12", oracle("mhm")),
    # --- kernels: local search
    Mutation("records leave groups of k", "kernels/local_search",
             "if size > k and freed - growth > best.gain:", "if size >= k and freed - growth > best.gain:",
             "tests/kernels/local_search"),
    Mutation("a swap counted without the records' own distance", "kernels/local_search",
             "base + state.to_center[y] - to_group_of_x + between * shares",
             "base + state.to_center[y] - to_group_of_x",
             "tests/kernels/local_search -k no_relocation"),
    Mutation("what is undone keeps its old centroid", "kernels/local_search",
             "        refresh(state, state.touched[i])\n    begin(state)", "        pass\n    begin(state)",
             "tests/kernels/local_search -k 'undone or remembers'"),
    # --- bounds
    Mutation("an optimum with groups of k - 1", "kernels/paths.py",
             "if k <= size < 2 * k and", "if k - 1 <= size < 2 * k and", f"{BOUNDS} -k exact"),
    Mutation("pairs priced 1 % too cheap for the bound", "optimum/clique_partitioning.py",
             "np.where(reduced < 0.0, reduced, reduced * self._low)",
             "np.where(reduced < 0.0, reduced, 1.01 * reduced)", f"{BOUNDS} -k 'value_is or any_duals'"),
    Mutation("records passed over by a box 1 % too far", "kernels/bounds",
             "if squared_distance_to_box(blocks, block, i) > limit:",
             "if 1.01 * squared_distance_to_box(blocks, block, i) > limit:",
             "tests/kernels/bounds/test_cliques.py"),
    Mutation("a record of the star too few", "kernels/bounds",
             "return others + least[s - 2], -others", "return others, -others", "tests/kernels/bounds/test_pricing.py"),
    Mutation("the nearest-neighbor bound 1 % too high", "optimum/nearest_neighbors.py",
             "(2 * k) * (1 - ALLOWANCE)", "(2 * k) * 1.01", f"{BOUNDS} -k nearest_neighbor_bound_is"),
    Mutation("the nearest-neighbor bound 1 % too low", "optimum/nearest_neighbors.py",
             "(2 * k) * (1 - ALLOWANCE)", "(2 * k) * 0.99", f"{BOUNDS} -k nearest_neighbor_bound_is"),
    Mutation("the nearest-neighbor bound of k + 1", "optimum/nearest_neighbors.py",
             "np.cumsum(sums)[k - 2]", "np.cumsum(sums)[k - 1]", f"{BOUNDS} -k nearest_neighbor_bound_is"),
    Mutation("the bound by set partitioning 1 % too high", "optimum/set_partitioning.py",
             "groups_term = _sum_smallest(result.least, len(self.X) // self.k)",
             "groups_term = 0.99 * _sum_smallest(result.least, len(self.X) // self.k)",
             f"{BOUNDS}/test_set_partitioning.py"),
    Mutation("a cut charged 1 % too high", "kernels/bounds/pricing.py",
             "cost += cuts.duals[cut]", "cost += 1.01 * cuts.duals[cut]", "tests/kernels/bounds/test_pricing.py"),
    Mutation("one group fewer than there may be", "optimum/set_partitioning.py",
             "_sum_smallest(result.least, len(self.X) // self.k)",
             "_sum_smallest(result.least, len(self.X) // self.k - 1)", f"{BOUNDS}/test_set_partitioning.py"),
    Mutation("pairs outside the program that do not count", "optimum/clique_partitioning.py",
             "self._evaluate(duals, missing * (1 + ALLOWANCE))", "self._evaluate(duals)",
             f"{BOUNDS}/test_clique_partitioning.py"),
    Mutation("the gap as a share of the loss", "optimum/bounds.py",
             "(information_loss - lower_bound) / lower_bound",
             "(information_loss - lower_bound) / information_loss", f"{BOUNDS} -k gap"),
    Mutation("a floor of the worst stratum only", "optimum/nearest_neighbors.py",
             "_sums(parts, most, sum_records_of).sum(axis=0)", "_sums(parts, most, sum_records_of).max(axis=0)",
             f"{BOUNDS}/test_bounds.py -k strata"),
    # --- metrics
    Mutation("losses above 100 %", "metrics/loss.py",
             "min(100.0 * part / whole, 100.0)", "100.0 * part / whole", "tests/metrics/test_loss.py"),
    Mutation("an SST that keeps what rounding left of the mean", "metrics/loss.py",
             "    centered -= centered.mean(axis=0)\n", "", "tests/metrics/test_loss.py"),
    Mutation("discernibility without the square", "metrics/generalization.py",
             "np.square(np.bincount(canonical_labels(labels)))", "np.bincount(canonical_labels(labels))",
             "tests/metrics/test_generalization.py"),
    Mutation("a common ancestor one level too high", "metrics/generalization.py",
             "np.where(lowest == highest, lowest, common)",
             "np.where((lowest == highest) & (lowest == 0), lowest, common)",
             "tests/metrics/test_generalization.py tests/release"),
    # --- risk
    Mutation("a linked group counts as one record", "metrics/risk/linkage.py",
             "    count += attributes.sizes[row]", "    count += 1", f"{RISK}/test_linkage.py -k by_hand"),
    Mutation("linkage stops at the own record", "metrics/risk/linkage.py",
             "if squared < lower:", "if squared < 0.5 * lower:", f"{RISK}/test_linkage.py -k all_pairs"),
    Mutation("records as near are missed", "metrics/risk/linkage.py",
             "if squared <= upper:", "if squared <= lower:", f"{RISK}/test_linkage.py -k ties"),
    Mutation("ties that rounding breaks", "metrics/risk/linkage.py",
             "slack = equal * distance + noise", "slack = 0.0 * distance", f"{RISK}/test_linkage.py"),
    Mutation("middles never decide among ranges that are as near", "metrics/risk/linkage.py",
             "_squared(attributes, then, record, row, next_upper)", "_squared(attributes, mix, record, row, upper)",
             "tests/release/test_risks.py -k middles_decide"),
    Mutation("a missing value that no class has", "metrics/risk/equivalence_classes.py",
             "combined(*(coded(frame[column]) for column in columns))",
             "combined(*(abs(coded(frame[column])) for column in columns))", f"{RISK}/test_equivalence_classes.py"),
    Mutation("values that a group has not count for nothing", "metrics/risk/disclosure.py",
             "0.5 * (differences + absent)", "0.5 * differences", f"{RISK}/test_disclosure.py"),
    Mutation("the values before the first of a group count for nothing", "metrics/risk/disclosure.py",
             " + sums[pairs.values[pairs.starts]]", "", f"{RISK}/test_disclosure.py"),
    Mutation("one group reaches into the next", "metrics/risk/disclosure.py",
             "    ends[pairs.starts[1:] - 1] = m\n", "", f"{RISK}/test_disclosure.py"),
    Mutation("large classes by too few terms", "metrics/risk/equivalence_classes.py",
             "_TERMS = 100", "_TERMS = 3", f"{RISK}/test_equivalence_classes.py"),
    # --- risk against loss
    Mutation("points that another surpasses in the loss alone are on the front", "studies/sweeps.py",
             "on_front[point] = y[point] == lowest and x[point] == risk_at_lowest",
             "on_front[point] = y[point] == lowest", "tests/studies/test_sweeps.py"),
    Mutation("of several confidential attributes the best", "studies/sweeps.py",
             '"homogeneous"] = max(', '"homogeneous"] = min(', "tests/studies/test_sweeps.py"),
    Mutation("confidential attributes with one value count", "studies/sweeps.py",
             " and _varies(column)", "", "tests/studies/test_sweeps.py"),
    # --- partitions and problems
    Mutation("a group of k - 1 is let pass", "partition.py",
             "if sizes.min() < k:", "if sizes.min() < k - 1:", "tests/test_partition.py"),
    Mutation("a domain of its own in each stratum", "optimum/problem.py",
             "self._records.take(rows)", "Records.of_numbers(self.data[rows])",
             "tests/studies/test_experiment.py -k strata_are_those_of_a_release"),
    Mutation("a stratum of k - 1 is let pass", "optimum/problem.py",
             "if size < k]", "if size < k - 1]", "tests/studies/test_experiment.py -k 'bad_strata or floors_need'"),
    Mutation("shares of what the plane shows", "explain/coordinates.py",
             "variances[axis] / variances.sum()", "variances[axis] / variances[:2].sum()",
             "tests/explain/test_coordinates.py"),
    Mutation("categories twice as far from each other", "explain/coordinates.py",
             "tree.heights[node]) / 2", "tree.heights[node]) / 1", "tests/explain/test_coordinates.py"),
    Mutation("a variant whose setting may be changed", "algorithms/method.py",
             "if name not in unused} | dict(self.fixed)", "if name not in unused}",
             "tests/algorithms/test_registry.py"),
    Mutation("groups numbered by label, not by appearance", "partition.py",
             "rank[np.argsort(first)] = np.arange(len(first))", "rank[:] = np.arange(len(first))",
             "tests/test_partition.py"),
    # --- release
    Mutation("a release below k is not withheld", "",
             "if risk.realized_k < k:", "if False:", RELEASE),
    Mutation("a release without its diversity is not withheld", "release/plan.py",
             "if broken := [str(guarantee) for guarantee in guaranteed if not guarantee.holds]:", "if broken := []:",
             f"{GUARANTEES} -k withheld"),
    Mutation("bytes that break a guarantee", "release/export_check.py",
             "if broken := [str(counts) for counts in guaranteed if not counts.holds]:", "if broken := []:",
             f"{GUARANTEES} -k bytes"),
    Mutation("each spelling is a meaning", "columns/recodes.py",
             "plain = essence(re.sub(", "plain = str(re.sub(", f"{RELEASE}/test_meanings.py -k spellings"),
    Mutation("a record without a value raises l", "release/guarantees.py",
             "present = self.codes >= 0", "present = self.codes >= -1", f"{RELEASE}/test_meanings.py -k raise"),
    Mutation("closeness counted the wrong way round", "release/guarantees.py",
             "figure <= bound + _ROUNDING", "figure >= bound - _ROUNDING", f"{GUARANTEES} -k bytes"),
    Mutation("a bound that is not kept", "release/guarantees.py",
             "else figure >= bound - _ROUNDING", "else figure >= bound - 1", f"{GUARANTEES} -k bytes"),
    Mutation("the best stratum decides whether a guarantee can be met", "release/guarantees.py",
             "worst = max if self.name", "worst = min if self.name", f"{GUARANTEES} -k nearest"),
    Mutation("confidential values of other records", "release/prepare.py",
             "released[name] = column[source.retained]",
             "released[name] = column[source.retained].sample(frac=1, random_state=0)",
             f"{GUARANTEES} -k stands_in_recipe"),
    Mutation("groups merged once", "kernels/grouping/merging.py",
             "violates[one] = lacks(members[one]) > 0.0", "violates[one] = False", f"{GUARANTEES} -k mergers"),
    Mutation("the group that lacks least is merged first", "kernels/grouping/merging.py",
             "worst = int(lacking.argmax())", "worst = int(np.flatnonzero(lacking)[lacking[lacking > 0].argmin()])",
             f"{GUARANTEES} -k mergers"),
    Mutation("partners that were merged away", "kernels/grouping/merging.py",
             "violates & ((partner == one) | (partner == other))", "violates & (partner == one)",
             f"{GUARANTEES} -k mergers"),
    Mutation("a search that gives up what is guaranteed", "kernels/local_search/guarded.py",
             "_HIGHEST * (1.0 +", "0.0 * (1.0 +", "tests/kernels/local_search/test_guarded.py -k settled"),
    Mutation("exchanges that leave out what the other group lacks", "kernels/local_search/guarded.py",
             "gain -= price * other * after", "gain -= 0.0 * after",
             "tests/kernels/local_search/test_guarded.py -k settled"),
    Mutation("diversity counted as closeness", "kernels/local_search/guarded.py",
             "rules.kinds[rule] >= EQUAL else", "rules.kinds[rule] >= ENTROPY else",
             "tests/kernels/local_search/test_guarded.py -k settled"),
    Mutation("all left-over records in the lower of two middle buckets", "algorithms/t_closeness.py",
             "sizes[(size - 1) // 2] += over - over // 2", "sizes[(size - 1) // 2] += over",
             "tests/algorithms/test_t_closeness.py -k t_closeness_first_is"),
    Mutation("an exchange that makes a group no closer", "algorithms/t_closeness.py",
             "least, place = lacks - ROUNDING, -1", "least, place = np.inf, -1",
             "tests/algorithms/test_t_closeness.py -k k_anonymity_first_is"),
    Mutation("groups that cross strata", "",
             "partition.labels + n_groups", "partition.labels", f"{RELEASE} -k strat"),
    Mutation("a stratum with k - 1 records", "",
             "(len(positions), chosen.k, f\"{stratum}", "(len(positions), chosen.k - 1, f\"{stratum}",
             f"{RELEASE} -k strat"),
    Mutation("classes that stay behind when records are dropped", "",
             "class_codes(column[retained],", "class_codes(column[: np.count_nonzero(retained)],", RELEASE),
    Mutation("a replay on other data", "",
             "yield \"input_sha256\", _digest(prepared.source.encoded)", "yield \"input_sha256\", None",
             f"{RELEASE} -k 'replay or recipe'"),
    Mutation("a replay with other strata", "",
             "source.n_released)) if has_strata else None", "source.n_released)) if False else None",
             f"{RELEASE} -k 'replay or recipe or strat'"),
    Mutation("identifiers that are released", "",
             "name not in schema.identifiers for name in source.frame.columns",
             "True for name in source.frame.columns", RELEASE),
    Mutation("the upper of two median categories", "",
             "starts + (partition.sizes - 1) // 2, starts", "starts + partition.sizes // 2, starts", RELEASE),
    Mutation("the least frequent category", "",
             "np.lexsort((-counts, groups))", "np.lexsort((counts, groups))", RELEASE),
    Mutation("-0.0 beside 0.0", "",
             "str(number + number.dtype.type(0))", "str(number)", RELEASE),
    Mutation("means without weights", "partition.py",
             "grouped *= weights[order, np.newaxis]", "pass", f"{RELEASE}/test_weights.py"),
    Mutation("weights of other records", "release",
             "return weights[self.retained, 0]", "return weights[: self.retained.sum(), 0]",
             f"{RELEASE}/test_weights.py"),
    Mutation("a bound for weighted records", "release/measures.py",
             "if weights is None:\n            from microagg", "if True:\n            from microagg",
             f"{RELEASE}/test_weights.py"),
    Mutation("integers that overflow", "release",
             "float(chosen.max()) <= limits.max", "chosen.max() <= limits.max", f"{RELEASE}/test_rounding.py"),
    Mutation("-0.0 for a small negative mean", "release",
             "np.round(chosen, places) + 0.0", "np.round(chosen, places)", f"{RELEASE}/test_rounding.py"),
    Mutation("given groups that cross strata", "release",
             "if group in first:", "if False:", f"{RELEASE}/test_groups.py"),
    Mutation("a shuffled release with the groups of the file's order", "release",
             "partition = Partition(partition.labels[prepared.order], chosen.k)", "pass",
             f"{RELEASE}/test_groups.py"),
    Mutation("a replay with other weights", "release",
             "None if source.weights is None else _digest(source.weights)", "None", f"{RELEASE}/test_weights.py"),
    Mutation("labels of records left out in the report", "release",
             'del report["dropped"]', "pass", f"{RELEASE}/test_html.py"),
    Mutation("values that gaps were filled with in the report", "release",
             'del filled["value"]', "pass", f"{RELEASE}/test_html.py"),
    Mutation("names as HTML in the report", "release",
             "autoescape=True", "autoescape=False", f"{RELEASE}/test_html.py"),
    # --- reading and writing tables
    Mutation("a formula in a spreadsheet", "tables",
             "(\"=\", \"+\", \"-\", \"@\", \"\\t\", \"\\r\")", "(\"=\", \"+\", \"-\", \"\\t\", \"\\r\")", TABLES),
    Mutation("codes that lose their zeros", "tables",
             '_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")', '_WHOLE = re.compile(r"-?[0-9]+")', TABLES),
    Mutation("codes of 16 digits that are rounded", "tables",
             "if len(digits) <= EXACT_DIGITS and", "if", TABLES),
    Mutation("the text None that counts as missing", "tables",
             'MISSING = ("NA", ', 'MISSING = ("None", "NA", ', TABLES),
    Mutation("a file with one cell too many", "tables",
             "if records * columns > max_cells:", "if records * columns > max_cells + columns:", TABLES),
    # --- schema and scaling
    Mutation("a column with two roles", "",
             "if name in role_of:", "if False:", "tests/columns/test_schema.py"),
    Mutation("records with one missing value are kept", "",
             "for attribute in attributes]].any(axis=1)", "for attribute in attributes]].all(axis=1)",
             "tests/columns/test_schema.py tests/release"),
    Mutation("codes for missing values that are not found once they are numbers", "",
             "without_codes(numerals.read(read, self.numbers[name]), codes)", "numerals.read(read, self.numbers[name])",
             "tests/columns/test_schema.py"),
    Mutation("the month always before the day", "",
             "return evidence.day_first is not None", "return False", "tests/columns/test_dates.py"),
    Mutation("a guess of dates that does not ask for the order of day and month", "columns/kinds.py",
             "if order.is_clear:", "if True:", "tests/columns/test_kinds.py"),
    Mutation("a comma of which nothing shows what it is for one between thousands", "columns/numerals.py",
             "return NOTATIONS if self.unclear else (POINT,)", "return (POINT,)", "tests/columns/test_numerals.py"),
    Mutation("amounts in several currencies", "columns/numerals.py",
             "return (first[units[0]], first[units[1]]) if len(units) > 1 else None", "return None",
             "tests/columns/test_numerals.py"),
    Mutation("brackets that are no minus", "columns/numerals.py",
             'return signs not in ("", "+"), ', 'return signs not in ("", "+", "()"), ',
             "tests/columns/test_numerals.py"),
    Mutation("telephone numbers read as numbers unasked", "columns/numerals.py",
             "and not _LIKE_CODES.fullmatch(text) for text in texts):", "for text in texts):",
             "tests/columns/test_kinds.py"),
    Mutation("records that are left out have a part in what is filled in", "columns/records.py",
             "_imputed_code(attribute, values[retained, j],", "_imputed_code(attribute, values[:, j],",
             "tests/columns/test_records.py"),
    Mutation("gaps that are taken for a category of the file", "columns/records.py",
             " or (codes == gap_nodes[-1]).any()", "", "tests/columns/test_records.py"),
    Mutation("the sample's variance", "",
             "np.array([np.square(np.ascontiguousarray(column)).mean() for column in deviations.T])",
             "deviations.var(axis=0, ddof=1)", "tests/columns/test_scaling.py"),
    Mutation("constant columns left a little off", "",
             "        scaled[:, constant] = 0.0\n", "", "tests/columns/test_scaling.py"),
    Mutation("a taxonomy out of balance", "columns/taxonomy.py",
             "if self.depths[shallow] != self.depths[deep]:", "if False:", "tests/columns/test_taxonomy.py"),
    Mutation("domains of a part of the file", "columns/records.py",
             "self.values[rows], self.domains)", "self.values[rows])", "tests/columns/test_records.py"),
]  # fmt: skip


def find(mutation: Mutation, root: Path) -> Path:
    """Return the only file of the repository at ``root`` that holds the text, once; raise LookupError otherwise."""
    place = root / "microagg" / mutation.where
    files = [place] if place.suffix == ".py" else list(place.rglob("*.py"))
    counts = {path: path.read_text(encoding="utf-8").count(mutation.old) for path in files if path.exists()}
    if sum(counts.values()) != 1:
        raise LookupError(f"found {sum(counts.values())} times in microagg/{mutation.where}: {mutation.old!r}")
    return next(path for path, count in counts.items() if count)


def failing(root: Path, arguments: list[str]) -> list[str]:
    """Return which tests of the repository at ``root`` fail; this process can do nothing else afterwards."""
    import pytest

    os.chdir(root)
    for name in [name for name in sys.modules if name.split(".")[0] in {"benchmarks", "microagg", "pages", "tests"}]:
        del sys.modules[name]
    with Path("said.txt").open("wb") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    # Compiled code wraps around where numbers of a hash overflow; plain Python warns of it.
    wraps = "-Wignore:overflow encountered in scalar:RuntimeWarning"
    code = pytest.main(["-q", "-n0", "-rfE", "-pno:cacheprovider", "--tb=no", wraps, *arguments], plugins=[TimeLimit()])
    sys.stdout.flush()
    text = Path("said.txt").read_text(encoding="utf-8")
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+?::.*?)(?: - .*)?$", text, re.MULTILINE)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or (code and not failed):
        raise RuntimeError(f"pytest ended with {code!r}: {text[-500:]}")
    return failed


def copy_to(root: Path) -> None:
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, root, ignore=ignored, dirs_exist_ok=True)


def try_out(mutation: Mutation) -> tuple[Mutation, str, str]:
    """Return a mutation, the first test that fails, and what became of it if there is none."""
    arguments = [part.strip("'") for part in re.findall(r"'[^']*'|\S+", mutation.tests)]
    arguments = [part for part in arguments if not part.startswith("tests/") or (ROOT / part).exists()]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_to(root)
        try:
            path = find(mutation, root)
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
            failed = failing(root, ["-x", *arguments])
        except (LookupError, RuntimeError) as error:
            return mutation, "", f"NOT TRIED, {error}"
    return (mutation, failed[0], "") if failed else (mutation, "", "SURVIVED")


def fail_anyway(tests: list[str]) -> list[str]:
    """Return which of ``tests`` fail without any mutation."""
    with tempfile.TemporaryDirectory() as folder:
        copy_to(Path(folder))
        return failing(Path(folder), tests) if tests else []


def main(words: list[str]) -> int:
    chosen = [mutation for mutation in MUTATIONS if not words or any(word in mutation.what for word in words)]
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    # What takes long to import is there already in the processes that are forked from this one, each for one task.
    for name in ("numba", "pandas", "scipy.optimize", "sklearn.cluster"):
        importlib.import_module(name)
    caught: dict[str, list[str]] = {}
    lost = 0
    with get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        for mutation, test, verdict in pool.imap_unordered(try_out, chosen):
            lost += not test
            caught.setdefault(test, []).append(mutation.what)
            print(f"{mutation.what}: {verdict or f'caught by {test}'}", flush=True)
        caught.pop("", None)
        for test in pool.apply(fail_anyway, (list(caught),)):
            lost += len(caught.get(test, []))
            print(f"NOT TRIED, as {test} fails anyway: {', '.join(caught.get(test, []))}")
    print(f"{len(chosen) - lost} of {len(chosen)} mutations were caught")
    return min(lost, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
