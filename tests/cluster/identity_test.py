"""Who a node is: labels that hold whatever a start says, members that go by themselves."""
import json
import signal
import time
import unittest

from processes import Cluster, Node, run, wait_until
from topology_test import DONE, FORBIDDEN, KEYS, WRONG_USE, keys_seen, load, plan, wait_joined


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


if __name__ == "__main__":
    unittest.main()
