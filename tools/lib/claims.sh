# Claims of a demo: one line each, and an exit code for all. To be sourced.

claims_failed=0

# claim TEXT COMMAND…: "ok TEXT" when the command succeeds. What the command says goes to standard error.
claim() {
  local text=$1
  shift
  if "$@" >&2; then echo "ok $text"; else echo "FAILED $text"; claims_failed=1; fi
}

same() { [ "$1" = "$2" ] || { echo "expected $1, found $2"; return 1; }; }

claims_end() { exit "$claims_failed"; }
