#!/usr/bin/env python3
"""Keeps the code blocks of a Markdown file true.

A fenced block that follows the comment `<!-- run: COMMAND -->` is the standard
output of COMMAND, run by bash in the source folder with the tools on PATH. So
is Markdown, such as a table, between that comment and `<!-- end -->`.

    readme.py README.md            exits with 1 and a diff if a block differs
    readme.py README.md --update   writes the blocks anew
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?P<begin><!-- run: (?P<command>.*?) -->\n(?P<fence>```\w*\n)?)(?P<text>.*?)"
                   r"(?P<end>(?(fence)```|<!-- end -->)\n)", re.S)


def run(command):
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=SOURCE, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"error: `{command}` failed with {result.returncode}:\n{result.stderr}")
    return result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write the blocks anew")
    options = parser.parse_args()

    old = options.file.read_text()
    count = 0

    def replace(match):
        nonlocal count
        count += 1
        return match["begin"] + run(match["command"]) + match["end"]

    new = BLOCK.sub(replace, old)
    if count == 0:
        sys.exit(f"error: expected blocks with a `<!-- run: ... -->` comment in {options.file}, got none")
    if options.update:
        options.file.write_text(new)
        print(f"{options.file}: {count} blocks written")
    elif new != old:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "shown", "actual"))
        sys.exit(f"error: {options.file} is out of date; run scripts/readme.py {options.file} --update")
    else:
        print(f"{options.file}: {count} blocks are what their commands print")


if __name__ == "__main__":
    main()
