#!/usr/bin/env bash
# Installs what is missing, builds, then compiles every example for an NVIDIA
# chip, an AMD chip and the simulator, runs it on the simulator and compares it
# with the oracle. Exits non-zero if one is further off than its bound.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
install_packages
configure_and_build norm-compile norm-run norm-inspect

modules=$build/examples
mkdir -p "$modules"
targets=sm_90,gfx942,sim:sm_90,sim:gfx942,oracle
echo "== Compiling examples/ into $modules for $targets"
compiled=()
for source in "$root"/examples/*.mlir; do
  module=$modules/$(basename "$source" .mlir).rmsn
  # A module is made again when its source or the compiler is newer.
  if [ ! "$module" -nt "$source" ] || [ ! "$module" -nt "$build/bin/norm-compile" ]; then
    "$build/bin/norm-compile" "$source" --target=$targets -o "$module"
  fi
  compiled+=("$module")
done

status=0
for device in sim:sm_90 sim:gfx942; do
  echo "== Running on $device"
  "$build/bin/norm-run" "${compiled[@]}" --device="$device" || status=1
done
echo "== Running Qwen3's norms on slices of a packed qkv tensor"
"$build/bin/norm-run" "$modules/qwen3_qk_norm.rmsn" --device=sim:sm_90 --strided ||
  status=1
exit $status
