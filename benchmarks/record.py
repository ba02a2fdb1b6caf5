"""A run as a file of benchmarks/data/performance, which scripts/performance.py makes docs/performance.md of."""
import datetime
import json


class Record:
    """`facts`: device, driver and versions. `peers`: who the ratios compare with, if they do."""

    def __init__(self, title, facts, commit, ceiling, method, peers=None):
        self.facts = {"title": title, "device": facts["device"], "driver": facts["driver"],
                      "date": datetime.date.today().isoformat(), "commit": commit, "versions": facts["versions"],
                      "ceiling": ceiling, "method": method}
        if peers:
            self.facts["peers"] = peers
        self.times = []

    def add(self, program, dtype, rows, columns, microseconds, ceiling, theirs=None):
        """Times in microseconds: of the program, of the ceiling and, if there is one, of the best peer."""
        row = {"program": program, "type": dtype, "rows": rows, "columns": columns,
               "microseconds": round(microseconds, 2), "share": round(ceiling / microseconds, 3)}
        if theirs is not None:
            row["ratio"] = round(theirs / microseconds, 3)
        self.times.append(row)

    def write(self, path):
        """A line for each time, so that runs can be compared by diff."""
        head = json.dumps(self.facts, indent=1).removesuffix("\n}")
        rows = ",\n".join("  " + json.dumps(row) for row in self.times)
        with open(path, "w") as file:
            file.write(f'{head},\n "times": [\n{rows}\n ]\n}}\n')


def add_options(parser):
    parser.add_argument("--json", metavar="FILE", help="write the run there, as benchmarks/data/performance has runs")
    parser.add_argument("--commit", help="of the compiler that made the module, for --json")
