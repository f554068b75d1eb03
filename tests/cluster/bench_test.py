"""kvbench against a real node, and beside the other systems."""
import json
import unittest

from processes import Node, run

QUICK = ("--connections", "3", "--depth", "4", "--keys", "500", "--duration", "0.3", "--json")


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node().start()

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()

    def bench(self, *words):
        answer = run("kvbench", "--node", self.node.address, *words, timeout=300)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def test_ycsb_workloads_find_every_key(self):
        for letter, distribution in (("a", "zipfian"), ("b", "zipfian"), ("c", "zipfian"), ("d", "latest"), ("f", "zipfian")):
            figures = self.bench("--workload", "ycsb-" + letter, *QUICK)
            self.assertGreater(figures["ops"], 0)
            self.assertEqual([figures[name] for name in ("errors", "unknown", "misses")], [0, 0, 0], letter)
            self.assertEqual(figures["distribution"], distribution)

    def test_keys_that_are_not_there_are_misses(self):
        figures = self.bench("--workload", "get", "--no-load", "--r", "1", "--distribution", "hotspot:0.5", *QUICK[:4],
                             "--keys", "1000000", *QUICK[6:])
        self.assertGreater(figures["misses"], 0)
        self.assertEqual(figures["errors"], 0)

    # Which takes what it can, and says what it couldn't.
    def test_a_rate_is_kept_and_one_that_is_too_much_is_told(self):
        kept = self.bench("--workload", "put", "--rate", "200", *QUICK)
        self.assertEqual((kept["rate"], kept["errors"]), (200, 0))
        self.assertLess(kept["ops_per_s"], 300)
        too_much = self.bench("--workload", "put", "--rate", "5000000", *QUICK)
        self.assertGreater(too_much["unsent"], 0)
        self.assertGreater(too_much["p50_us"], 300_000)

    def test_a_comparison_measures_what_is_installed_and_names_what_is_not(self):
        table = self.bench("--compare", *QUICK)
        rows = {row["system"]: row for row in table["rows"]}
        self.assertEqual(len(rows), 7)
        for system in ("bare limit, buffered", "RocksDB in one process", "ringkv, buffered"):
            for operation in ("put", "get"):
                self.assertGreater(rows[system][operation]["ops_per_s"], 0)
                self.assertEqual(rows[system][operation]["failed"], 0)
        for row in table["rows"]:
            if row["note"] is not None:
                self.assertIn("apt-get install", row["note"])
            else:
                self.assertGreater(row["put"]["ops_per_s"], 0)
                self.assertEqual(row["put"]["failed"], 0)


if __name__ == "__main__":
    unittest.main()
