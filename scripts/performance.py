#!/usr/bin/env python3
"""Writes the tables and plots of docs/performance.md from the runs in benchmarks/data/performance.

    performance.py run sizes                                 what the run was: chip, date, versions, method
    performance.py table sizes shape program [KEY=VALUE...]  times, a row for each shape, a column for each program
    performance.py lines forms [KEY=VALUE...]                the same, one below the other
    performance.py slower peers                              the rows where another library is faster
    performance.py best peers KEY=VALUE...                   one row, as a sentence
    performance.py plot peers share [KEY=VALUE...]           the SVG of one figure of a run

A run is a file there, its name the first argument after the command; the path of another file ends in .json. The programs of
benchmarks/ write such files (--json). A row of it has a program, a type and a
shape, and any of: microseconds; share, the time of the ceiling by that of the program; ratio, the time of the best other
library by that of the program. KEY=VALUE keeps the rows that have this value, KEY= those that have none.
"""
import argparse
import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

DATA = pathlib.Path(__file__).resolve().parent.parent / "benchmarks" / "data" / "performance"
NOT_RECORDED = "not recorded"


class Run:
    def __init__(self, name):
        file = pathlib.Path(name) if name.endswith(".json") else DATA / f"{name}.json"
        if not file.exists():
            names = ", ".join(sorted(path.stem for path in DATA.glob("*.json")))
            sys.exit(f"error: expected a run of benchmarks/data/performance ({names}), got '{name}'")
        self.facts = json.loads(file.read_text())
        self.rows = self.facts["times"]
        for row in self.rows:
            if "shape" not in row:
                row["shape"] = " x ".join(str(row[key]) for key in ("rows", "columns") if key in row)

    def keep(self, conditions):
        for condition in conditions:
            key, equals, value = condition.partition("=")
            if not equals:
                sys.exit(f"error: expected KEY=VALUE, got '{condition}'")
            self.rows = [row for row in self.rows if str(row.get(key, "")) == value]
        if not self.rows:
            sys.exit(f"error: no row of the run has {' '.join(conditions)}")


def describe(run):
    facts = run.facts
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items()) or NOT_RECORDED
    print(f"- Device: {facts['device']}; driver: {facts['driver'] or NOT_RECORDED}.")
    print(f"- Date: {facts['date']}; commit: {facts['commit'] or NOT_RECORDED}; versions: {versions}.")
    print(f"- Method: {facts['method']}.")
    for key, name in (("ceiling", "Ceiling"), ("peers", "Compared with"), ("host", "Host")):
        if key in facts:
            print(f"- {name}: {facts[key]}.")


def cell(row):
    figures = [f"{row['share']:.2f}"] if "share" in row else []
    figures += [f"{row['ratio']:.2f} x"] if "ratio" in row else []
    if "microseconds" not in row:
        return ", ".join(figures)
    time = f"{row['microseconds']:#.3g}".rstrip(".") if row["microseconds"] < 1000 else f"{row['microseconds']:.0f}"
    return f"{time} us" + (f" ({', '.join(figures)})" if figures else "")


def table(run, down, across):
    for key in (down, across):
        if not all(key in row for row in run.rows):
            sys.exit(f"error: expected something that each row of the run has, got '{key}'")
    columns = list(dict.fromkeys(row[across] for row in run.rows))
    cells = {}
    for row in run.rows:
        if (row[down], row[across]) in cells:
            sys.exit(f"error: two rows of the run have {down} '{row[down]}' and {across} '{row[across]}'")
        cells[row[down], row[across]] = cell(row)
    print(f"| {down} | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name in dict.fromkeys(row[down] for row in run.rows):
        print(f"| {name} | " + " | ".join(cells.get((name, column), "") for column in columns) + " |")


def lines(run):
    print("| program | shape | time |\n|---|---|---|")
    for row in run.rows:
        print(f"| {row['program']} | {row['shape']} | {cell(row)} |")


def slower(run):
    """Losing rows are published, too."""
    for row in run.rows:
        if row.get("ratio", 1) < 1:
            print(f"- {row['program']}, {row['type']}, {row['shape']}: the best other library is {100 / row['ratio'] - 100:.1f} % faster.")


def best(run):
    if len(run.rows) != 1:
        sys.exit(f"error: expected conditions that leave one row, {len(run.rows)} are left")
    row = run.rows[0]
    if not all(key in row for key in ("microseconds", "share", "ratio")):
        sys.exit("error: expected a row with microseconds, share and ratio")
    print(f"{row['program']} of {row['shape']} {row['type']} on an {run.facts['device']}: {row['microseconds']} us,\n"
          f"{row['share']:.2f} times the speed of the fastest copy of the same bytes,\n"
          f"{row['ratio']:.2f} times the speed of the best other library ({run.facts['date']})")


# Plots. A light background of their own, so that they can be read in dark pages, too.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 360, 60, 24, 56, 52
COLOURS = ("#1f6fb4", "#c2571a", "#3b8132", "#7a4fa3")
TITLES = {"share": "Speed by that of the fastest kernel that only moves the bytes",
          "ratio": "Speed by that of the best other library"}


def plot(run, key):
    rows = [row for row in run.rows if key in row and "rows" in row]
    if key not in TITLES or not rows:
        sys.exit(f"error: expected {' or '.join(TITLES)}, and rows that have it, got '{key}'")
    programs = list(dict.fromkeys(row["program"] for row in rows))
    if len(programs) > len(COLOURS):
        sys.exit(f"error: expected {len(COLOURS)} programs in a plot at most, got {len(programs)}")
    size = lambda row: row["rows"] * row["columns"]  # noqa: E731
    low, high = (math.floor(math.log10(min(map(size, rows)))), math.ceil(math.log10(max(map(size, rows)))))
    bottom = math.floor(5 * min(0.9, *(row[key] for row in rows))) / 5
    top = math.ceil(5 * max(1.1, *(row[key] for row in rows))) / 5
    x = lambda value: LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)  # noqa: E731
    y = lambda value: HEIGHT - BOTTOM - (value - bottom) / (top - bottom) * (HEIGHT - BOTTOM - TOP)  # noqa: E731
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
          f'font-family="sans-serif" font-size="12" fill="#222222">')
    print(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>')
    print(f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold">{escape(TITLES[key])} '
          f'({escape(run.facts["device"])}, {run.facts["date"]})</text>')
    for tick in range(round(bottom * 5), round(top * 5) + 1):
        value, strong = tick / 5, tick == 5
        print(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
              f'stroke="{"#222222" if strong else "#dddddd"}"/>')
        print(f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>')
    for tick in range(low, high + 1):
        print(f'<text x="{x(10**tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">10<tspan dy="-5" font-size="9">{tick}'
              f'</tspan></text>')
    print(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 12}" text-anchor="middle">elements of the tensor (rows x columns)</text>')
    place = LEFT
    for colour, program in zip(COLOURS, programs):
        print(f'<circle cx="{place + 5}" cy="36" r="4" fill="{colour}"/><text x="{place + 14}" y="40">{escape(program)}</text>')
        place += 34 + 6 * len(program)
        for row in rows:
            if row["program"] == program:
                print(f'<circle cx="{x(size(row)):.1f}" cy="{y(row[key]):.1f}" r="4" fill="{colour}" fill-opacity="0.75">'
                      f'<title>{escape(program)} {row["type"]} {row["shape"]}: {row[key]:.2f}</title></circle>')
    print("</svg>")


COMMANDS = {"run": (describe, 0), "table": (table, 2), "lines": (lines, 0), "slower": (slower, 0), "best": (best, 0), "plot": (plot, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("run")
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    function, count = COMMANDS[options.command]
    if len(options.arguments) < count:
        parser.error(f"{options.command} expected {count} arguments, got {len(options.arguments)}")
    run = Run(options.run)
    run.keep(options.arguments[count:])
    function(run, *options.arguments[:count])


if __name__ == "__main__":
    main()
