"""Real nodes that leave a ring under load: killed halfway, two at once, cut off, with hints in hand, after a move to
another address. Every key keeps its copies, and who has left stays out."""
import concurrent.futures
import shutil
import signal
import time
import unittest

from clients import Clients, Counting, check_all_there, routed, through
from processes import (DONE, DROPPED_AT_ONCE, FAILED, FORBIDDEN, LONG, WRONG_USE, Cluster, change, cut_off, heal, load,
                       members, plan, slow, statistic, wait_copies, wait_hints_drained, wait_joined, wait_placed,
                       wait_until)

VALUE = "v" * 1000


def pairs(count, prefix="before"):
    return {f"{prefix}:{i}": VALUE for i in range(count)}


def normal(*names):
    return dict.fromkeys(names, "normal")


class Gone(unittest.TestCase):
    # Row B22.
    def test_a_node_that_has_left_comes_back_only_empty(self):
        before = pairs(1000)
        with Cluster(4) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            load(n1, before.items())
            change(n1, "leave n4")
            wait_joined(n1)
            self.assertEqual(n4.process.wait(30), DONE, n4.err())
            digest = n1.json("ring")["digest"]
            code, said = n4.refused()
            self.assertEqual(code, FORBIDDEN, said)
            self.assertIn("n4", said)
            self.assertIn("member", said)
            self.assertEqual(n4.out(), b"")
            self.assertEqual(n1.json("ring")["digest"], digest)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "up"})
            shutil.rmtree(n4.data)
            n4.start()
            wait_joined(n1)
            cluster.wait_all_up()
            self.assertEqual(members(n4), normal("n1", "n2", "n3", "n4"))
            wait_copies(n1, before)

    # Row B25.
    @unittest.skipUnless(LONG, "for --long")
    def test_a_node_that_has_moved_leaves_and_another_joins(self):
        before = pairs(1000)
        with Cluster(4) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            load(n1, before.items())
            n3.end(signal.SIGKILL)
            n3.peer, n3.client = (f"127.0.0.1:{port}" for port in cluster.ports[8:10])
            n3.start()
            cluster.wait_all_up()
            change(n1, "leave n3")
            wait_joined(n1)
            self.assertEqual(n3.process.wait(30), DONE, n3.err())
            cluster.forget("n3")
            cluster.add(6).start()
            wait_joined(n1)
            cluster.wait_all_up()
            for node in cluster.live():
                self.assertEqual(members(node), normal("n1", "n2", "n4", "n6"))


class Disturbed(unittest.TestCase):
    # Row B79, the second half.
    def test_a_leaver_that_is_killed_halfway_goes_on_leaving(self):
        before = pairs(10_000)
        with Cluster(4, flags=DROPPED_AT_ONCE) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            stay = [cluster[name] for name in ("n1", "n2", "n3")]
            load(n1, before.items())
            held = lambda: sum(statistic(node, node, "store.keys") for node in stay)
            wait_placed(cluster, before)
            with Clients(*[routed(stay)] * 8) as clients, Counting(clients) as writes:
                slow(cluster, "n1", "n2", "n3")
                change(n1, "leave n4")
                moved = sum(move["keys"] for move in plan(n1)["moves"])
                self.assertGreater(moved, len(before) / 2)
                wait_until(lambda: held() >= 3 * len(before) - moved / 2, f"half of {moved} keys to have moved")
                self.assertEqual(plan(n1)["stage"], "begun")
                n4.end(signal.SIGKILL)
                heal(n1)
                n4.launch()
                wait_joined(n1)
                wait_until(lambda: n4.process.poll() is not None, "n4 to end by itself", 30)
                self.assertIn(n4.process.returncode, (DONE, FORBIDDEN), n4.err())
                cluster.forget("n4")
            # What n4 had under way when it was killed may have been written or not.
            writes.check()
            self.assertEqual(writes.refused, [])
            self.assertEqual(members(n1), normal("n1", "n2", "n3"))
            wait_placed(cluster, check_all_there(n1, before, writes))

    # Row B79, the first half.
    def test_of_two_that_leave_in_one_moment_none_takes_copies_along(self):
        before = pairs(3000)
        with Cluster(6) as cluster:
            n1, n2 = cluster["n1"], cluster["n2"]
            load(n1, before.items())

            def leave(node, name):
                answers = [node.kvctl("plan", "leave", name), node.kvctl("plan", "commit")]
                return [answer.returncode for answer in answers], answers[-1].stderr

            with Clients(*[routed(cluster.live()[:2])] * 4) as clients, Counting(clients) as writes:
                with concurrent.futures.ThreadPoolExecutor() as pool:
                    asked = [pool.submit(leave, node, name) for node, name in ((n1, "n3"), (n2, "n4"))]
                for each in asked:
                    codes, said = each.result()
                    self.assertLessEqual(set(codes), {DONE, FAILED}, said)
                wait_joined(n1)
                for name in {"n3", "n4"} & set(members(n1)):
                    change(n1, f"leave {name}")  # its plan had to wait
                    wait_joined(n1)
                for name in ("n3", "n4"):
                    self.assertEqual(cluster[name].process.wait(30), DONE, cluster[name].err())
                    cluster.forget(name)
            writes.check_no_failures()
            self.assertEqual(members(n1), normal("n1", "n2", "n5", "n6"))
            wait_copies(n1, check_all_there(n1, before, writes))

    # Row B78: whom n4 gives its copies to hears nobody any more.
    def test_a_leave_whose_target_is_cut_off_is_seen_taken_back_and_done_later(self):
        before = pairs(1000)
        with Cluster(5) as cluster:
            n4, asked = cluster["n4"], cluster["n3"]
            load(asked, before.items())
            slow(cluster, *cluster.nodes)
            change(asked, "leave n4")
            target, = {move["to"] for move in plan(asked)["moves"]}
            cut_off(cluster, target)
            seen = [node for node in cluster.live() if node.name != target]
            cluster.wait_for({**dict.fromkeys(cluster.nodes, "up"), target: "down", "n4": "leaving"}, seen)
            self.assertEqual((plan(asked)["stage"], plan(asked)["not_ready"]), ("begun", [target]))
            with Clients(*map(through, seen)) as clients, Counting(clients) as writes:
                self.assertEqual(asked.kvctl("plan", "cancel").returncode, DONE)
                wait_until(lambda: writes.acknowledged > 100, "writes")
            writes.check_no_failures()
            cluster.wait_for({**dict.fromkeys(cluster.nodes, "up"), target: "down"}, seen)
            self.assertEqual(members(n4), normal(*cluster.nodes))
            self.assertEqual(n4.kvctl("get", "before:1").stdout.decode(), VALUE)
            heal(asked)
            cluster.wait_all_up()
            change(asked, "leave n4")
            self.check_left(cluster, asked, check_all_there(asked, before, writes))

    # Row B78: n4 and one of the others don't hear each other, and all others hear both.
    @unittest.skipUnless(LONG, "for --long")
    def test_a_leaver_that_one_of_the_others_cannot_hear_gives_its_copies_away_and_goes_when_it_can(self):
        before = pairs(1000)
        with Cluster(5) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            self.assertEqual(n1.kvctl("fault", "drop", "n2", "n4").returncode, DONE)
            change(n1, "leave n4")
            wait_until(lambda: plan(n1)["stage"] == "none", "its copies to be given away")
            waits = n1.kvctl("wait", "joined", "--timeout", "1s")
            self.assertIn(b"n4 is leaving", waits.stderr)
            heal(n1)
            self.check_left(cluster, n1, before)

    def check_left(self, cluster, asked, keys):
        wait_joined(asked)
        n4 = cluster["n4"]
        self.assertEqual(n4.process.wait(30), DONE, n4.err())
        cluster.forget("n4")
        wait_copies(asked, keys)

    # Row B29: a leave and a removal by force, begun in one moment at different nodes.
    def test_two_ways_to_remove_one_node_at_once_end_in_one_ring_that_rests(self):
        before = pairs(1000)
        with Cluster(4) as cluster:
            n1, n2, n3 = cluster["n1"], cluster["n2"], cluster["n3"]
            load(n1, before.items())
            cluster.launch_waiting(5)

            def remove(node, *words):
                return [node.kvctl("plan", *step).returncode for step in (words, ("commit",))]

            with concurrent.futures.ThreadPoolExecutor() as pool:
                asked = [pool.submit(remove, n1, "leave", "n3"),
                         pool.submit(remove, n2, "replace", "n3", "n5", "--force")]
            codes = [each.result() for each in asked]
            self.assertIn(DONE, [commit for _, commit in codes])
            self.assertLessEqual({code for both in codes for code in both}, {DONE, WRONG_USE, FAILED, FORBIDDEN})
            wait_joined(n1)
            wait_until(lambda: n3.process.poll() is not None, "n3 to end", 30)
            self.assertIn(n3.process.returncode, (DONE, FORBIDDEN), n3.err())
            cluster.forget("n3")
            others = members(n1)
            self.assertIn(others, (normal("n1", "n2", "n4"), normal("n1", "n2", "n4", "n5")))
            if "n5" not in others:
                cluster.forget("n5")
            cluster.wait_all_up()
            wait_copies(n1, before)
            self.assertEqual(len(cluster.ring_digests()), 1)
            # Nothing more is said of it.
            logs = lambda: [(node.json("ring")["epoch"], node.err().count("\n")) for node in cluster.live()]
            after = logs()
            time.sleep(3)
            self.assertEqual(logs(), after)

    # Row B33: hints past their budget, in the hands of a leaver, at many moments.
    @unittest.skipUnless(LONG, "for --long")
    def test_a_leaver_delivers_its_hints_before_it_goes(self):
        with Cluster(5, flags=("--hint-budget", "64KiB", "--anti-entropy-interval", "2s")) as cluster:
            n1, n3, n4 = cluster["n1"], cluster["n3"], cluster["n4"]
            stored = {}
            for moment in range(20):
                n3.end(signal.SIGKILL)
                cluster.wait_for({**dict.fromkeys(cluster.nodes, "up"), "n3": "down"})
                more = pairs(500, f"moment{moment}")
                load(n1, more.items())
                stored |= more
                held = {peer["held_by"]: peer["bytes"] for peer in n1.json("hints")["peers"] if peer["for"] == "n3"}
                self.assertGreater(held.get("n4", 0), 0)
                self.assertLessEqual(held["n4"], 64 << 10)
                self.assertGreater(statistic(n1, n4, "hints.refused"), 0)
                change(n1, "leave n4")
                time.sleep(moment / 10)  # the moment is what is varied
                n3.start()
                wait_joined(n1)
                self.assertEqual(n4.process.wait(30), DONE, n4.err())
                wait_hints_drained(n1)
                shutil.rmtree(n4.data)
                n4.start()
                wait_joined(n1)
                cluster.wait_all_up()
            wait_copies(n1, stored)


if __name__ == "__main__":
    unittest.main()
