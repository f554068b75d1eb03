"""Rings that grow and shrink for long under clients who read what they have seen and write it on. `--long` makes these
as large and as many as the rows have them."""
import itertools
import time
import unittest

from clients import Clients, Counting, Sets, check_all_there, routed
from processes import (DONE, DROPPED_AT_ONCE, LONG, Cluster, change, load, members, wait_joined, wait_placed,
                       wait_until)

RUNS = 10 if LONG else 1


def leave(cluster, *names):
    """One after another, and by one plan where there is no time for more."""
    n1 = cluster["n1"]
    for together in [[name] for name in names] if LONG else [names]:
        change(n1, *(f"leave {name}" for name in together))
        wait_joined(n1, 300)
        for name in together:
            assert cluster[name].process.wait(60) == DONE, cluster[name].err()
            cluster.forget(name)


def join(cluster, *numbers):
    """One after another, by themselves."""
    joiners = [cluster.add(number).launch() for number in numbers]
    for joiner in joiners:
        joiner.wait_ready()
    wait_joined(cluster["n1"], 300)


def turns_more(load_under_way, count):
    """So much has happened since that each client has had its turns by the ring that holds now."""
    until = load_under_way.turns + count
    wait_until(lambda: load_under_way.turns >= until or not load_under_way.crashed.empty(), f"{count} more turns", 300)
    load_under_way.check()


class Causal(unittest.TestCase):
    # Row B62.
    def test_writes_of_40_clients_to_10_keys_survive_two_joins_and_two_leaves(self):
        for _ in range(RUNS):
            with Cluster(5) as cluster:
                n1 = cluster["n1"]
                load(n1, ((f"before:{i}", "v") for i in range(100)))
                with Clients(*[routed(cluster.live())] * 40) as clients, Sets(clients, pause=1.0, reads=0.2) as sets:
                    join(cluster, 6, 7)
                    turns_more(sets, 40 * (120 if LONG else 3))
                    leave(cluster, "n6", "n7")
                sets.check_no_failures()
                self.assertGreater(sets.acknowledged, 100)
                sets.check_kept(n1)

    # Row B76: weights go up and down, and nothing else happens.
    def test_a_set_loses_no_element_to_changes_of_the_layout_alone(self):
        for _ in range(RUNS):
            with Cluster(5) as cluster:
                n1 = cluster["n1"]
                load(n1, ((f"before:{i}", "v") for i in range(100)))
                with Clients(*[routed(cluster.live())] * 100) as clients, \
                        Sets(clients, keys=20, pause=0.5 if LONG else 1.0) as sets:
                    begun = time.monotonic()
                    weights = itertools.cycle(("weight n2 2", "weight n3 0.5", "weight n2 1", "weight n3 1"))
                    for changes in itertools.count(1):
                        change(n1, next(weights))
                        wait_joined(n1)
                        turns_more(sets, 100)
                        if changes > 2 and time.monotonic() - begun > (60 if LONG else 6):
                            break
                sets.check_no_failures()
                self.assertGreater(sets.acknowledged, 100)
                sets.check_kept(n1)


class Growing(unittest.TestCase):
    # Row B67: those that join do so in one moment.
    def test_three_nodes_grow_to_eight_and_shrink_to_three_under_load(self):
        before = {f"before:{i}": f"value {i} " * 10 for i in range(200_000 if LONG else 20_000)}
        with Cluster(3, flags=DROPPED_AT_ONCE, spare=5) as cluster:
            n1 = cluster["n1"]
            load(n1, before.items())
            with Clients(*[routed(cluster.live())] * 8) as clients, Counting(clients, keys=200, pause=0.01) as writes:
                join(cluster, 4, 5, 6, 7, 8)
                turns_more(writes, 200)
                leave(cluster, *(f"n{number}" for number in range(4, 9)))
                turns_more(writes, 200)
            writes.check_no_failures()
            self.assertEqual(members(n1), dict.fromkeys(("n1", "n2", "n3"), "normal"))
            wait_placed(cluster, check_all_there(n1, before, writes), 120)


if __name__ == "__main__":
    unittest.main()
