#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings what a tool's --help says into the form that help2man reads.

That is: its names of sections, and the text of an option below it, where one
that begins with "-" is no option.
"""
import re
import sys

COLUMN = 22  # of the texts of tools without LLVM


def option(name, text):
    """An option, a value of one, or an option of a pass."""
    return [name, " " * COLUMN + text] if text else [name]


def common(line):
    """What all tools have, or None."""
    if match := re.match(r"usage: (.*)", line, re.IGNORECASE):
        return ["Usage: " + match[1]]
    if match := re.match(r"OVERVIEW: (.)(.*)", line):
        return [match[1].upper() + match[2]]
    if match := re.match(r"Exit status: (.*)", line):
        return ["", "*Exit status*", "", match[1]]
    # Commands are not filled as one paragraph.
    return [line, ""] if line.startswith("  norm-") else None


def without_llvm(lines):
    """No heading of options, and their texts in one column."""
    options = False
    for line in lines:
        if line.startswith("  -") and not options:
            options = True
            yield from ("", "Options:", "")
        if not (known := common(line)) and re.match(r"  -.{18} \S", line):
            known = option(line[:COLUMN].rstrip(), line[COLUMN:])
        yield from known or [line]


def with_llvm(lines):
    """Groups of options, with a "-" before each text."""
    options = heading = passes = False
    for line in lines:
        if line == "OPTIONS:":
            options = True
            yield from ("", "Options:", "")
        elif not options:
            yield from common(line) or [line]
        elif re.match(r"\S.*:$", line):
            heading = True
            yield from ("", line)
        # norm-opt's passes come as an option among the others.
        elif line == "  Compiler passes to run":
            continue
        elif line in ("    Passes:", "    Pass Pipelines:"):
            passes = heading = True
            yield from ("", line.strip())
        elif not heading or line:
            # To help2man it is a heading if an indented line comes next.
            if heading and line[0] != " ":
                line = " " + line
            heading = False
            if passes and line.startswith("  -"):
                passes = False
                yield from ("", "General options, continued:")
            # An option of a pass is given after "=", as a value is.
            if passes:
                line = re.sub("^        --", "    =", line)
            if match := re.match(r"( *[-=].*?) +- +(.*)", line + " "):
                # <value> in capitals, as in the tools without LLVM.
                name = re.sub(r"(?<!^    =)<(.+)>", lambda value: value[1].upper(), match[1])
                yield from option(name, match[2].rstrip())
            elif re.match(" *=", line):  # a value without text
                yield from (line, "")
            else:
                # More of a text is far to the right.
                yield re.sub("^ {30,}", " " * COLUMN, line)


text = sys.stdin.read().splitlines()
print("\n".join((with_llvm if "OPTIONS:" in text else without_llvm)(text)))
