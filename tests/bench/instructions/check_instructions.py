#!/usr/bin/env python3
"""Counts the instructions of a put and of a get under callgrind and compares them with the kept figures: fails when one
takes more than 15 % more. No clock is looked at, so that a busy machine changes nothing.

Usage: check_instructions.py REQUEST_TRACE [--renew]      REQUEST_TRACE: the built program; --renew keeps what is counted
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REQUESTS = 2000
ALLOWED = 1.15
KEPT = Path(__file__).with_name("instructions.json")


def start(program, operation, folder):
    return subprocess.Popen(
        ["valgrind", "--tool=callgrind", "--toggle-collect=trace_requests", f"--callgrind-out-file={folder}/{operation}",
         program, operation, str(REQUESTS)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def per_request(operation, running):
    said, _ = running.communicate()
    counted = re.search(r"Collected : (\d+)", said)
    if running.returncode != 0 or counted is None or int(counted[1]) == 0:
        sys.exit(f"check_instructions: {operation}s could not be counted:\n{said}")
    return int(counted[1]) // REQUESTS


def count(program):
    with tempfile.TemporaryDirectory() as folder:
        running = {operation: start(program, operation, folder) for operation in ("put", "get")}
        return {operation: per_request(operation, process) for operation, process in running.items()}


def is_within(operation, now, kept):
    print(f"{operation}: {now} instructions a request, {now / kept:.3f} of the kept {kept} (at most {ALLOWED})")
    return now <= ALLOWED * kept


def main():
    words = [word for word in sys.argv[1:] if word != "--renew"]
    if len(words) != 1:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        sys.exit("check_instructions: valgrind isn't installed: tools/install-packages tests")
    counted = count(words[0])
    if "--renew" in sys.argv:
        KEPT.write_text(json.dumps(counted, indent=2) + "\n")
        print(f"kept in {KEPT}: {counted}")
        return
    kept = json.loads(KEPT.read_text())
    within = [is_within(operation, counted[operation], kept[operation]) for operation in counted]
    if not all(within):
        sys.exit("check_instructions: requests cost more than they did. Look at what has grown (callgrind_annotate); if it is "
                 "wanted, run this with --renew and say in the commit what it buys.")


if __name__ == "__main__":
    main()
