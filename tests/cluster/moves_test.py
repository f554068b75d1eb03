"""Real nodes whose ring changes while clients write and processes are killed: nothing acknowledged is lost."""
import base64
import json
import random
import signal
import tempfile
import threading
import time
import unittest

from processes import (DONE, DROPPED_AT_ONCE, FORBIDDEN, Cluster, change, keys_seen, kvctl, wait_converged, wait_joined,
                       wait_until)

KEYS = 20_000
MEANWHILE = 3_000
VALUE = base64.b64encode(b"v" * 500).decode()


def lines_of(prefix, count):
    return "".join(json.dumps({"key_b64": base64.b64encode(f"{prefix}:{i}".encode()).decode(), "value_b64": VALUE}) + "\n"
                   for i in range(count))


def load(node, prefix, count):
    answer = node.kvctl("load", "-", stdin=lines_of(prefix, count).encode(), timeout=120)
    assert answer.returncode == DONE, answer.stderr


class Writer(threading.Thread):
    """Puts more keys by the nodes that it is given, until all are acknowledged."""

    def __init__(self, nodes, prefix="meanwhile"):
        super().__init__()
        self.addresses = ",".join(node.address for node in nodes)
        self.prefix = prefix
        self.failure = None
        self.scratch = tempfile.NamedTemporaryFile("w", suffix=".jsonl")
        self.scratch.write(lines_of(prefix, MEANWHILE))
        self.scratch.flush()

    def run(self):
        for resume in ((), *(("--resume",),) * 20):
            answer = kvctl("--node", self.addresses, "load", *resume, self.scratch.name, timeout=120)
            if answer.returncode == DONE:
                return
            self.failure = answer.stderr
            time.sleep(0.5)
        raise AssertionError(self.failure)

    def finish(self):
        self.join(120)
        assert not self.is_alive(), self.failure


class Moves(unittest.TestCase):
    # Rows B62 and B76: the joiner dies early, in the middle and late; so does a source.
    def test_a_join_that_is_killed_again_and_again_loses_nothing(self):
        with Cluster(3, flags=DROPPED_AT_ONCE) as cluster:
            old = cluster.live()
            load(cluster["n1"], "before", KEYS)
            writer = Writer(old)
            writer.start()
            n4 = cluster.add(4)
            for pause in (0.1, 0.6, 1.2):
                n4.launch()
                time.sleep(pause + random.random() / 5)
                n4.end(signal.SIGKILL)
            n4.start()
            cluster["n2"].end(signal.SIGKILL)
            cluster["n2"].start()
            wait_joined(cluster["n1"])
            writer.finish()
            cluster.wait_all_up()
            self.assertEqual(keys_seen(n4), KEYS + MEANWHILE)
            # Any one of the old ones may go now, and its disk.
            cluster["n3"].end(signal.SIGKILL)
            self.assertEqual(keys_seen(cluster["n1"]), KEYS + MEANWHILE)

    def test_a_leaver_that_is_killed_halfway_ends_by_itself_and_stays_out(self):
        with Cluster(4, flags=DROPPED_AT_ONCE) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            load(n1, "before", KEYS)
            writer = Writer([cluster[name] for name in ("n1", "n2", "n3")])
            writer.start()
            change(n1, "leave n4")
            time.sleep(0.3)
            n4.end(signal.SIGKILL)
            n4.launch()
            wait_joined(n1)
            wait_until(lambda: n4.process.poll() is not None, "n4 to end by itself", 30)
            # With 0, or with 5 where it had been removed before it was there again.
            self.assertIn(n4.process.returncode, (DONE, FORBIDDEN), n4.err())
            code, said = n4.refused()
            self.assertEqual(code, FORBIDDEN, said)
            self.assertIn("no", said)
            writer.finish()
            self.assertEqual(keys_seen(n1), KEYS + MEANWHILE)
            wait_converged(n1)
            self.assertEqual({m["name"] for m in n1.json("ring")["members"]}, {"n1", "n2", "n3"})
            self.assertEqual([m["keys"] for m in n1.json("status")["members"]], [KEYS + MEANWHILE] * 3)

    def test_a_throttle_holds_for_all_members_and_is_lifted_while_copies_move(self):
        with Cluster(3, flags=DROPPED_AT_ONCE) as cluster:
            n1 = cluster["n1"]
            load(n1, "before", KEYS)
            self.assertEqual(n1.kvctl("throttle", "1MB").returncode, DONE)

            def members():
                return {m["name"]: m for m in n1.json("transfers")["members"]}

            wait_until(lambda: {m["throttle"] for m in members().values()} == {1_000_000}, "all to know the throttle")
            n4 = cluster.add(4)
            n4.launch()
            wait_until(lambda: members().get("n4", {}).get("transfers"), "n4 to take copies in", 30)
            began = time.monotonic()
            most = 0
            while time.monotonic() < began + 5:
                there = members()["n4"]
                self.assertEqual(there["bytes_per_second"], 1_000_000)
                most = max(most, there["taken_in"])
                time.sleep(0.2)
            self.assertGreater(most, 500_000)
            self.assertLess(most, 1_500_000)
            self.assertLess(there["taken_over"], there["to_take_over"], "10 MB take longer than that")
            shown = {m["name"]: m for m in n1.json("status")["members"]}["n4"]
            self.assertEqual(shown["takeover_partitions"], there["to_take_over"])
            self.assertEqual(cluster["n2"].kvctl("throttle", "1GB").returncode, DONE)
            lifted = time.monotonic()
            wait_joined(n1)
            self.assertLess(time.monotonic() - lifted, 30)
            n4.wait_ready()
            self.assertEqual(members()["n4"]["throttle"], 10**9)
            self.assertEqual(keys_seen(n4), KEYS)

    # What was dropped comes back with the partition, whoever had stamped it.
    def test_a_ring_that_grows_and_shrinks_and_grows_again_has_all_its_keys(self):
        with Cluster(3, flags=DROPPED_AT_ONCE) as cluster:
            n1 = cluster["n1"]
            load(n1, "before", KEYS)
            for turn in range(2):
                writer = Writer([n1, cluster["n2"], cluster["n3"]], f"turn{turn}")
                writer.start()
                n4 = cluster.add(4).start()
                wait_joined(n1)
                wait_until(lambda: all(node.json("stats")["former.partitions"] == 0 for node in cluster.live()),
                           "former owners to let go", 60)
                change(n1, "leave n4")
                wait_joined(n1)
                self.assertEqual(n4.process.wait(30), DONE, n4.err())
                n4.__exit__()
                writer.finish()
                self.assertEqual(keys_seen(n1), KEYS + (turn + 1) * MEANWHILE)
            wait_converged(n1)
            repaired = n1.json("repair")
            self.assertEqual(repaired["differences"], 0, repaired)


if __name__ == "__main__":
    unittest.main()
