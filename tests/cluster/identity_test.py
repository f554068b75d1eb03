"""Who a node is: labels that hold whatever a start says, members that go by themselves, rings that are forced."""
import json
import shutil
import signal
import time
import unittest

from processes import (DONE, FAILED, FORBIDDEN, NOT_FOUND, WRONG_USE, Cluster, Node, keys_seen, kvctl, plan, run,
                       wait_joined, wait_until)
from topology_test import KEYS, load


def member(node, name):
    return {m["name"]: m for m in node.json("ring")["members"]}.get(name)


def epoch(node):
    return node.json("ring")["epoch"]


def set_flag(node, flag, value):
    """The node is started with this from now on; None: without the flag."""
    flags = list(node.flags)
    if flag in flags:
        del flags[flags.index(flag):flags.index(flag) + 2]
    node.flags = tuple(flags) + (() if value is None else (flag, value))


def owners_all_hold(case, cluster, keys):
    """Each of these keys, asked for at each of its owners alone."""
    node = cluster.live()[0]
    for number in range(0, keys, max(1, keys // 20)):
        key = f"key:{number}"
        explained = node.json("explain", key)
        case.assertTrue(explained["replicas"])
        for replica in explained["replicas"]:
            case.assertTrue(replica["alive"], replica)
            local = node.kvctl("--json", "local-get", replica["node"], key)
            case.assertTrue(json.loads(local.stdout)["found"], (key, replica["node"], local.stderr))
        case.assertEqual(node.kvctl("get", key, "--r", "1").stdout, b"value")


class Labels(unittest.TestCase):
    def refused(self, node, *says):
        code, err = node.refused()
        self.assertEqual(code, WRONG_USE, err)
        for text in says:
            self.assertIn(text, err)

    def test_a_changed_label_is_refused_with_both_and_a_plan_changes_it(self):
        with Cluster(3) as cluster:
            n1, n2 = cluster["n1"], cluster["n2"]
            load(n1)
            before = epoch(n1)
            n2.end()
            set_flag(n2, "--rack", "z")
            self.refused(n2, "n2 has rack b in the ring", "--rack z", "kvctl plan rack n2 z")
            set_flag(n2, "--rack", None)
            n2.start("--weight", "1")
            cluster.wait_all_up()
            self.assertEqual(member(n2, "n2")["rack"], "b")
            n2.end()
            code, err = n2.refused("--weight", "2")
            self.assertEqual(code, WRONG_USE)
            self.assertIn("n2 has weight 1 in the ring", err)
            self.assertIn("--weight 2", err)
            n2.name = "n7"
            self.refused(n2, "n2", "n7")
            n2.name = "n2"
            self.assertEqual(epoch(n1), before, "nothing of this has changed the ring")

            n2.start()
            cluster.wait_all_up()
            self.assertEqual(n1.kvctl("plan", "rack", "n2", "z").returncode, DONE)
            self.assertEqual(n1.kvctl("plan", "commit").returncode, DONE)
            wait_joined(n1)
            n2.end()
            set_flag(n2, "--rack", "z")
            n2.start()
            cluster.wait_all_up()
            self.assertEqual(len(cluster.ring_digests()), 1)
            for node in cluster.live():
                self.assertEqual(member(node, "n2")["rack"], "z")
            n2.kvctl("wait", "converged")
            owners_all_hold(self, cluster, KEYS)

    def test_a_plan_that_was_made_while_the_node_was_away_holds(self):
        with Cluster(4) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            load(n1, 50)
            n4.end()
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "up", "n4": "down"}, [n1])
            self.assertEqual(n1.kvctl("plan", "rack", "n4", "z").returncode, DONE)
            self.assertEqual(n1.kvctl("plan", "commit").returncode, DONE)
            # Perhaps it is needed for the change to end: then the old label is right as well as the new one.
            if plan(n1)["stage"] != "none":
                set_flag(n4, "--rack", "y")
                self.refused(n4, "n4 has rack a in the ring", "--rack y")
                set_flag(n4, "--rack", "z")
                n4.start()
                wait_joined(n1)
                n4.end()
            wait_joined(n1)
            set_flag(n4, "--rack", "a")
            self.refused(n4, "n4 has rack z in the ring", "--rack a")
            set_flag(n4, "--rack", "z")
            n4.start()
            cluster.wait_all_up()
            self.assertEqual(len(cluster.ring_digests()), 1)

    def test_a_node_that_runs_is_warned_when_a_plan_changes_its_label(self):
        with Cluster(3) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            load(n1, 10)
            self.assertEqual(n1.kvctl("plan", "rack", "n3", "z").returncode, DONE)
            self.assertEqual(n1.kvctl("plan", "commit").returncode, DONE)
            wait_joined(n1)
            wait_until(lambda: "the next start would be refused" in n3.err(), "n3 to say so")
            self.assertIsNone(n3.process.poll())

    def test_one_that_is_alone_knows_its_label_from_its_disk(self):
        with Node("--rack", "a") as node:
            node.kvctl("put", "key", "value")
            node.end()
            node.flags = ("--rack", "b")
            self.refused(node, "n1 has rack a", "--rack b")
            node.flags = ()
            for place in ({"RINGKV_RACK": "b"}, {"RINGKV_WEIGHT": "3"}):
                answer = run("kvnode", *node.command()[1:], env=place)
                self.assertEqual(answer.returncode, WRONG_USE, answer.stderr)
            config = node.directory / "node.toml"
            config.write_text('rack = "b"\n')
            code, err = node.refused("--config", config)
            self.assertEqual(code, WRONG_USE)
            self.assertIn("--rack b", err)
            printed = run("kvnode", "--data", "d", "--print-config").stdout
            config.write_bytes(b"\n".join(line for line in printed.split(b"\n") if line.startswith((b"rack", b"# rack"))))
            node.start("--config", config)
            self.assertEqual(node.kvctl("get", "key").stdout, b"value")


class AutoRemoval(unittest.TestCase):
    AFTER = "--auto-remove-after", "3s"

    def test_one_that_is_gone_for_long_goes_by_itself(self):
        with Cluster(4, flags=self.AFTER) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            load(n1)
            before = epoch(n1)
            n4.end(signal.SIGKILL)
            wait_until(lambda: member(n1, "n4") is None, "n4 to be removed")
            wait_joined(n1)
            self.assertEqual(set(m["name"] for m in n1.json("ring")["members"]), {"n1", "n2", "n3"})
            self.assertGreater(epoch(n1), before)
            log = "".join(node.err() for node in cluster.live())
            self.assertRegex(log, r"n4 leaves, since a majority of the voters has not reached it .*: n1, n2 and n3")
            self.assertEqual(keys_seen(n1), KEYS)
            owners_all_hold(self, cluster, KEYS)
            code, err = n4.refused()
            self.assertEqual(code, FORBIDDEN, err)
            # Three are left for three copies: nobody else goes.
            now = epoch(n1)
            cluster["n3"].end(signal.SIGKILL)
            time.sleep(6)
            self.assertEqual(epoch(n1), now)

    def test_one_that_is_back_in_time_moves_nothing(self):
        with Cluster(4, flags=("--auto-remove-after", "6s")) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            load(n1, 50)
            before = epoch(n1)
            for _ in range(2):
                n4.end(signal.SIGKILL)
                cluster.wait_for({"n1": "up", "n2": "up", "n3": "up", "n4": "down"}, [n1])
                time.sleep(3)
                n4.start()
                cluster.wait_all_up()
            time.sleep(4)
            self.assertEqual(epoch(n1), before)

    def test_one_that_is_back_after_that_gives_away_what_it_has_and_ends(self):
        with Cluster(5, flags=self.AFTER) as cluster:
            n1, n5 = cluster["n1"], cluster["n5"]
            load(n1)
            self.assertEqual(n1.kvctl("throttle", "10KB").returncode, DONE)  # the change takes long
            n5.end(signal.SIGKILL)
            wait_until(lambda: member(n1, "n5")["status"] == "leaving", "n5 to be leaving")
            n5.start()
            self.assertEqual(plan(n1)["stage"], "begun")
            self.assertEqual(n1.kvctl("throttle", "auto").returncode, DONE)
            self.assertEqual(n5.process.wait(60), 0, n5.err())
            wait_joined(n1)
            cluster.wait_for({name: "up" for name in ("n1", "n2", "n3", "n4")})
            self.assertEqual(keys_seen(n1), KEYS)

    def test_a_minority_never_decides(self):
        with Cluster(5, flags=self.AFTER) as cluster:
            n1 = cluster["n1"]
            load(n1, 50)
            before = epoch(n1)
            for name in ("n3", "n4", "n5"):
                cluster[name].process.send_signal(signal.SIGSTOP)
            time.sleep(8)
            self.assertEqual(epoch(n1), before)
            for name in ("n3", "n4", "n5"):
                cluster[name].process.send_signal(signal.SIGCONT)
            cluster.wait_all_up()
            time.sleep(2)
            self.assertEqual(epoch(n1), before, "who was paused has seen nothing")


class Force(unittest.TestCase):
    """Five nodes, three copies; three disks are gone for good."""

    LOST = "n3,n4,n5"

    def refused(self, node, code, *words, says):
        answer = node.kvctl(*words)
        self.assertEqual(answer.returncode, code, (words, answer.stdout, answer.stderr))
        self.assertIn(says, answer.stderr.decode())
        return answer

    def wait_known_down(self, node, names):
        """Not only that they don't answer: then a forecast is given."""
        wait_until(lambda: node.kvctl("ring", "force", "--lost", names).returncode == NOT_FOUND, f"{names} to be down", 20)

    def held_by(self, nodes):
        """Keys of which any of these has a copy."""
        held = set()
        for number in range(KEYS):
            key = f"key:{number}"
            for node in nodes:
                if json.loads(node.kvctl("--json", "local-get", node.name, key).stdout)["found"]:
                    held.add(key)
                    break
        return held

    def test_what_is_left_goes_on_without_the_lost(self):
        with Cluster(5, flags=("--partitions", "256")) as cluster:
            n1, n2 = cluster["n1"], cluster["n2"]
            load(n1)
            self.assertEqual(n1.kvctl("wait", "converged").returncode, DONE)
            self.refused(n1, FORBIDDEN, "ring", "force", "--lost", "n3", says="n3 is up")
            for name in ("n3", "n4", "n5"):
                cluster[name].end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down", "n4": "down", "n5": "down"})
            before = epoch(n1)
            for words in (("plan", "leave", "n3", "--force"), ("bucket", "create", "b"), ("plan", "weight", "n1", "2")):
                self.refused(n1, FAILED, *words, says="these can't be reached: n3, n4, n5")
            self.refused(n1, FORBIDDEN, "ring", "force", "--lost", "n3,n4", says="--lost n3,n4,n5")
            self.refused(n1, WRONG_USE, "ring", "force", "--lost", "n9", says="no member")
            self.refused(n1, FORBIDDEN, "ring", "force", "--lost", "n2,n3,n4,n5", says="n2 is up")

            self.wait_known_down(n1, self.LOST)
            told = self.refused(n1, NOT_FOUND, "ring", "force", "--lost", self.LOST, says="--yes")
            self.assertIn(b"have no owner left", told.stdout)
            forecast = json.loads(n1.kvctl("--json", "ring", "force", "--lost", self.LOST).stdout)
            self.assertEqual((forecast["forced"], forecast["survivors"]), (False, ["n1", "n2"]))
            self.assertEqual(epoch(n1), before)

            live = self.held_by([n1, n2])
            self.assertLess(len(live), KEYS)
            self.assertGreater(len(live), KEYS / 2)
            done = n1.kvctl("ring", "force", "--lost", self.LOST, "--yes")
            self.assertEqual(done.returncode, DONE, done.stderr)
            for node in (n1, n2):
                wait_until(lambda: node.json("ring")["lineage"] > 1, f"{node.name} to take the forced ring")
                self.assertIn("Declared lost: n3, n4, n5", node.err())
                self.assertEqual(member(node, "n4")["status"], "lost")
            self.assertEqual(len(cluster.ring_digests()), 1)
            self.assertEqual(epoch(n1), before + 1)

            for name in ("n3", "n4", "n5"):
                self.assertEqual(n2.kvctl("plan", "leave", name).returncode, DONE)
            self.assertEqual(n2.kvctl("plan", "commit").returncode, DONE)
            wait_joined(n1)
            self.assertEqual({m["name"] for m in n1.json("ring")["members"]}, {"n1", "n2"})
            for key in sorted(live):
                self.assertEqual(n2.kvctl("get", key).stdout, b"value", key)
            self.assertEqual(keys_seen(n1), len(live))
            lost = next(f"key:{i}" for i in range(KEYS) if f"key:{i}" not in live)
            self.assertEqual(n1.kvctl("get", lost).returncode, NOT_FOUND)
            self.assertEqual(n1.kvctl("put", lost, "again").returncode, DONE)
            self.assertEqual(n2.kvctl("get", lost).stdout, b"again")

            # What comes back with its old disk is refused; empty it is welcome.
            code, err = cluster["n4"].refused()
            self.assertEqual(code, FORBIDDEN, err)
            self.assertIn("the ring was forced without it", err)
            n1.end()
            n1.start()
            cluster.wait_for({"n1": "up", "n2": "up"})
            self.assertEqual(n1.json("ring")["lineage"], n2.json("ring")["lineage"])

    def test_a_lost_one_is_refused_by_name_and_comes_back_empty(self):
        with Cluster(3) as cluster:
            n1, n2, n3 = (cluster[name] for name in ("n1", "n2", "n3"))
            load(n1, 200)
            self.assertEqual(n1.kvctl("wait", "converged").returncode, DONE)
            n2.end(signal.SIGKILL)
            n3.end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "down", "n3": "down"}, [n1])
            self.wait_known_down(n1, "n2,n3")
            self.assertEqual(n1.kvctl("ring", "force", "--lost", "n2,n3", "--yes").returncode, DONE)
            code, err = n2.refused()
            self.assertEqual(code, FORBIDDEN)
            self.assertIn("was declared lost by `ring force`", err)
            shutil.rmtree(n2.data)
            n2.start()
            self.assertEqual(n1.kvctl("plan", "leave", "n3").returncode, DONE)
            self.assertEqual(n1.kvctl("plan", "commit").returncode, DONE)
            wait_joined(n1)
            cluster.wait_for({"n1": "up", "n2": "up"})
            for number in range(200):
                self.assertEqual(n2.kvctl("get", f"key:{number}").stdout, b"value")
            owners_all_hold(self, cluster, 200)

    def test_a_lost_one_that_ran_all_the_time_serves_no_more(self):
        with Cluster(4) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            load(n1, 100)
            # Two halves that can't hear each other, and each is told that the other one is gone.
            for a in ("n1", "n2"):
                for b in ("n3", "n4"):
                    self.assertEqual(kvctl("--node", f"{cluster[a].address},{n4.address}", "fault", "drop", a, b).returncode, DONE)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down", "n4": "down"}, [n1, cluster["n2"]])
            cluster.wait_for({"n1": "down", "n2": "down", "n3": "up", "n4": "up"}, [cluster["n3"], n4])
            self.wait_known_down(n1, "n3,n4")
            self.wait_known_down(n4, "n1,n2")
            self.assertEqual(n1.kvctl("ring", "force", "--lost", "n3,n4", "--yes").returncode, DONE)
            self.assertEqual(n4.kvctl("ring", "force", "--lost", "n1,n2", "--yes").returncode, DONE)
            first, second = n1.json("ring")["lineage"], n4.json("ring")["lineage"]
            self.assertNotEqual(first, second)
            for node in cluster.live():
                node.kvctl("fault", "heal")
            losers = ("n1", "n2") if first < second else ("n3", "n4")
            winner = n4 if first < second else n1
            for name in losers:
                wait_until(lambda: "declared lost by `ring force`" in cluster[name].err(), f"{name} to be told")
                self.assertEqual(cluster[name].kvctl("put", "key", "value").returncode, FAILED)
            self.assertEqual(winner.json("ring")["lineage"], max(first, second))


if __name__ == "__main__":
    unittest.main()
