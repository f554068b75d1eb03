"""Real nodes that join a ring under load: killed on the way, in pairs and threes, cut off, misled. Nothing acknowledged
is lost, and nobody notices who only reads and writes."""
import itertools
import shutil
import signal
import time
import unittest

from clients import Clients, Counting, Reading, check_all_there, routed, through
from processes import (DONE, DROPPED_AT_ONCE, FAILED, LONG, Cluster, free_ports, heal, load, members, plan, slow,
                       statistic, wait_copies, wait_joined, wait_placed, wait_share, wait_until)

VALUE = "v" * 2000


def pairs(count, prefix="before"):
    return {f"{prefix}:{i}": VALUE for i in range(count)}


class Killed(unittest.TestCase):
    # Row B65: it goes on with what it has, as one member.
    # Row B66: no write fails for it, and what was begun can be taken back.
    # Row B41: those who send to it stop, keep what they have, and go on when it is back.
    def test_a_joiner_that_is_killed_on_the_way_costs_nobody_anything(self):
        before = pairs(100_000 if LONG else 10_000)
        with Cluster(3, flags=DROPPED_AT_ONCE) as cluster:
            n1, old = cluster["n1"], cluster.live()
            load(n1, before.items())
            with Clients(*[routed(old)] * 8) as clients, Counting(clients) as writes:
                n4 = cluster.add(4).start()
                slow(cluster, "n4")
                expected = sum(move["keys"] for move in plan(n1)["moves"])
                self.assertGreater(expected, len(before) / 3)
                for share in (0.05, 0.1, 0.5, 0.95, 0.99) if LONG else (0.05, 0.5, 0.95):
                    wait_share(n4, share, expected)
                    self.assertEqual(plan(n1)["stage"], "begun")
                    n4.end(signal.SIGKILL)
                    self.check_sources_rest(old, len(before))
                    self.assertEqual(members(n1), {"n1": "normal", "n2": "normal", "n3": "normal", "n4": "joining"})
                    n4.start()
                heal(n1)
                wait_joined(n1)
                cluster.wait_all_up()
                self.assertEqual(members(n4), dict.fromkeys(("n1", "n2", "n3", "n4"), "normal"))
            writes.check_no_failures()
            wait_placed(cluster, check_all_there(n1, before, writes))

    def check_sources_rest(self, sources, count):
        def sent():
            return [statistic(node, node, "rounds.keys_sent") for node in sources]

        def rests():
            last = sent()
            time.sleep(0.5)
            return sent() == last

        wait_until(rests, "the sources to stop", 5)
        for node in sources:
            self.assertGreaterEqual(statistic(node, node, "store.keys"), count)

    # Row B66.
    def test_a_join_whose_joiner_is_gone_is_taken_back_under_load(self):
        before = pairs(2000)
        with Cluster(3) as cluster:
            n1, old = cluster["n1"], cluster.live()
            load(n1, before.items())
            with Clients(*[routed(old)] * 8) as clients, Counting(clients) as writes:
                n4 = cluster.add(4).start()
                slow(cluster, "n4", milliseconds=100)
                n4.end(signal.SIGKILL)
                cluster.wait_for({"n1": "up", "n2": "up", "n3": "up", "n4": "down"})
                self.assertEqual(plan(n1)["not_ready"], ["n4"])
                self.assertEqual(n1.kvctl("plan", "cancel").returncode, DONE)
                cluster.wait_for({"n1": "up", "n2": "up", "n3": "up"})
                self.assertEqual(plan(n1)["stage"], "none")
                code, said = n4.refused()
                self.assertNotEqual(code, DONE, said)
                self.assertIn("not a member", said)
                more = writes.acknowledged + 100
                wait_until(lambda: writes.acknowledged > more, "more writes", 30)
            writes.check_no_failures()
            check_all_there(n1, before, writes)

    def test_a_source_that_is_killed_halfway_holds_up_nobody(self):
        before = pairs(10_000)
        with Cluster(4) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            with Clients(*[routed(cluster.live())] * 8) as clients, Counting(clients) as writes:
                n5 = cluster.add(5).start()
                slow(cluster, "n5")
                moves = plan(n1)["moves"]
                source = max((move for move in moves if move["from"] != "n1"), default=moves[0],
                             key=lambda move: move["keys"])["from"]
                asked = next(node for node in cluster.live() if node.name not in (source, "n5"))
                wait_share(n5, 0.5, sum(move["keys"] for move in moves))
                self.assertEqual(plan(asked)["stage"], "begun")
                cluster[source].end(signal.SIGKILL)
                heal(asked)
                # It ends without the source.
                wait_until(lambda: plan(asked)["stage"] == "none", "the change to end", 60)
                cluster[source].start()
                wait_joined(asked)
                cluster.wait_all_up()
            writes.check()
            # What it had under way may have been written or not.
            self.assertEqual(writes.refused, [])
            wait_copies(asked, check_all_there(asked, before, writes))

    # Row B75: its directory is wiped in between.
    @unittest.skipUnless(LONG, "for --long")
    def test_a_joiner_that_comes_back_empty_begins_anew_and_no_copy_is_lost(self):
        before = pairs(10_000)
        with Cluster(3, flags=DROPPED_AT_ONCE) as cluster:
            n1, old = cluster["n1"], cluster.live()
            load(n1, before.items())
            with Clients(*[routed(old)] * 8) as clients, Counting(clients) as writes:
                n4 = cluster.add(4).start()
                slow(cluster, "n4")
                expected = sum(move["keys"] for move in plan(n1)["moves"])
                wait_share(n4, 0.5, expected)
                n4.end(signal.SIGKILL)
                heal(n1)
                shutil.rmtree(n4.data)
                for node in old:
                    self.assertGreaterEqual(statistic(node, node, "store.keys"), len(before))
                cluster.wait_for({"n1": "up", "n2": "up", "n3": "up", "n4": "down"})
                n4.start()
                wait_joined(n1)
                cluster.wait_all_up()
            writes.check_no_failures()
            wait_copies(n1, check_all_there(n1, before, writes))


class Watched(unittest.TestCase):
    def test_during_a_join_every_key_is_readable_at_r_1_and_2_through_every_node(self):
        before = pairs(5000)
        with Cluster(4) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            with Clients(*map(through, cluster.live()), routed(cluster.live())) as clients, \
                    Reading(clients, list(before), VALUE) as reads:
                n5 = cluster.add(5).start()
                slow(cluster, "n5")
                with Clients(through(n5)) as newcomer, Reading(newcomer, list(before), VALUE) as there:
                    self.assertEqual(plan(n1)["stage"], "begun")
                    wait_joined(n1)
                    heal(n1)
                    seen = there.turns
                    wait_until(lambda: there.turns > seen + 200, "reads by the new ring")
            for load_of_reads in (reads, there):
                load_of_reads.check_no_failures()
                self.assertGreater(load_of_reads.turns, 200)

    # Row B99: a write that is sent to the next owner too is stamped once.
    def test_one_clients_gets_and_puts_make_no_siblings_while_a_node_joins(self):
        keys = [f"key:{i}" for i in range(100)]
        with Cluster(3) as cluster:
            n1 = cluster["n1"]
            load(n1, pairs(5000).items())
            with Clients(routed(cluster.live())) as (client,):
                for key in keys:
                    self.assertTrue(client.put(key, "0").ok)
                cluster.add(4).start()
                slow(cluster, "n4", milliseconds=5)
                stages = []
                for turn in itertools.count(1):
                    for key in keys:
                        got = client.get(key)
                        self.assertEqual(got.values, (str(turn - 1),), got)
                        put = client.put(key, str(turn), got.context)
                        self.assertTrue(put.ok, put)
                        after = client.get(key)
                        self.assertEqual(after.values, (str(turn),), after)
                    stages.append(plan(n1)["stage"])
                    if stages[-1] == "none":
                        break
            self.assertEqual(stages[0], "begun")
            self.assertGreater(len(stages), 2)


class Together(unittest.TestCase):
    # Row B67. Five do so in soak_test.py.
    @unittest.skipUnless(LONG, "for --long")
    def test_three_nodes_that_join_in_one_moment_all_become_owners(self):
        before = pairs(3000)
        with Cluster(5, spare=3) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            with Clients(*[routed(cluster.live())] * 4) as clients, Counting(clients) as writes:
                joiners = [cluster.add(number).launch() for number in (6, 7, 8)]
                for joiner in joiners:
                    joiner.wait_ready()
                wait_joined(n1, 120)
                cluster.wait_all_up()
            writes.check_no_failures()
            self.assertEqual(members(n1), {f"n{i}": "normal" for i in range(1, 9)})
            wait_copies(n1, check_all_there(n1, before, writes))


class Misled(unittest.TestCase):
    # Row B68.
    def test_a_joiner_whose_first_seed_is_itself_takes_its_copies_before_it_answers(self):
        before = pairs(3000)
        with Cluster(3) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            n4 = cluster.add(4)
            n4.origin = ("--join", f"{n4.peer},{n4.origin[1]}")
            n4.start()
            with Clients(through(n4)) as clients, Reading(clients, list(before), VALUE) as reads:
                wait_joined(n1)
                seen = reads.turns
                wait_until(lambda: reads.turns > seen + 200, "reads by the new ring")
            reads.check_no_failures()
            self.assertEqual(members(n4), dict.fromkeys(("n1", "n2", "n3", "n4"), "normal"))
            self.assertGreater(statistic(n1, n4, "store.keys"), len(before) / 3)

    # Row B28.
    def test_a_joiner_that_nobody_can_connect_to_is_refused_and_leaves_no_trace(self):
        with Cluster(3) as cluster:
            n1 = cluster["n1"]
            load(n1, pairs(10).items())
            digests = cluster.ring_digests()
            nowhere = f"127.0.0.1:{free_ports(1)[0]}"
            for flags in ((), ("--plan-only",)):
                n4 = cluster.node(4)
                self.addCleanup(n4.__exit__)
                n4.flags += ("--advertise-peer", nowhere, "--join-timeout", "1s", *flags)
                code, said = n4.refused()
                self.assertEqual(code, FAILED, said)
                self.assertIn(f"n4 can't be reached back at {nowhere}", said)
                self.assertEqual(n4.out(), b"")
            self.assertEqual(plan(n1)["waiting"], [])
            self.assertEqual(cluster.ring_digests(), digests)
            self.assertEqual([statistic(n1, node, "members.down") for node in cluster.live()], [0, 0, 0])


if __name__ == "__main__":
    unittest.main()
