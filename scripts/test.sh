#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests. No GPU is needed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
install_packages
configure_and_build
make_python_environment
if ! PATH=$PATH:/usr/local/cuda/bin command -v ptxas >/dev/null; then
  echo "== No ptxas (CUDA toolkit): tests that assemble PTX are skipped"
fi
[ -e /dev/nvidiactl ] || echo "== No NVIDIA device: tests on one are skipped"
[ -n "${AMDEMU_PATH:-}" ] && [ -n "${AMDEMU_TOOL:-}" ] ||
  echo "== AMDEMU_PATH and AMDEMU_TOOL (test/lit.cfg.py) are not both set: tests that run AMD code objects are skipped"
echo "== Testing"
cd "$build"
exec ctest --output-on-failure --parallel "$(nproc)" "$@"
