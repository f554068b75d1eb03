"""Disks that are full, fail or lie, under a real kvnode: rows B80, B82, B85, B86."""
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import unittest

from processes import Node, run, wait_until

LONG = bool(os.environ.get("RINGKV_LONG"))
DONE, NOT_FOUND, FAILED, UNKNOWN = 0, 1, 3, 4
MIB = 1 << 20

# The next fsync of a log fails with EIO once the file named by FAIL_SYNC is there; it is removed by that.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd) {
  char link[64], path[PATH_MAX + 1];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, PATH_MAX);
  if (n < 4) return 0;
  path[n] = 0;
  const char* trigger = getenv("FAIL_SYNC");
  if (!trigger || strcmp(path + n - 4, ".log") || unlink(trigger)) return 0;
  errno = EIO;
  return 1;
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return fails(fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return fails(fd) ? -1 : real(fd);
}
"""


class SmallDisk(Node):
    """A node whose directory is a file system of its own."""

    def __init__(self, mebibytes, *flags):
        super().__init__(*flags)
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", self.directory],
                                      capture_output=True).returncode == 0

    def ballast(self, size):
        path = self.directory / "ballast"
        path.write_bytes(b"\0" * size)
        return path

    def fill(self):
        """Takes all that is left."""
        path = self.directory / "rest"
        with open(path, "wb", buffering=0) as rest:
            try:
                while rest.write(b"\0" * 65536):
                    pass
            except OSError:
                pass
        return path

    def __exit__(self, *exception):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)
        if self.mounted:
            subprocess.run(["umount", self.directory], check=True)
        super().__exit__(*exception)


@unittest.skipUnless(os.geteuid() == 0, "mounting a small file system needs root")
class FullDisk(unittest.TestCase):
    def test_below_the_reserve_puts_are_refused_by_name_and_taken_again_without_a_restart(self):
        with SmallDisk(160, "--disk-reserve", "48MiB", "--memory", "32MiB") as node:
            self.assertEqual(node.kvctl("put", "before", "v").returncode, DONE)
            ballast = node.ballast(100 * MIB)
            wait_until(lambda: node.kvctl("put", "k", "v").returncode == FAILED, "puts to be refused")
            refused = node.kvctl("put", "k", "v")
            self.assertIn(b"OUT_OF_SPACE", refused.stderr)
            self.assertIn(b"n1", refused.stderr)
            self.assertEqual(node.kvctl("get", "before").stdout, b"v")
            self.assertEqual(node.kvctl("del", "before").returncode, DONE)
            self.assertEqual(node.json("stats")["disk.puts_refused"], 1)
            ballast.unlink()
            wait_until(lambda: node.kvctl("put", "k", "again").returncode == DONE, "puts to be taken again")
            self.assertEqual(node.kvctl("get", "k").stdout, b"again")

    def test_with_no_space_at_all_nothing_acknowledged_is_lost_and_it_recovers(self):
        with SmallDisk(160, "--disk-reserve", "1", "--memory", "32MiB") as node:
            stored = {}

            def put(i):
                value = f"{i}-".encode() * 2000
                if node.kvctl("put", f"k{i}", "-", stdin=value).returncode == DONE:
                    stored[f"k{i}"] = value
                    return True
                return False

            for i in range(20):
                self.assertTrue(put(i))
            rest = node.fill()
            wait_until(lambda: not put(1000 + random.randrange(10 ** 9)), "a put that finds no space")
            rest.unlink()
            wait_until(lambda: put(1), "puts to be taken again")
            for restart in (False, True):
                if restart:
                    node.end(signal.SIGKILL)
                    node.start()
                for key, value in stored.items():
                    self.assertEqual(node.kvctl("get", key).stdout, value, key)


class FailedSync(unittest.TestCase):
    def test_a_put_whose_sync_failed_is_not_acknowledged_and_what_was_is_there(self):
        with tempfile.TemporaryDirectory() as directory:
            source, shim, trigger = (pathlib.Path(directory) / name for name in ("shim.c", "shim.so", "trigger"))
            source.write_text(SHIM)
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
            os.environ.update(LD_PRELOAD=str(shim), FAIL_SYNC=str(trigger))
            if "asan" in str(os.environ.get("RINGKV_BIN")):
                os.environ["ASAN_OPTIONS"] = "verify_asan_link_order=0"
            node = Node()
            try:
                node.start()
            finally:
                for name in ("LD_PRELOAD", "FAIL_SYNC"):
                    del os.environ[name]
            try:
                self.assertEqual(node.kvctl("put", "before", "v").returncode, DONE)
                trigger.touch()
                failed = node.kvctl("put", "k", "v", "-v")
                self.assertNotIn(b'"durability":"synced"', failed.stdout)
                self.assertEqual(failed.returncode, UNKNOWN, failed.stderr)
                self.assertIn(b"--op-id", failed.stderr)
                self.assertFalse(trigger.exists())
                wait_until(lambda: node.kvctl("put", "after", "v").returncode == DONE, "the store to be reopened")
                self.assertEqual(node.json("stats")["store.fences"], 1)
                self.assertIn("fenced", node.err())
                node.end(signal.SIGKILL)
                node.start()
                for key in ("before", "after"):
                    self.assertEqual(node.kvctl("get", key).stdout, b"v")
            finally:
                node.__exit__()


class DamagedFiles(unittest.TestCase):
    def start_within_30_s(self, node):
        """True: it serves. False: it ended, with a message."""
        with open(node.directory / "out", "wb") as out, open(node.directory / "err", "wb") as err:
            node.process = subprocess.Popen(node.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        wait_until(lambda: b"\n" in node.out() or node.process.poll() is not None, "an end or a start", 30)
        if node.process.poll() is None:
            node.address = node.out().split(b"client=")[1].split()[0].decode()
            return True
        self.assertNotEqual(node.process.returncode, 0)
        self.assertGreater(node.process.returncode, 0, "a crash")
        self.assertIn("CORRUPTION", node.err())
        return False

    def check_what_is_there(self, node, values):
        """Every value is right, or refused with the reason, or, where loss was reported or accepted, missing."""
        lossy = node.json("stats")["store.log_damaged"] == 1
        for key, value in list(values.items())[::3]:  # a refusal is tried again, and takes its time
            answer = node.kvctl("get", key)
            if answer.returncode == DONE:
                self.assertEqual(answer.stdout, value, key)
            elif answer.returncode == NOT_FOUND:
                self.assertTrue(lossy, f"{key} is missing and nothing was said")
            else:
                self.assertRegex(answer.stderr, rb"damaged/\d+\.sst .*--accept-loss|sets a damaged file aside")

    def check_that_loss_can_be_accepted(self, node, values):
        """There is no other owner: what is left is served once an operator says so, and the node is as any other."""
        if not any(node.directory.glob("data/damaged/*.sst")):
            return
        self.assertEqual(node.kvctl("repair", "--accept-loss").returncode, DONE)
        for key, value in values.items():
            answer = node.kvctl("get", key)
            self.assertIn(answer.returncode, (DONE, NOT_FOUND), answer.stderr)
            if answer.returncode == DONE:
                self.assertEqual(answer.stdout, value, key)
            self.assertEqual(node.kvctl("put", key, "new").returncode, DONE)
        node.end(signal.SIGKILL)
        node.start()
        for key in values:
            self.assertEqual(node.kvctl("get", key).stdout, b"new", key)

    def flip(self, path, offset):
        data = bytearray(path.read_bytes())
        data[offset] ^= 0x40
        path.write_bytes(data)

    def check_flips(self, pattern, flips, prepare):
        rng = random.Random(7)
        for _ in range(flips):
            node = Node()
            try:
                node.start()
                values = {f"k{i}": f"value {i} ".encode() * 50 for i in range(40)}
                for key, value in values.items():
                    self.assertEqual(node.kvctl("put", key, "-", stdin=value).returncode, DONE)
                node.end(signal.SIGKILL)
                prepare(node)
                files = [f for f in (node.directory / "data" / "db").glob(pattern) if f.stat().st_size > 1000]
                file = max(files, key=lambda f: f.stat().st_size)
                offset = rng.randrange(file.stat().st_size)
                self.flip(file, offset)
                with self.subTest(file=file.name, offset=offset):
                    if self.start_within_30_s(node):
                        self.check_what_is_there(node, values)
                        self.check_that_loss_can_be_accepted(node, values)
            finally:
                node.__exit__()

    def test_a_damaged_log_opens_with_the_loss_reported_or_stops_with_a_message(self):
        self.check_flips("*.log", 50 if LONG else 5, lambda node: None)

    def test_a_damaged_table_is_never_served(self):
        def into_tables(node):  # recovery writes what the log held into tables
            node.start()
            node.end()

        self.check_flips("*.sst", 50 if LONG else 5, into_tables)


if __name__ == "__main__":
    unittest.main()
