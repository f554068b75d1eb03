"""Real nodes that come and go: the ring doesn't change for it, no write fails, and no version multiplies."""
import signal
import unittest

from clients import Clients, Counting, check_all_there, routed, through
from processes import (DROPPED_AT_ONCE, LONG, Cluster, change, load, wait_hints_drained, wait_joined)


class Restarted(unittest.TestCase):
    def test_a_node_that_stops_and_starts_under_load_costs_no_write_and_no_epoch(self):
        before = {f"before:{i}": "v" for i in range(1000)}
        with Cluster(4) as cluster:
            n1, n3 = cluster["n1"], cluster["n3"]
            load(n1, before.items())
            epoch = n1.json("ring")["epoch"]
            with Clients(*[routed(cluster.live())] * 8) as clients, Counting(clients) as writes:
                for cycle in range(100 if LONG else 5):
                    self.assertEqual(n3.end(signal.SIGTERM), 0, n3.err())
                    n3.start()
                    cluster.wait_all_up()
                    wait_hints_drained(n1)
                    self.assertEqual(n1.json("ring")["epoch"], epoch)
                    self.check(writes, cycle + 1)
            self.check(writes, cycle + 1)
            self.assertGreater(writes.acknowledged, 100)
            check_all_there(n1, before, writes)
            self.assertEqual(len(cluster.ring_digests()), 1)


    # No write fails. Of one that was on its way to the node when that stopped the client can't know what became of it:
    # at most one a client each time.
    def check(self, writes, cycles):
        writes.check()
        self.assertEqual(writes.refused, [])
        self.assertLessEqual(len(writes.unknown), cycles * len(writes.clients))


class OneClient(unittest.TestCase):
    # Row B98: every start and every join is another actor. What one of them has stamped, all later ones replace.
    def test_one_client_through_ever_new_coordinators_sees_one_version(self):
        with Cluster(3, flags=DROPPED_AT_ONCE) as cluster:
            n1 = cluster["n1"]
            load(n1, ((f"before:{i}", "v") for i in range(100)))
            self.written, self.context = 0, None
            lives = 3
            for turn in range(10 if LONG else 1):
                n4 = cluster.add(4).start()
                self.put_through(cluster)
                wait_joined(n1)
                self.put_through(cluster)
                for restart in range(27 if LONG else 3):
                    node = cluster.live()[restart % 4]
                    node.end(signal.SIGKILL if restart % 2 else signal.SIGTERM)
                    node.start()
                    self.put_through(cluster)
                    lives += 1
                cluster.wait_all_up()
                change(cluster["n1"], "leave n4")
                self.put_through(cluster)
                wait_joined(n1)
                self.assertEqual(n4.process.wait(30), 0, n4.err())
                cluster.forget("n4")
                self.put_through(cluster)
                lives += 1
            # 16 bytes name a life; a word of base64 is a third longer.
            self.assertLess(len(self.context), 200 + 32 * lives)

    def put_through(self, cluster):
        for node in cluster.live():
            with Clients(through(node)) as (client,):
                got = client.get("k")
                self.assertTrue(got.ok, got)
                self.assertEqual(got.values, (str(self.written),) if self.written else ())
                put = client.put("k", str(self.written + 1), got.context)
                self.assertTrue(put.ok, put)
                self.written += 1
                self.context = put.context


if __name__ == "__main__":
    unittest.main()
