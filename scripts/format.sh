#!/usr/bin/env bash
# Formats all C and C++ files; with --check only says which ones need it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
format=$(command -v clang-format-14) || {
  echo "format.sh: expected clang-format-14, found none; run scripts/test.sh" \
    "once or: apt-get install clang-format-14" >&2
  exit 1
}
mapfile -t files < <(git ls-files '*.cpp' '*.h' '*.c')
if [ "${1:-}" != --check ]; then
  exec "$format" -i "${files[@]}"
fi
"$format" --dry-run -Werror "${files[@]}" || {
  echo "format.sh: the files above are not formatted; to fix them run:" \
    "scripts/format.sh" >&2
  exit 1
}
echo "== Formatting: ${#files[@]} files are as clang-format-14 wants them"
