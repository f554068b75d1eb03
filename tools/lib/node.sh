# shellcheck shell=bash disable=SC2154
# Starting and ending one node from a script. To be sourced; wants `bin`, the folder of the binaries.
#
# A node's folder, always named by the same path, holds data/, log, out (what it printed), err, pid. A node is detached: it
# holds none of the caller's descriptors and outlives it. Only a process that such a pid file names, and that has this
# folder's data, is ever ended.

# node_pid FOLDER: the process id of the folder's running node, else fails.
node_pid() {
  local pid exe word words
  pid=$(cat "$1/pid" 2>/dev/null) || return 1
  exe=$(readlink "/proc/$pid/exe" 2>/dev/null) || return 1
  case ${exe##*/} in kvnode | 'kvnode (deleted)') ;; *) return 1 ;; esac
  mapfile -d '' words 2>/dev/null <"/proc/$pid/cmdline" || return 1
  for word in "${words[@]}"; do
    if [ "$word" = "$1/data" ]; then echo "$pid"; return 0; fi
  done
  return 1
}

# node_launch FOLDER FLAG…: starts it and waits for nothing.
node_launch() {
  local folder=$1 pid fd
  shift
  mkdir -p "$folder"
  : >"$folder/out"
  (
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      [ "$fd" -le 2 ] || eval "exec $fd>&-" 2>/dev/null || true
    done
    exec setsid "$bin/kvnode" --data "$folder/data" --log-file "$folder/log" "$@" \
      </dev/null >"$folder/out" 2>"$folder/err"
  ) &
  pid=$!
  disown "$pid"  # no word of bash's own when it is killed
  echo "$pid" >"$folder/pid"
}

# node_wait FOLDER: returns when it serves, else shows its last lines and fails.
node_wait() {
  local folder=$1 pid
  pid=$(cat "$folder/pid")
  for _ in $(seq 3000); do
    if grep -q '^ready ' "$folder/out"; then return 0; fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.02
  done
  if grep -q '^ready ' "$folder/out"; then return 0; fi
  echo "the node in $folder doesn't serve; its last lines:" >&2
  tail -q -n 5 "$folder/log" "$folder/err" >&2 2>/dev/null || true
  is_gone "$pid" && rm -f "$folder/pid"
  return 1
}

node_start() { node_launch "$@" && node_wait "$1"; }

# node_address FOLDER: where its clients are served.
node_address() { sed -n 's/^ready .*client=\([^ ]*\).*/\1/p' "$1/out"; }

# process_state PID: its letter in /proc: T is stopped, Z dead and not yet collected, nothing gone.
process_state() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1; }

# is_gone PID: it holds nothing any more. A dying process loses its name first, then its main thread; the last of its
# threads lets go of the files.
is_gone() {
  local threads=("/proc/$1/task/"*)
  case $(process_state "$1") in '' | X) return 0 ;; Z) [ ${#threads[@]} -le 1 ] ;; *) return 1 ;; esac
}

# node_signal FOLDER SIGNAL: false when it isn't running.
node_signal() {
  local pid
  pid=$(node_pid "$1") && kill -s "$2" "$pid"
}

# node_end FOLDER SIGNAL: returns when the process is gone.
node_end() {
  local pid
  pid=$(node_pid "$1") || return 0
  kill -s "$2" "$pid"
  kill -s CONT "$pid" 2>/dev/null || true  # a paused process takes SIGKILL alone
  for _ in $(seq 1750); do
    if is_gone "$pid"; then rm -f "$1/pid"; return 0; fi
    sleep 0.02
  done
  echo "the node in $1 (process $pid) doesn't end" >&2
  return 1
}
