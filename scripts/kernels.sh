#!/usr/bin/env bash
# Names the kernels the compiler makes, to compare two commits: see kernels.py.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/kernels.py" "$@"
