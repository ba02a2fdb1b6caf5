# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists comments with two or more of "what ... is", "of which", "that of" and "but for", which are hard to read.

    scripts/wording.py [FILE...]    default: all tracked sources

For style only: a sentence with one of them may be the best one. Exits with 1 if there are such comments.
"""
import re
import subprocess
import sys

WORDS = re.compile(r"\bwhat\b[^.:;]*?\b(?:is|are|has|have)\b|\bof which\b|\bth(?:at|ose) of\b|\bbut for\b", re.IGNORECASE)
# Lines of // or #, texts of .td files in [{ }], docstrings.
COMMENTS = {
    "cpp": r"(?:^[ \t]*//[^\n]*\n)+", "h": r"(?:^[ \t]*//[^\n]*\n)+", "td": r"(?:^[ \t]*//[^\n]*\n)+|\[\{.*?\}\]",
    "py": r'(?:^[ \t]*#[^\n]*\n)+|"{3}.*?"{3}', "sh": r"(?:^[ \t]*#[^\n]*\n)+"}


def comments(path):
    """The line and the words of each."""
    with open(path) as file:
        text = file.read()
    for found in re.finditer(COMMENTS[path.rsplit(".", 1)[-1]], text, re.MULTILINE | re.DOTALL):
        # A text of several paragraphs is several comments.
        at = found.start()
        for paragraph in re.split(r"(\n[ \t/#]*\n)", found.group(0)):
            yield text.count("\n", 0, at) + 1, " ".join(re.sub(r"^[ \t]*(?://+|#+)", "", paragraph, flags=re.MULTILINE).split())
            at += len(paragraph)


def main():
    files = sys.argv[1:] or subprocess.run(["git", "ls-files", *("*." + end for end in COMMENTS)], check=True, capture_output=True,
                                           text=True).stdout.split()
    count = 0
    for path in files:
        if path.rsplit(".", 1)[-1] not in COMMENTS:
            sys.exit(f"wording.py: expected files that end in {', '.join('.' + end for end in COMMENTS)}, got {path}")
        for line, words in comments(path):
            if len(WORDS.findall(words)) > 1:
                count += 1
                print(f"{path}:{line}: {words}")
    sys.exit(count > 0)


main()
