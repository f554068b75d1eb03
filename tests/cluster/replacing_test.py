"""Real nodes that take the places of others: of dead ones with hints waiting for them, under load, and of one that
lives and doesn't know."""
import base64
import signal
import socket
import threading
import time
import unittest

from clients import Clients, Counting, check_all_there, routed, through, wait
from processes import (DONE, DROPPED_AT_ONCE, FAILED, FORBIDDEN, HINTS_OFF, LONG, Cluster, Placement, change, dump,
                       load, members, plan, slow, statistic, wait_copies, wait_hints_drained, wait_joined, wait_placed,
                       wait_until)

VALUE = "v" * 500
ROUNDS_ONLY_TO_MOVE = ("--anti-entropy-interval", "1h")  # they begin with each epoch


def pairs(count, prefix="before"):
    return {f"{prefix}:{i}": VALUE for i in range(count)}


def kill(cluster, name):
    cluster[name].end(signal.SIGKILL)
    cluster.wait_for({**dict.fromkeys(cluster.nodes, "up"), name: "down"})


def replace(cluster, old, number):
    """A new node takes the place of a dead one, which stays where it is."""
    node = cluster.launch_waiting(number)
    change(cluster.live()[0], f"replace {old} {node.name}")
    node.wait_ready()
    return node


class Dials:
    """Counts who still dials an address that nobody should know any more."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_server((host, int(port)))
        self.count = 0
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


class Replaced(unittest.TestCase):
    # Row B38: what was kept for the dead one.
    def test_a_node_in_the_place_of_a_dead_one_has_all_that_was_kept_for_it(self):
        before, hinted = pairs(500), pairs(5000, "hinted")
        with Cluster(5, flags=(*DROPPED_AT_ONCE, *ROUNDS_ONLY_TO_MOVE)) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            kill(cluster, "n3")
            load(n1, hinted.items())
            self.assertGreater(n1.json("hints")["hints"], 1000)
            n6 = replace(cluster, "n3", 6)
            wait_joined(n1)
            # Now, and not sooner or later.
            placement = Placement(n1)
            owned = [key for key in hinted if "n6" in placement.owners(key)]
            self.assertGreaterEqual(statistic(n1, n6, "store.keys"), len(owned))
            for key in owned[::25]:
                self.assertTrue(n1.json("local-get", "n6", key)["found"], key)
            wait_hints_drained(n1)
            cluster.forget("n3")
            wait_placed(cluster, before | hinted)

    # Row B70: neither hints nor rounds would bring it what it missed.
    def test_writes_while_a_node_takes_a_place_reach_it(self):
        before = pairs(3000)
        with Cluster(5, flags=(*HINTS_OFF, *ROUNDS_ONLY_TO_MOVE)) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            kill(cluster, "n3")
            with Clients(*[routed(cluster.live())] * 8) as clients, Counting(clients) as writes:
                n6 = cluster.launch_waiting(6)
                change(n1, "replace n3 n6")
                n6.wait_ready()
                slow(cluster, "n6", milliseconds=5)
                self.assertEqual(plan(n1)["stage"], "begun")
                begun = set(writes.acked)
                wait_joined(n1)
                cluster.forget("n3")
            writes.check_no_failures()
            kept = check_all_there(n1, before, writes)
            placement = Placement(n1)
            for key, acked in writes.acked.items():
                if "n6" not in placement.owners(key):
                    continue
                versions = n1.json("local-get", "n6", key)["versions"]
                values = [int(base64.b64decode(version["value_b64"])) for version in versions]
                self.assertEqual(len(values), 1, key)
                self.assertGreaterEqual(values[0], acked, key)
            self.assertTrue(begun)
            wait_copies(n1, kept)

    # Row B72.
    def test_a_node_whose_place_was_taken_does_not_come_back(self):
        before = pairs(1000)
        with Cluster(4) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            load(n1, before.items())
            kill(cluster, "n3")
            replace(cluster, "n3", 5)
            wait_joined(n1)
            wait_until(lambda: n1.json("status")["voters"] == 4, "n5 to vote")
            digest = n1.json("ring")["digest"]
            self.set_aside(cluster, "n3")
            for _ in range(2):
                code, said = n3.refused()
                self.assertEqual(code, FORBIDDEN, said)
                self.assertIn("n3", said)
                self.assertEqual(n3.out(), b"", "it doesn't serve")
            cluster.wait_for(dict.fromkeys(("n1", "n2", "n4", "n5"), "up"))
            self.assertEqual(n1.json("ring")["digest"], digest)

    # Row B73.
    def test_a_node_that_lives_is_not_replaced_unless_forced_and_then_it_acknowledges_nothing(self):
        before = pairs(500)
        with Cluster(5) as cluster:
            n1, n2, n3 = cluster["n1"], cluster["n2"], cluster["n3"]
            load(n1, before.items())
            n6 = cluster.launch_waiting(6)

            def refused(asked):
                self.assertEqual(asked.kvctl("plan", "replace", "n3", "n6").returncode, DONE)
                answer = asked.kvctl("plan", "commit")
                self.assertEqual(answer.returncode, FORBIDDEN, answer)
                self.assertIn(b"n3 is up", answer.stderr)
                self.assertEqual(asked.kvctl("plan", "cancel").returncode, DONE)

            refused(n1)
            # When only the one that is asked can't see it.
            self.assertEqual(n2.kvctl("fault", "drop", "n1", "n3").returncode, DONE)
            refused(n1)
            self.assertEqual(n2.kvctl("fault", "heal").returncode, DONE)
            cluster.wait_for(dict.fromkeys(("n1", "n2", "n3", "n4", "n5"), "up"), [n1, n2])

            # By force, while it looks elsewhere: it is frozen, and has requests before it when it awakes.
            with Clients(through(n3)) as (client,):
                change(n1, "replace n3 n6 --force")
                n6.wait_ready()
                wait_until(lambda: plan(n1)["stage"] != "begun", "n6 to have taken its copies")
                n3.process.send_signal(signal.SIGSTOP)
                wait_joined(n1)
                keys = [f"late:{i}" for i in range(200)]
                puts = [client.begin_put(key, "v") for key in keys]
                n3.process.send_signal(signal.SIGCONT)
                acked = [key for key, put in zip(keys, puts) if wait(put)[0] == "OK"]
            # What it has handed on is at the owners.
            kept = dump(n1)
            self.assertEqual([key for key in acked if kept.get(key) != {"v"}], [])
            wait_until(lambda: "not a member" in n3.err(), "n3 to be told", 30)
            for key in keys[:5]:
                self.assertEqual(n3.kvctl("put", key, "x", "--w", "1").returncode, FAILED)
                self.assertEqual(n3.kvctl("get", key, "--r", "1").returncode, FAILED)
            n3.end()
            self.assertEqual(n3.refused()[0], FORBIDDEN)
            self.set_aside(cluster, "n3")
            self.assertEqual(set(members(n1)), {"n1", "n2", "n4", "n5", "n6"})

    def set_aside(self, cluster, name):
        self.addCleanup(cluster.nodes.pop(name).__exit__)

    # Row B39: hints for a node that is gone hold up no others, and find the new owners, one of which is down.
    @unittest.skipUnless(LONG, "for --long")
    def test_hints_for_a_node_that_is_gone_go_to_the_owners_that_are_there(self):
        hinted = pairs(3000, "hinted")
        with Cluster(6, flags=ROUNDS_ONLY_TO_MOVE) as cluster:
            n1, n3, n4 = (cluster[name] for name in ("n1", "n3", "n4"))
            load(n1, pairs(100).items())
            kill(cluster, "n3")
            n4.process.send_signal(signal.SIGSTOP)
            asked = [node for node in cluster.live() if node is not n4]
            cluster.wait_for({**dict.fromkeys(cluster.nodes, "up"), "n3": "down", "n4": "down"}, asked)
            load(n1, hinted.items())
            kept_for = lambda: {peer["for"] for peer in n1.json("hints")["peers"]}
            self.assertEqual(kept_for(), {"n3", "n4"})
            # Those for n4 are not behind those for n3, which can't be delivered.
            n4.process.send_signal(signal.SIGCONT)
            wait_until(lambda: kept_for() == {"n3"}, "n4 to have got what was kept for it", 30)
            # The new owner is silent as soon as it has its copies; what is for it waits, and nothing for n3.
            n7 = replace(cluster, "n3", 7)
            wait_until(lambda: plan(n1)["stage"] != "begun", "n7 to have taken its copies")
            n7.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: plan(n1)["stage"] == "none", "n3 to be gone")
            load(n1, pairs(300, "later").items())
            wait_until(lambda: kept_for() == {"n7"}, "what is kept to be for n7")
            with Dials(n3.peer) as dials:
                time.sleep(300)  # that nothing happens takes a while to see
                self.assertEqual(dials.count, 0)
            n7.process.send_signal(signal.SIGCONT)
            wait_joined(n1)
            cluster.forget("n3")
            cluster.wait_all_up()
            wait_hints_drained(n1)
            wait_copies(n1, hinted | pairs(100) | pairs(300, "later"))


if __name__ == "__main__":
    unittest.main()
