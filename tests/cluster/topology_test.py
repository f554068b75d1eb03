"""Several real nodes whose ring changes while it holds data: nodes join, leave and take others' places, by plan."""
import concurrent.futures
import json
import signal
import subprocess
import unittest

import processes
from processes import (DONE, FAILED, FORBIDDEN, WRONG_USE, Cluster, ClusterTool, keys_held, keys_seen, plan,
                       wait_joined, wait_until)

KEYS = 1000


def load(node, count=KEYS):
    processes.load(node, ((f"key:{i}", "value") for i in range(count)))


class ByPlan(unittest.TestCase):
    def test_a_node_that_waits_joins_by_plan_and_gets_what_was_forecast(self):
        with Cluster(3) as cluster:
            n1 = cluster["n1"]
            load(n1)
            n4 = cluster.launch_waiting(4)
            n4.end(signal.SIGKILL)
            n4.launch()  # a second start finds its place on the list
            self.assertEqual(plan(n1)["waiting"], ["n4"])
            self.assertEqual(plan(n1)["stage"], "none")

            drafted = n1.kvctl("plan", "join", "n4")
            self.assertEqual(drafted.returncode, DONE, drafted.stderr)
            self.assertIn(b"nothing has happened yet", drafted.stdout)
            forecast = plan(n1)
            self.assertEqual(forecast["stage"], "planned")
            self.assertEqual(forecast["steps"], ["join n4"])
            self.assertEqual({move["to"] for move in forecast["moves"]}, {"n4"})
            self.assertEqual(forecast["below_n"], 0)
            self.assertEqual(n4.out(), b"", "it doesn't serve yet")
            self.assertIn("waits to join", n4.err())
            self.assertEqual({m["name"] for m in n1.json("ring")["members"]}, {"n1", "n2", "n3"})

            begun = n1.kvctl("plan", "commit")
            self.assertEqual(begun.returncode, DONE, begun.stderr)
            self.assertIn(f"epoch {forecast['from_epoch'] + 1} ".encode(), begun.stdout)
            n4.wait_ready()
            wait_joined(n1)
            cluster.wait_all_up()
            moved = sum(move["keys"] for move in forecast["moves"])
            self.assertGreater(moved, KEYS / 3)
            wait_until(lambda: abs(keys_held(n1)["n4"] - moved) <= moved / 20, f"n4 to hold {moved} keys")
            self.assertEqual(keys_seen(n4), KEYS)
            self.assertEqual(plan(n1)["stage"], "none")

    def test_of_two_commits_one_wins_and_the_other_is_told(self):
        with Cluster(3) as cluster:
            load(cluster["n1"], 10)
            self.assertEqual(cluster["n1"].kvctl("plan", "weight", "n3", "0.5").returncode, DONE)
            epoch = str(plan(cluster["n1"])["from_epoch"])
            for node in cluster.live():
                wait_until(lambda: str(plan(node)["from_epoch"]) == epoch, f"{node.name} to know the plan")
            with concurrent.futures.ThreadPoolExecutor() as pool:
                commits = [pool.submit(cluster[name].kvctl, "plan", "commit", epoch) for name in ("n1", "n2")]
            answers = sorted((commit.result() for commit in commits), key=lambda answer: answer.returncode)
            self.assertEqual([answer.returncode for answer in answers], [DONE, FAILED], answers)
            self.assertIn(f"changed since epoch {epoch}".encode(), answers[1].stderr)
            wait_joined(cluster["n1"])
            weights = {m["name"]: m["weight"] for m in cluster["n2"].json("ring")["members"]}
            self.assertEqual(weights["n3"], 0.5)

    def test_what_cannot_be_is_refused_by_name(self):
        with Cluster(3) as cluster:
            n1 = cluster["n1"]
            load(n1, 10)
            n4 = cluster.launch_waiting(4)

            def refused(code, *words, says):
                answer = n1.kvctl("plan", *words)
                self.assertEqual(answer.returncode, code, (words, answer.stderr))
                self.assertIn(says.encode(), answer.stderr)

            refused(WRONG_USE, "join", "n9", says="waiting: n4")
            refused(WRONG_USE, "leave", "n9", says="the members are n1, n2, n3")
            refused(WRONG_USE, "weight", "n1", "0", says="more than 0")
            refused(WRONG_USE, "weight", "n1", "1", says="nothing would move")
            refused(WRONG_USE, "replicas", "0", says="not 0")
            refused(WRONG_USE, "move", "5000", "n1", says="0 to 4095")
            refused(FAILED, "commit", says="nothing is planned")
            refused(FAILED, "commit", "1", says="changed since epoch 1")

            self.assertEqual(n1.kvctl("plan", "replace", "n3", "n4").returncode, DONE)
            refused(FORBIDDEN, "commit", says="n3 is up")
            self.assertEqual(n1.kvctl("plan", "cancel").returncode, DONE)
            self.assertEqual(plan(n1)["waiting"], ["n4"])

            # Who lost a majority of the next voters couldn't change the ring any more.
            self.assertEqual(n1.kvctl("plan", "leave", "n2").returncode, DONE)
            cluster["n3"].end(signal.SIGKILL)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1])
            refused(FAILED, "commit", says="these aren't: n3")
            self.assertIn(b"two voters", n1.kvctl("plan", "show").stdout)
            self.assertIsNone(n4.process.poll())

    def test_a_node_that_just_joins_waits_for_a_plan_to_end(self):
        with Cluster(3) as cluster:
            n1 = cluster["n1"]
            load(n1)
            self.assertEqual(n1.kvctl("plan", "weight", "n2", "2").returncode, DONE)
            n4 = cluster.add(4)
            n4.launch("--join-timeout", "2s")
            wait_until(lambda: "a plan is drafted" in n4.err(), "n4 to say why it waits")
            self.assertRaises(subprocess.TimeoutExpired, n4.process.wait, 3)
            self.assertEqual(n1.kvctl("plan", "cancel").returncode, DONE)
            n4.wait_ready()
            wait_joined(n1)
            cluster.wait_all_up()
            self.assertEqual(keys_seen(n4), KEYS)


class Tool(ClusterTool):
    """tools/cluster add, remove, replace."""

    def members(self):
        members = json.loads(self.ctl("--json", "ring"))["members"]
        return {m["name"]: (m["rack"], m["weight"], m["status"]) for m in members}

    def test_a_cluster_grows_and_the_dead_are_replaced(self):
        self.up("--nodes", "3")
        self.ctl("put", "key", "value")
        self.tool("add", "--rack", "z", "--weight", "2")
        self.assertEqual(self.members()["n4"][:2], ("z", 2))
        self.ctl("wait", "joined", "--timeout", "60s")
        self.tool("replace", "n4", code=1)  # it runs
        self.tool("kill", "n4")
        self.tool("replace", "n4")
        self.assertEqual(self.members()["n5"][:2], ("z", 2))
        self.ctl("wait", "joined", "--timeout", "60s")
        self.assertEqual(set(self.members()), {"n1", "n2", "n3", "n5"})
        self.tool("start", "n4", code=2)  # it is gone for good
        self.assertEqual(self.ctl("get", "key"), b"value")

    def test_a_member_is_removed(self):
        self.up("--nodes", "4")
        self.ctl("put", "key", "value")
        self.tool("remove", "n4")
        self.ctl("wait", "joined", "--timeout", "60s")
        self.assertEqual(set(self.members()), {"n1", "n2", "n3"})
        self.assertEqual(self.ctl("get", "key"), b"value")


if __name__ == "__main__":
    unittest.main()
