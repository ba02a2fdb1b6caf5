# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bash completion of norm-bench, norm-compile, norm-inspect, norm-run and
# norm-tune. It asks the tool itself: options and their values are those that --help lists.

# Prints "--option", "--option=" or "--option=value" for all there is.
_rmsnorm_options() {
  "$1" --help 2>/dev/null | awk '
    match($0, /^  --?[a-z][-a-z0-9]*/) {
      option = substr($0, 3, RLENGTH - 2)
      print option (substr($0, RLENGTH + 1, 1) == "=" ? "=" : "")
    }
    match($0, /^    =[-a-z0-9:]+ /) {
      print option substr($0, 5, RLENGTH - 5)
    }'
}

_rmsnorm() {
  # All of the word: in COMP_WORDS it is in parts, cut at "=" and ":".
  local line=${COMP_LINE:0:COMP_POINT}
  local word=${line##*[[:space:]]}
  local options i
  COMPREPLY=()
  [[ $word == -* ]] || return
  options=$(_rmsnorm_options "$1")
  # Values only of the option that is named.
  [[ $word == *=* ]] || options=$(sed 's/=.*/=/' <<<"$options" | uniq)
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  # Up to the last "=" or ":" the word is there already.
  local head=${word%"${word##*[=:]}"}
  for i in "${!COMPREPLY[@]}"; do
    COMPREPLY[i]=${COMPREPLY[i]#"$head"}
  done
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}

# Where nothing of ours fits, files are completed.
complete -o default -F _rmsnorm norm-bench norm-compile norm-inspect norm-run norm-tune
