#!/usr/bin/env python3
"""Draws the pipeline, as an SVG on standard output, from norm-opt itself.

    picture.py > docs/images/pipeline.svg

The boxes are pipelines of norm-opt, as --help names them; in a box are its passes, as --dump-pass-pipeline lists them, with
their summaries. norm-opt must be on PATH. Nothing here names a pass.
"""
import re
import subprocess
import sys
from xml.sax.saxutils import escape

PREFIX = "rmsnorm-"
HALVES = ("tensor-half", "memref-half=target=sm_90")
TARGETS = ("to-nvvm", "to-rocdl", "to-sim")
ORACLE = "to-oracle"


def run(*arguments):
    result = subprocess.run(["norm-opt", *arguments], input="", capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"error: `norm-opt {' '.join(arguments)}` failed with {result.returncode}:\n{result.stderr}")
    return result.stdout, result.stderr


def read_summaries():
    """What --help says of each pass and pipeline."""
    lines = run("--help")[0].splitlines()
    return {match[1]: match[2] for match in (re.match(r" {6}--(\S+) +- +(.*)", line) for line in lines) if match}


def read_passes(pipeline):
    """The names of its passes, in their order, without the ops that they are nested under."""
    _, text = run(f"--{PREFIX}{pipeline}", "--dump-pass-pipeline", "-o", "/dev/null")
    passes = [match[1] for match in (re.match(r" +([\w-]+)(?:\{.*\})?,?$", line) for line in text.splitlines()) if match]
    if not passes:
        sys.exit(f"error: expected passes in the text of {PREFIX}{pipeline}, got:\n{text}")
    return passes


def merged(passes):
    """[passes of a line]: one of ours, or all of upstream's between two of ours."""
    lines = []
    for name in passes:
        if lines and not name.startswith(PREFIX) and not lines[-1][-1].startswith(PREFIX):
            lines[-1].append(name)
        else:
            lines.append([name])
    return lines


LINE, HEAD, GAP, WIDTH, NAME = 17, 40, 26, 860, 212
OURS, THEIRS, BORDER, FILL = "#1f4e79", "#777777", "#9db7d1", "#f4f8fc"


def wrapped(text, length):
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > length:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


class Drawing:
    def __init__(self):
        self.parts = []

    def text(self, x, y, text, colour="#222222", style=""):
        self.parts.append(f'<text x="{x}" y="{y}" fill="{colour}"{style}>{escape(text)}</text>')

    def box(self, x, y, width, height, title, summary):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{FILL}" stroke="{BORDER}"/>')
        self.text(x + 10, y + 20, title, OURS, ' font-size="13" font-weight="bold"')
        self.text(x + 10 + 8.6 * len(title) + 12, y + 20, summary)

    def pipeline(self, y, title, summary, passes):
        """A box over the whole width; returns where it ends."""
        rows = []  # (name, text)
        for line in merged(passes):
            if line[0].startswith(PREFIX):
                rows += [(line[0] if not i else "", text) for i, text in enumerate(wrapped(self.summaries[line[0]], 100))]
            else:
                rows += [(None, text) for text in wrapped("upstream: " + ", ".join(line), 100)]
        height = HEAD - 8 + LINE * len(rows)
        self.box(10, y, WIDTH - 20, height, title, summary)
        for i, (name, text) in enumerate(rows):
            at = y + HEAD + LINE * i
            if name:
                self.text(20, at, name, OURS, ' font-family="monospace"')
            self.text(20 + NAME, at, text, THEIRS if name is None else "#222222", ' font-style="italic"' if name is None else "")
        return y + height

    def arrow(self, x, y):
        self.parts.append(f'<path d="M{x} {y + 4} v{GAP - 12} m-4 -5 l4 6 l4 -6" fill="none" stroke="{OURS}" stroke-width="1.5"/>')


def main():
    drawing = Drawing()
    drawing.summaries = summaries = read_summaries()
    halves = {half: read_passes(half) for half in HALVES}
    common = [name for passes in halves.values() for name in passes]

    y = 10
    for half, passes in halves.items():
        name = PREFIX + half.partition("=")[0]
        y = drawing.pipeline(y, name, summaries[name], passes)
        drawing.arrow(WIDTH // 2, y)
        y += GAP
    width = (WIDTH - 20 - 10 * (len(TARGETS) - 1)) // len(TARGETS)
    ends = {}
    for target in TARGETS:
        passes = read_passes(target)
        if passes[: len(common)] != common:
            sys.exit(f"error: expected {PREFIX}{target} to begin with {' and '.join(HALVES)}, got {', '.join(passes)}")
        ends[target] = [(name, line) for name in passes[len(common) :] for line in [None, *wrapped(summaries[name], 42)]]
    height = HEAD - 8 + LINE * max(len(rows) for rows in ends.values())
    for i, (target, rows) in enumerate(ends.items()):
        x = 10 + i * (width + 10)
        drawing.box(x, y, width, height, PREFIX + target, "ends in")
        for k, (name, line) in enumerate(rows):
            at = y + HEAD + LINE * k
            drawing.text(x + 10, at, name if line is None else line, OURS if line is None else "#222222",
                         ' font-family="monospace"' if line is None else "")
    y = drawing.pipeline(y + height + GAP, PREFIX + ORACLE, summaries[PREFIX + ORACLE], read_passes(ORACLE)) + 10

    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
          f'font-family="sans-serif" font-size="12">')
    print(f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>')
    print("\n".join(drawing.parts))
    print("</svg>")


if __name__ == "__main__":
    main()
