# Sourced by run.sh, test.sh and wheel.sh: installs what is missing, configures, builds.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${RMSNORM_BUILD_DIR:-$root/build}
cd "$root"

# Debian 12 names. `python3` runs lit; ccache is used when it is there.
packages=(g++ cmake ninja-build python3 python3-venv llvm-22-dev llvm-22-tools libmlir-22-dev
          mlir-22-tools liblld-22-dev lld-22 libflatbuffers-dev
          flatbuffers-compiler libgtest-dev zlib1g-dev libzstd-dev
          clang-format-14 help2man)

# Prints those of the packages named that are not installed.
missing_packages() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
      echo "$name"
  done
}

install_packages() {
  local missing sudo=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "$(basename "$0"): expected Debian's apt to install packages, found none;" \
      "install the equivalents of: ${packages[*]}" >&2
    return 1
  fi
  mapfile -t missing < <(missing_packages "${packages[@]}")
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "$(basename "$0"): missing packages, and neither root nor sudo to" \
        "install them; run as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  echo "== Installing ${missing[*]}"
  local quiet=(-qq -o=Dpkg::Use-Pty=0)
  "${sudo[@]}" apt-get "${quiet[@]}" update &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${quiet[@]}" \
      install -y --no-install-recommends "${missing[@]}" >/dev/null || {
    echo "$(basename "$0"): apt-get could not install: ${missing[*]}" \
      "(Debian 12 has LLVM 22 in bookworm-security)" >&2
    return 1
  }
}

# Makes an environment in the build folder, with what the Python package is built
# and tested with; the python3 on PATH may bring more.
venv=$build/python
make_venv() {
  local needs=(apache-tvm-ffi scikit-build-core numpy ml_dtypes)
  [ -x "$venv/bin/pip" ] || python3 -m venv --system-site-packages "$venv"
  "$venv/bin/python" -c "import tvm_ffi, scikit_build_core, numpy, ml_dtypes" ||
    "$venv/bin/pip" install -q --retries 1 "${needs[@]}"
}

# With RMSNORM_FRAMEWORKS=1 what else tests of the package use, where it is not
# there: 5 GB, some minutes.
add_frameworks() {
  "$venv/bin/python" -c "import torch, transformers, jax, jax_tvm_ffi" ||
    "$venv/bin/pip" install -q --retries 1 torch transformers jax jax-tvm-ffi
}

# Installs the Python package there, for the tests of it; those of PyTorch and JAX
# run where the python3 on PATH has these, or with RMSNORM_FRAMEWORKS=1. Without a
# package index there is no package, and these tests are skipped. It is built where
# wheel.sh builds it, but with no compiler, as users of pip have it.
make_python_environment() {
  local log=$build/python.log
  echo "== Installing runtime/python into $venv"
  {
    make_venv && "$venv/bin/pip" install -q --no-deps --no-build-isolation --force-reinstall \
      --config-settings=build-dir="$build/python-wheel" --config-settings=cmake.define.RMSNORM_COMPILER= \
      "$root/runtime/python"
  } >"$log" 2>&1 || {
    rm -rf "$venv"
    echo "== No Python package, $log says why: tests of it are skipped"
    return 0
  }
  [ "${RMSNORM_FRAMEWORKS:-0}" = 0 ] || {
    echo "== Installing PyTorch and JAX into $venv, if they are not there"
    add_frameworks >>"$log" 2>&1 || echo "== Could not install them, $log says why"
  }
  "$venv/bin/python" -c "import torch, transformers, jax, jax_tvm_ffi" 2>/dev/null ||
    echo "== PyTorch, transformers, JAX or jax-tvm-ffi are missing: tests with them are skipped (RMSNORM_FRAMEWORKS=1 installs them)"
}

# Configures once (afterwards ninja does so by itself) and builds the targets
# named, or everything. Twelve files of a target are compiled as one, which halves
# the time from nothing; with RMSNORM_UNITY=OFF each alone, as after an edit less
# is to be done then.
configure_and_build() {
  local launcher=() duration=
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache
              -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    # The last two are what ccache asks for with precompiled headers.
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 \
      CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
  if [ ! -f "$build/build.ninja" ]; then
    echo "== Configuring in $build"
    mkdir -p "$build"
    cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
      -DCMAKE_UNITY_BUILD="${RMSNORM_UNITY:-ON}" -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
      "${launcher[@]}" --log-level=WARNING -Wno-dev >"$build/configure.log" 2>&1 || {
      cat "$build/configure.log" >&2
      return 1
    }
    # From nothing a step takes some eight seconds of a core.
    local steps cores
    steps=$(ninja -C "$build" -t commands "$@" | wc -l)
    cores=$(nproc)
    duration=" ($steps steps, about $((steps * 8 / 60 / cores + 1)) minutes on $cores cores; less with a filled ccache)"
  fi
  echo "== Building in $build$duration"
  ninja -C "$build" "$@"
}
