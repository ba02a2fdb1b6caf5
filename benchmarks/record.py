"""A run as a file of benchmarks/data/performance, which scripts/performance.py makes docs/performance.md of."""
import datetime
import json
import os
import sys

# What forward.py and backward.py write, one after the other, into one run: sizes.
SIZES = {
    "title": "Norms alone, many sizes",
    "ceiling": "the fastest of six kernels of the same bytes, benchmarks/timing.py: copies for the forward; for the backward "
               "kernels that read two tensors and write one",
    "method": "benchmarks/forward.py and benchmarks/backward.py: the median of nine CUDA-graph replays, over more memory than L2 "
              "holds; the backward computes dx and the weight's gradient"}


class Record:
    """`facts`: device, driver and versions. `ceiling`: what shares compare with, `peers`: what ratios do, if there are some. `group`: of
    programs that the page shows apart."""

    def __init__(self, title, facts, commit, ceiling, method, peers=None, group=None):
        self.facts = {"title": title, "device": facts["device"], "driver": facts["driver"],
                      "date": datetime.date.today().isoformat(), "commit": commit, "versions": facts["versions"],
                      "method": method}
        if ceiling:
            self.facts["ceiling"] = ceiling
        if peers:
            self.facts["peers"] = peers
        self.group = group
        self.times = []

    def add(self, program, dtype, rows, columns, microseconds, ceiling, theirs=None):
        """Times in microseconds: of the program, of the ceiling and, if there is one, of the best peer."""
        row = {"program": program, "type": dtype, "rows": rows, "columns": columns,
               "microseconds": round(microseconds, 2), "share": round(ceiling / microseconds, 3)}
        if theirs is not None:
            row["ratio"] = round(theirs / microseconds, 3)
        if self.group:
            row["group"] = self.group
        self.times.append(row)

    def add_row(self, **row):
        self.times.append(row)

    def add_to(self, path):
        """Puts the times behind those of a run that is there, of the same compiler on the same device. Of what was timed again
        it keeps the new ones."""
        with open(path) as file:
            former = json.load(file)
        # Some times of a run may have been compared with nobody's.
        if "peers" in former:
            self.facts.setdefault("peers", former["peers"])
        for key, value in self.facts.items():
            if key != "date" and former.get(key, value if key == "peers" else None) != value:
                sys.exit(f"error: {path}: expected a run whose {key} is {value!r}, got {former.get(key)!r}")

        def key(row):
            return [row.get(name) for name in ("program", "type", "rows", "columns", "shape", "group")]

        again = [key(row) for row in self.times]
        self.times = [row for row in former["times"] if key(row) not in again] + self.times

    def write(self, path):
        """A line for each time, so that runs can be compared by diff."""
        if os.path.exists(path):
            self.add_to(path)
        head = json.dumps(self.facts, indent=1).removesuffix("\n}")
        rows = ",\n".join("  " + json.dumps(row) for row in self.times)
        with open(path, "w") as file:
            file.write(f'{head},\n "times": [\n{rows}\n ]\n}}\n')


def add_options(parser):
    parser.add_argument("--json", metavar="FILE", help="write the run there, as benchmarks/data/performance has runs, or add it to the one there")
    parser.add_argument("--commit", help="of the compiler that made the module, for --json")
