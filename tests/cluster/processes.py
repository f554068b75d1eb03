"""Real kvnode and kvctl processes for tests: own ports, own directories, every wait bounded."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

BIN = pathlib.Path(os.environ.get("RINGKV_BIN", pathlib.Path(__file__).parents[2] / "build/release/bin"))
WAIT_S = 60  # for anything; a sanitizer's build on a busy machine is slow


def wait_until(condition, what, seconds=WAIT_S):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.02)


class Node:
    """One kvnode; a context manager that ends it and removes its directory."""

    def __init__(self, *flags, name="n1"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="ringkv-test-"))
        self.name = name
        self.flags = flags
        self.process = None
        self.address = None

    def command(self, *flags):
        return [BIN / "kvnode", "--data", self.directory / "data", "--name", self.name, "--client", "127.0.0.1:0",
                "--bootstrap", "--replicas", "1", *self.flags, *flags]

    def start(self, *flags):
        with open(self.directory / "out", "wb") as out, open(self.directory / "err", "ab") as err:
            self.process = subprocess.Popen(self.command(*flags), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        wait_until(lambda: b"\n" in self.out() or self.process.poll() is not None, "the ready line")
        ready = re.fullmatch(rb"ready name=(\S+) client=(\S+) epoch=(\d+)\n", self.out())
        if not ready:
            raise AssertionError(f"not ready: {self.out()!r}, {self.err()}")
        self.address = ready[2].decode()
        return self

    def out(self):
        return (self.directory / "out").read_bytes()

    def err(self):
        return (self.directory / "err").read_text(errors="replace")

    def end(self, how=signal.SIGTERM):
        """The exit code; negative: the signal."""
        self.process.send_signal(how)
        return self.process.wait(WAIT_S)

    def kvctl(self, *words, stdin=b"", timeout=WAIT_S):
        return kvctl("--node", self.address, *words, stdin=stdin, timeout=timeout)

    def json(self, *words):
        answer = self.kvctl("--json", *words)
        return json.loads(answer.stdout)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT_S)
        shutil.rmtree(self.directory, ignore_errors=True)


def run(program, *words, stdin=b"", timeout=WAIT_S, env=None):
    return subprocess.run([BIN / program, *words], input=stdin, capture_output=True, timeout=timeout,
                          env={**clean_environment(), **(env or {})})


def kvctl(*words, stdin=b"", timeout=WAIT_S):
    return run("kvctl", *words, stdin=stdin, timeout=timeout)


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("RINGKV_")}
