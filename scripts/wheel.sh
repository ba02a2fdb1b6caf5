#!/usr/bin/env bash
# Installs what is missing, builds, and makes a wheel of the Python package that
# has norm-compile in it, for machines without LLVM: build/wheel/rmsnorm-*.whl.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
install_packages
configure_and_build norm-compile-static

wheels=$build/wheel log=$build/wheel.log
# What is linked here needs this machine's glibc or a newer one. LLVM's archives
# do: Debian 12's call arc4random, which is as new as its glibc 2.36.
glibc=$(getconf GNU_LIBC_VERSION)
glibc=${glibc#glibc }
tag=manylinux_${glibc/./_}_$(uname -m)
echo "== Making a wheel with norm-compile in $wheels"
rm -rf "$wheels"
mkdir "$wheels"
{
  make_venv &&
    "$venv/bin/pip" wheel -q --no-deps --no-build-isolation -w "$wheels" \
      --config-settings=build-dir="$build/python-wheel" --config-settings=wheel.tags="py3-none-$tag" \
      --config-settings=cmake.define.RMSNORM_COMPILER="$build/bin/norm-compile-static" \
      "$root/runtime/python"
} >"$log" 2>&1 || {
  cat "$log" >&2
  echo "wheel.sh: could not make the wheel; a package index is needed for what" \
    "builds it" >&2
  exit 1
}
wheel=$(echo "$wheels"/rmsnorm-*.whl)

# The tag promises that no library is needed but those that every machine has, and
# that of apache-tvm-ffi, which pip installs.
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
"$venv/bin/python" -m zipfile -e "$wheel" "$unpacked"
for file in "$unpacked"/rmsnorm/bin/norm-compile "$unpacked"/rmsnorm/*.so; do
  others=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so\.[0-9]+|ld-linux-.*|libtvm_ffi\.so)$' || true)
  if [ -n "$others" ]; then
    echo "wheel.sh: expected ${file#"$unpacked"/} to need libraries of glibc and" \
      "libstdc++ only, got ${others//$'\n'/, }" >&2
    rm -f "$wheel"
    exit 1
  fi
done
echo "$wheel: $(du -m --apparent-size "$wheel" | cut -f1) MB"
