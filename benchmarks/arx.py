"""ARX beside our methods on Adult: Total-IL at the same k and the same l-diversity or t-closeness of income.

    MICROAGG_DATA_DIR=… python benchmarks/arx.py --classes 'arx/classes:arx/lib/*' [--records 30162]
    MICROAGG_DATA_DIR=… python benchmarks/arx.py --records 30162 --cells 5 5:distinct:2 5:closeness:0.1 5:closeness:0.2

``--classes`` is the class path of ARX and its libraries; ``java`` is that of a JDK. Without it, only our methods run. A
cell is ``k:rule:bound``, or ``k`` alone for k-anonymity without a guarantee, which is for our methods. ARX has our
taxonomies as hierarchies, ages in intervals of 5, 10, 20 and 40 years, and education in intervals of 2, 4 and 8 levels.
Its quality model is Loss, with the arithmetic mean; local recoding has the settings of ARX's own examples. Its classes
have here the range or common ancestor of their records, as ours have, which is never more than the loss of what ARX
writes. A suppressed record has the largest loss, and the guarantee is counted without it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from benchmarks.guarantees import RECORDS
from benchmarks.tables import table
from microagg.columns.records import Attribute, Records
from microagg.metrics.generalization import extents
from microagg.metrics.risk.disclosure import homogeneity
from microagg.partition import canonical_labels
from microagg.release.guarantees import holds

CELLS = ("5:distinct:2", "5:entropy:1.5", "5:closeness:0.25", "5:closeness:0.1", "10:closeness:0.25")
#: The share of records that ARX may suppress, its weight of suppression, and whether it recodes what it suppressed.
WAYS = {"whole columns": "0 0.5 no", "10 % suppressed": "0.1 0.5 no", "local recoding": "0.99 0 yes"}

PROGRAM = """
import java.io.File;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.*;
import org.deidentifier.arx.criteria.*;
import org.deidentifier.arx.metric.Metric;

public class Anonymize {
    public static void main(String[] line) throws Exception {
        double bound = Double.parseDouble(line[3]);
        Data data = Data.create(new File(line[0], "records.csv"), StandardCharsets.UTF_8, ';');
        for (String file : new File(line[0]).list()) if (file.endsWith(".hierarchy"))
            data.getDefinition().setAttributeType(file.replace(".hierarchy", ""),
                AttributeType.Hierarchy.create(new File(line[0], file), StandardCharsets.UTF_8, ';'));
        data.getDefinition().setAttributeType("income", AttributeType.SENSITIVE_ATTRIBUTE);
        ARXConfiguration settings = ARXConfiguration.create(Double.parseDouble(line[4]));
        settings.addPrivacyModel(new KAnonymity(Integer.parseInt(line[1])));
        settings.addPrivacyModel(line[2].equals("distinct") ? new DistinctLDiversity("income", (int) bound)
            : line[2].equals("entropy") ? new EntropyLDiversity("income", bound)
            : new EqualDistanceTCloseness("income", bound));
        settings.setQualityModel(
            Metric.createLossMetric(Double.parseDouble(line[5]), Metric.AggregateFunction.ARITHMETIC_MEAN));
        ARXResult result = new ARXAnonymizer().anonymize(data, settings);
        DataHandle output = result.getOutput();
        if (line[6].equals("yes")) result.optimizeIterativeFast(output, 0.01);
        output.save(new File(line[0], "released.csv"), ';');
    }
}
"""


def hierarchy(attribute: Attribute, values: np.ndarray) -> list[list[str]]:
    """Return each value and its generalizations."""
    if tree := attribute.taxonomy:
        above = {leaf: list(tree.ancestors(leaf))[1:-1] for leaf in tree.leaves}
        return [[tree.names[i], *(f"{tree.names[j]} ({tree.depths[j]})" for j in above[i]), "*"] for i in tree.leaves]
    pairs = list(enumerate(attribute.levels)) or [(value, str(value)) for value in np.unique(values)]
    widths = (2, 4, 8) if attribute.levels else (5, 10, 20, 40)
    return [[name, *(f"{i // width} of {width}" for width in widths), "*"] for i, name in pairs]


def release(data: pd.DataFrame, records: Records, classes: str, cell: list[str], way: str) -> tuple[float, float]:
    """Return the loss of ARX and the suppressed records in percent; raise if the guarantee does not hold."""
    k, rule, bound = cell
    with tempfile.TemporaryDirectory() as folder:
        data.to_csv(Path(folder, "records.csv"), sep=";", index=False)
        for attribute in records.attributes:
            lines = pd.DataFrame(hierarchy(attribute, data[attribute.name].to_numpy()))
            lines.to_csv(Path(folder, f"{attribute.name}.hierarchy"), sep=";", header=False, index=False)
        program = Path(folder, "Anonymize.java")
        program.write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["java", "-cp", classes, program, folder, *cell, *WAYS[way].split()], check=True)
        released = pd.read_csv(Path(folder, "released.csv"), sep=";", dtype=str)
    assert (released.pop("income") == data["income"]).all(), "not in the order of the file"
    suppressed = (released == "*").all(axis=1).to_numpy()
    labels = canonical_labels(released.groupby(list(released), sort=False).ngroup())
    counts = homogeneity(data["income"], labels)
    kept = np.unique(labels[~suppressed])
    figures = {"distinct": counts.distinct, "entropy": counts.entropies, "closeness": counts.distances}[rule][kept]
    assert (counts.sizes[kept] >= int(k)).all(), "a class has fewer than k records"
    assert all(holds(rule, figure, float(bound)) for figure in figures), "a class misses the guarantee"
    lost = extents(records, labels).shares.mean(axis=1)[labels]
    lost[suppressed] = 1.0
    return 100 * lost.mean(), 100 * suppressed.mean()


def main() -> None:
    """Release Adult in all ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes")
    parser.add_argument("--cells", nargs="+", default=CELLS)
    parser.add_argument("--records", type=int, default=RECORDS)
    arguments = parser.parse_args()
    adult = microagg.datasets.load("adult")
    names = list(adult.quasi_identifiers)
    frame = adult.frame.dropna(subset=names)
    if arguments.records < len(frame):
        frame = frame.sample(arguments.records, random_state=0)
    frame = frame.reset_index(drop=True)
    records, data = adult.schema.records(frame), frame[[*names, "income"]]
    options: dict[str, Any] = adult.schema.arguments() | {"classes": None}
    ways, rows = list(WAYS) if arguments.classes else [], []
    for cell in arguments.cells:
        k, rule, bound = (*cell.split(":"), "", "0")[:3]
        row = [k, f"{rule} {bound}" if rule else "none"]
        limits = {"distinct": int(float(bound)), "entropy": ("entropy", float(bound)), "closeness": float(bound)}
        option = {"closeness" if rule == "closeness" else "diversity": {"income": limits[rule]}} if rule else {}
        for way in (*ways, "mdav-generic-mixed", "least-loss"):
            start = time.perf_counter()
            if way in WAYS:
                lost, missing = release(data, records, arguments.classes, [k, rule, bound], way)
            else:
                report = microagg.microaggregate(frame, k=int(k), method=way, **options, **option).report
                lost, missing = report.generalization.information_loss, 0.0
            row.append(f"{lost:.2f}")
            print(cell, way, f"{lost:.3f}, {missing:.1f} % suppressed, {time.perf_counter() - start:.0f} s", flush=True)
        rows.append(row)
    print(table(["k", "Guarantee", *(f"ARX, {way}" for way in ways), "MDAV, merged", "Least loss"], rows, 2))


if __name__ == "__main__":
    main()
