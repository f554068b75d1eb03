"""Several real nodes whose copies have come apart, by absence, loss, damage: they converge, and nobody does anything."""
import base64
import itertools
import pathlib
import re
import shutil
import signal
import time
import unittest

from clients import Clients, through, wait
from processes import (DONE, FAILED, HINTS_OFF, LONG, NOT_FOUND, ROUNDS_OFF, WRONG_USE, Cluster, load, run, statistic,
                       wait_converged, wait_hints_drained, wait_until)

ROUNDS_OFTEN = ("--anti-entropy-interval", "2s")


def most_resident_mib(node):
    status = pathlib.Path(f"/proc/{node.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) // 1024


def hints(node):
    return node.json("hints")["hints"]


def local(asked, name, key):
    return asked.json("local-get", name, key)


def is_up(cluster, name):
    return all(cluster.states(node).get(name) == "up" for node in cluster.live())


class Returned(unittest.TestCase):
    def test_a_node_killed_under_5000_puts_gets_all_of_them_by_hints_alone(self):
        with Cluster(3, flags=ROUNDS_OFF) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            n3.end(signal.SIGKILL)
            load(n1, ((f"k{i}", f"v{i}") for i in range(5000)))
            # B31: whoever holds them goes down too, and comes back.
            for name in ("n1", "n2"):
                cluster[name].end(signal.SIGKILL)
                cluster[name].start()
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [cluster["n1"], cluster["n2"]])
            self.assertGreaterEqual(hints(n1), 5000)
            not_yet = n1.kvctl("wait", "hints-drained", "--timeout", "1s")
            self.assertEqual(not_yet.returncode, 1)
            self.assertIn(b"n3", not_yet.stderr)
            n3.start()
            wait_hints_drained(n1)
            self.assertEqual(statistic(n1, n3, "store.keys"), 5000)
            for i in range(0, 5000, 97):
                record = local(n1, "n3", f"k{i}")
                self.assertEqual(base64.b64decode(record["versions"][0]["value_b64"]).decode(), f"v{i}")
            self.assertEqual({local(n1, "n3", f"k{i}")["versions"][0]["source"] for i in range(40)}, {"hint"})
            self.assertEqual(hints(n1), 0)

    def test_a_wiped_node_gets_everything_by_rounds_alone(self):
        with Cluster(3, flags=HINTS_OFF + ROUNDS_OFTEN) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            load(n1, ((f"k{i}", f"v{i}" * 20) for i in range(5000)))
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            shutil.rmtree(n3.data)
            n3.start()
            cluster.wait_all_up()
            wait_converged(n1)
            self.assertEqual(statistic(n1, n3, "store.keys"), 5000)
            self.assertEqual(statistic(n1, n3, "partitions.incomplete"), 0)
            self.assertEqual(statistic(n1, n1, "hints.stored"), 0)
            # It counts for reads again.
            cluster["n2"].end(signal.SIGKILL)
            for i in range(0, 5000, 501):
                self.assertEqual(n3.kvctl("get", f"k{i}").stdout.decode(), f"v{i}" * 20)

    @unittest.skipUnless(LONG, "for --long")
    def test_a_refill_of_a_million_keys_takes_little_memory_at_either_end(self):
        """B56: 1 GiB, and no more than 256 MiB over what the nodes need anyway."""
        with Cluster(3, flags=HINTS_OFF) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            bench = run("kvbench", "--node", n1.client, "--workload", "get", "--keys", "1000000", "--value-size",
                        "1024", "--connections", "16", "--depth", "16", "--duration", "1", timeout=600)
            self.assertEqual(bench.returncode, DONE, bench.stderr)
            wait_converged(n1, 120)
            self.assertEqual(statistic(n1, n3, "store.keys"), 1_000_000)
            base = {name: most_resident_mib(cluster[name]) for name in ("n1", "n2", "n3")}
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            shutil.rmtree(n3.data)
            n3.start()
            cluster.wait_all_up()
            wait_converged(n1, 300)
            self.assertEqual(statistic(n1, n3, "store.keys"), 1_000_000)
            for name, before in base.items():
                self.assertLessEqual(most_resident_mib(cluster[name]), before + 256, name)

    def test_a_node_stale_on_some_keys_is_healed_by_reads_alone(self):
        with Cluster(3, flags=HINTS_OFF + ROUNDS_OFF) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            keys = [f"k{i}" for i in range(2000)]
            load(n1, ((key, "old") for key in keys))
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            for key in keys[::100]:
                self.assertEqual(n1.kvctl("put", key, "new").returncode, DONE)
            n3.start()
            cluster.wait_all_up()
            for key in keys[::100]:
                self.assertEqual(base64.b64decode(local(n1, "n3", key)["versions"][0]["value_b64"]), b"old")
                self.assertEqual(n1.kvctl("get", "--r", "3", key).stdout, b"new")
                self.assertEqual(base64.b64decode(local(n1, "n3", key)["versions"][0]["value_b64"]), b"new")
            before = sum(statistic(n1, node, "get.read_repairs") for node in cluster.live())
            for key in keys[:200]:
                n1.kvctl("get", "--r", "3", key)
            self.assertEqual(sum(statistic(n1, node, "get.read_repairs") for node in cluster.live()), before)

    def test_a_delete_that_a_node_missed_is_never_undone_by_reads(self):
        """B42."""
        with Cluster(3, flags=HINTS_OFF + ROUNDS_OFF) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            self.assertEqual(n1.kvctl("put", "k", "v", "--w", "3").returncode, DONE)
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            self.assertEqual(n1.kvctl("del", "k").returncode, DONE)
            n3.start()
            cluster.wait_all_up()
            for node in itertools.islice(itertools.cycle(cluster.live()), 10):
                self.assertEqual(node.kvctl("get", "k", "--r", "3").returncode, NOT_FOUND)
            self.assertTrue(local(n1, "n3", "k")["versions"][0]["tombstone"])

    def test_repair_says_what_it_did_and_what_it_may_not_do(self):
        with Cluster(3, flags=HINTS_OFF + ROUNDS_OFF) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            load(n1, ((f"k{i}", "v" * 100) for i in range(300)))
            partial = n1.json("repair")
            self.assertTrue(partial["partial"])
            n3.start()
            cluster.wait_all_up()
            repaired = n1.json("repair")
            self.assertFalse(repaired["partial"])
            self.assertEqual(repaired["differences"], 300)
            self.assertEqual(repaired["keys_sent"], 300)
            again = n1.json("repair")
            self.assertEqual((again["differences"], again["keys_sent"], again["bytes_sent"]), (0, 0, 0))
            # B60
            self.assertEqual(n1.kvctl("repair", "--partition", "4096").returncode, WRONG_USE)
            partition = n1.json("explain", "k1")["partition"]
            self.assertEqual(n1.kvctl("repair", "--partition", str(partition)).returncode, DONE)


class Deleted(unittest.TestCase):
    def test_nothing_comes_back_whoever_was_away_and_no_tombstone_stays(self):
        """In each order in which three nodes miss a put and its delete."""
        with Cluster(3, flags=ROUNDS_OFTEN) as cluster:
            n1 = cluster["n1"]
            for order in itertools.permutations(("n1", "n2", "n3")):
                keys = [f"{'-'.join(order)}:{i}" for i in range(20)]
                load(n1, ((key, "v") for key in keys))
                for away, verb in zip(order, ("put", "del", None)):
                    node = cluster[away]
                    node.end(signal.SIGKILL)
                    others = [other for other in cluster.live()]
                    cluster.wait_for({name: "down" if name == away else "up" for name in cluster.nodes}, others)
                    for key in keys:
                        words = {"put": ("put", key, "again"), "del": ("del", key), None: ("get", key)}[verb]
                        code = others[0].kvctl(*words).returncode
                        self.assertEqual(code, NOT_FOUND if verb is None else DONE, (order, words))
                    node.start()
                    cluster.wait_all_up()
                for node in cluster.live():
                    for key in keys:
                        self.assertEqual(node.kvctl("get", key).returncode, NOT_FOUND, (order, key))
            wait_converged(n1)
            self.wait_empty(cluster)

    def wait_empty(self, cluster, seconds=60):
        n1 = cluster["n1"]
        left = lambda: {node.name: (statistic(n1, node, "transient.records"), statistic(n1, node, "store.keys"))
                        for node in cluster.live()}
        wait_until(lambda: set(left().values()) == {(0, 0)}, f"no tombstones and no keys: {left()}", seconds)

    def test_after_many_puts_and_deletes_nothing_is_left(self):
        """B106."""
        count = 100_000 if LONG else 5000
        with Cluster(3, flags=ROUNDS_OFTEN) as cluster:
            n1 = cluster["n1"]
            load(n1, ((f"k{i}", "v") for i in range(count)))
            codes = set()
            with Clients(through(n1)) as (client,):
                for start in range(0, count, 50):
                    deletes = [client.begin_del(f"k{i}") for i in range(start, start + 50)]
                    codes.update(wait(delete)[0] for delete in deletes)
            self.assertEqual(codes, {"OK"})
            self.wait_empty(cluster, 120)
            self.assertEqual(n1.kvctl("scan").stdout, b"")

    def test_values_with_a_time_to_live_go_everywhere_and_make_no_differences(self):
        """B51."""
        with Cluster(3, flags=ROUNDS_OFTEN) as cluster:
            n1 = cluster["n1"]
            for i in range(200):
                self.assertEqual(n1.kvctl("put", f"k{i}", "v", "--ttl", "3s").returncode, DONE)
            wait_until(lambda: n1.kvctl("get", "k199").returncode == NOT_FOUND, "the last value to expire", 20)
            self.wait_empty(cluster, 60)
            repaired = n1.json("repair")
            self.assertEqual((repaired["differences"], repaired["bytes_sent"]), (0, 0))

    def test_a_clock_that_jumps_ahead_makes_nothing_expire(self):
        """B92."""
        with Cluster(3, flags=ROUNDS_OFTEN) as cluster:
            n1, n2 = cluster["n1"], cluster["n2"]
            for i in range(50):
                self.assertEqual(n1.kvctl("put", f"k{i}", "v", "--ttl", "1h").returncode, DONE)
            self.assertEqual(n1.kvctl("fault", "clock", "n2", "+864000").returncode, DONE)
            wait_until(lambda: "off by" in n2.err() or "off by" in n2.out().decode(), "n2 to say so", 30)
            for i in range(50):
                self.assertEqual(n2.kvctl("get", f"k{i}").stdout, b"v")
            time.sleep(5)
            self.assertEqual(n1.kvctl("fault", "clock", "n2", "+0").returncode, DONE)
            self.assertEqual(statistic(n1, n2, "store.keys"), 50)


class Budget(unittest.TestCase):
    def test_past_the_budget_of_hints_writes_go_on_and_rounds_close_the_gap(self):
        """B35."""
        with Cluster(3, flags=("--hint-budget", "64KiB", *ROUNDS_OFTEN)) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            load(n1, ((f"k{i}", "v" * 1000) for i in range(1000)))
            document = n1.json("hints")
            self.assertLessEqual(max(peer["bytes"] for peer in document["peers"]), 64 << 10)
            self.assertGreater(sum(statistic(n1, node, "hints.refused") for node in cluster.live()), 0)
            n3.start()
            cluster.wait_all_up()
            wait_converged(n1)
            self.assertEqual(statistic(n1, n3, "store.keys"), 1000)


class OldCopy(unittest.TestCase):
    def test_a_restored_old_copy_is_recognised_and_brought_up_to_date(self):
        with Cluster(3, flags=ROUNDS_OFTEN) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            keys = [f"k{i}" for i in range(200)]
            load(n1, ((key, "old") for key in keys))
            self.assertEqual(n3.end(), 0)
            shutil.copytree(n3.data, n3.directory / "copy")
            n3.start()
            cluster.wait_all_up()
            for key in keys[:50]:
                self.assertEqual(n1.kvctl("put", key, "new").returncode, DONE)
            for key in keys[50:100]:
                self.assertEqual(n1.kvctl("del", key).returncode, DONE)
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            shutil.rmtree(n3.data)
            (n3.directory / "copy").rename(n3.data)
            n3.start()
            self.assertIn("older copy", n3.err())
            cluster.wait_all_up()
            wait_converged(n1)
            self.assertEqual(statistic(n1, n3, "partitions.incomplete"), 0)
            for i, key in enumerate(keys):
                answer = n3.kvctl("get", key, "--r", "3")
                expected = (DONE, b"new") if i < 50 else (NOT_FOUND, b"") if i < 100 else (DONE, b"old")
                self.assertEqual((answer.returncode, answer.stdout), expected, key)


class Damage(unittest.TestCase):
    def test_a_flipped_byte_in_a_table_file_is_never_served_and_is_rebuilt(self):
        """B86."""
        with Cluster(3, flags=ROUNDS_OFTEN) as cluster:
            n1, n2 = cluster["n1"], cluster["n2"]
            count = 3000
            load(n1, ((f"k{i}", f"v{i}" * 50) for i in range(count)))
            wait_converged(n1)
            self.assertEqual(n1.end(), 0)  # everything is in table files
            table = max((n1.data / "db").rglob("*.sst"), key=lambda path: path.stat().st_size)
            content = bytearray(table.read_bytes())
            for at in range(len(content) // 10, len(content) // 2, max(1, len(content) // 40)):
                content[at] ^= 0x40
            table.write_bytes(content)
            n1.start()
            cluster.wait_all_up()
            answer = n2.kvctl("scrub", timeout=120)
            self.assertIn(answer.returncode, (DONE, FAILED), answer.stderr)
            for i in range(0, count, 61):
                answer = n1.kvctl("get", f"k{i}")
                self.assertEqual(answer.stdout.decode(), f"v{i}" * 50, answer.stderr)
            wait_until(lambda: is_up(cluster, "n1"), "n1 to be up")
            wait_converged(n2)
            self.assertEqual(statistic(n2, n1, "store.keys"), count)
            self.assertEqual(statistic(n2, n1, "partitions.incomplete"), 0)
            for i in range(0, count, 61):
                record = local(n2, "n1", f"k{i}")
                self.assertEqual(base64.b64decode(record["versions"][0]["value_b64"]).decode(), f"v{i}" * 50)


class Seen(unittest.TestCase):
    def test_explain_shows_hints_and_how_each_copy_came(self):
        with Cluster(5, flags=ROUNDS_OFF) as cluster:
            n1 = cluster["n1"]
            self.assertEqual(n1.kvctl("put", "k", "v1", "--w", "3").returncode, DONE)
            owners = [replica["node"] for replica in n1.json("explain", "k")["replicas"]]
            away = next(name for name in reversed(owners) if name != "n1")
            cluster[away].end(signal.SIGKILL)
            cluster.wait_for({name: "down" if name == away else "up" for name in cluster.nodes}, cluster.live())
            receipt = n1.json("put", "k", "v2", "-v", "--w", "3")  # the third is a stand-in
            self.assertIn(away, [ack.get("hint_for") for ack in receipt["acks"]])
            document = n1.json("explain", "k")
            holders = [r for r in document["replicas"] if r.get("hint_for") == away]
            self.assertEqual(len(holders), 1)
            self.assertNotIn(holders[0]["node"], owners)
            self.assertIn([False, []], [[r["alive"], r["versions"]] for r in document["replicas"] if r["node"] == away])
            cluster[away].start()
            wait_hints_drained(n1)
            self.assertEqual(local(n1, away, "k")["versions"][0]["source"], "hint")
            text = n1.kvctl("explain", "k").stdout.decode()
            self.assertIn("hint", text)

    def test_primary_puts_count_no_hints(self):
        with Cluster(3) as cluster:
            n1 = cluster["n1"]
            cluster["n3"].end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            self.assertEqual(n1.kvctl("put", "k", "v", "--primary", "--w", "3").returncode, FAILED)
            self.assertEqual(n1.kvctl("put", "k", "v", "--primary", "--w", "2").returncode, DONE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
