"""Where requests go while the ring changes: clients and nodes agree on it, and who is behind is put right."""
import signal
import unittest

from clients import Clients, routed, through
from processes import (DROPPED_AT_ONCE, Cluster, Node, Placement, change, load, members, wait_joined,
                       wait_placed, wait_until)


class Client(unittest.TestCase):
    # Row B5: the client's own route against the table that a node shows.
    def test_a_client_and_the_nodes_agree_on_every_owner_after_a_join_and_after_a_leave(self):
        keys = [f"key:{i}" for i in range(100_000)]
        with Cluster(4) as cluster:
            n1 = cluster["n1"]
            load(n1, ((key, "v") for key in keys[:100]))
            with Clients(routed(cluster.live())) as (client,):
                self.assert_agree(n1, client, keys)
                cluster.add(5).start()
                wait_joined(n1)
                self.assert_agree(n1, client, keys)
                change(n1, "leave n2")
                wait_joined(n1)
                self.assert_agree(n1, client, keys)

    def assert_agree(self, node, client, keys):
        placement = Placement(node)
        expected = list(map(placement.owners, keys))
        probe = keys[:2000]

        # Answers bring it the new ring.
        def knows():
            client.get(keys[0])
            return client.owners(probe) == expected[:len(probe)]

        wait_until(knows, f"the client to know the ring of epoch {placement.epoch}", 10)
        different = sum(got != right for got, right in zip(client.owners(keys), expected))
        self.assertEqual(different, 0)


class Behind(unittest.TestCase):
    # Row B13: n4 hears nothing while n6 joins, and is asked before it has heard of it.
    def test_a_node_that_missed_a_join_stores_nothing_at_others_than_the_owners(self):
        keys = [f"key:{i}" for i in range(10_000)]
        with Cluster(5, flags=DROPPED_AT_ONCE) as cluster:
            n1, n4 = cluster["n1"], cluster["n4"]
            load(n1, ((f"before:{i}", "v") for i in range(1000)))
            with Clients(through(n4)) as (client,):
                n4.process.send_signal(signal.SIGSTOP)
                cluster.add(6).start()
                wait_joined(n1)
                puts = [client.begin_put(key, "v") for key in keys]
                n4.process.send_signal(signal.SIGCONT)
                codes = {put.result(60)[0] for put in puts}
            # It is put right, or says what it can't do.
            self.assertIn("OK", codes)
            self.assertLessEqual(codes, {"OK", "UNAVAILABLE", "OVERLOADED", "UNKNOWN_OUTCOME"})
            cluster.wait_all_up()
            with Clients(through(n4)) as (client,):
                again = [client.begin_put(key, "v") for key in keys]
                self.assertEqual({put.result(60)[0] for put in again}, {"OK"})
            wait_until(lambda: len(cluster.ring_digests()) == 1, "one ring everywhere", 30)
            wait_placed(cluster, keys + [f"before:{i}" for i in range(1000)])


class Foreign(unittest.TestCase):
    # Row B19: two clusters, and an address that first one and then the other has a node at.
    def test_an_address_that_another_cluster_took_over_mixes_nothing(self):
        with Cluster(3) as cluster, Node(name="y1", origin=("--bootstrap", "--replicas", "1")) as y1:
            n1, n3 = cluster["n1"], cluster["n3"]
            load(n1, ((f"x:{i}", "of x") for i in range(100)))
            load(y1, ((f"y:{i}", "of y") for i in range(100)))
            n3.end()
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"})
            y2 = Node(name="y2", origin=("--join", y1.peer_address))
            self.addCleanup(y2.__exit__)
            y2.peer, y2.client = n3.peer, n3.client
            y2.start()
            clusters = [node.identity()["cluster"] for node in (n1, y1)]
            for node in (n1, cluster["n2"]):
                wait_until(lambda: all(cluster_id in node.err() for cluster_id in clusters) and "y2" in node.err(),
                           f"{node.name} to name both clusters", 30)
            wait_joined(y1)
            cluster.wait_for({"n1": "up", "n2": "up", "n3": "down"}, [n1, cluster["n2"]])
            self.assertEqual(set(members(n1)), {"n1", "n2", "n3"})
            self.assertEqual([set(members(node)) for node in (y1, y2)], [{"y1", "y2"}] * 2)
            for node, own, foreign in ((n1, "x", "y"), (y1, "y", "x"), (y2, "y", "x")):
                self.assertEqual(node.kvctl("put", f"{own}:0", "again").returncode, 0)
                self.assertEqual(len(node.kvctl("scan", "--prefix", f"{own}:").stdout.split()), 100)
                self.assertEqual(node.kvctl("scan", "--prefix", f"{foreign}:").stdout, b"")
            y2.end()
            n3.start()
            cluster.wait_all_up()
            self.assertEqual(len(cluster.ring_digests()), 1)
            self.assertEqual(set(members(n3)), {"n1", "n2", "n3"})


if __name__ == "__main__":
    unittest.main()
