"""The simulator finds each fault of `kvsim --plant list` within 200 seeds, and nothing where none is planted.

Run by hand: RINGKV_BIN=build/release/bin tests/simulation/plants_test.py
"""
import os
import pathlib
import re
import subprocess
import unittest

BIN = pathlib.Path(os.environ.get("RINGKV_BIN", pathlib.Path(__file__).parents[2] / "build/release/bin"))
SEEDS = 200  # within which a plant must be found, from seed 1 on
CLEAN_SEEDS = 8  # without a plant: about as many as most plants need


def kvsim(*words):
    return subprocess.run([BIN / "kvsim", *words], capture_output=True, text=True, check=False, timeout=3000)


def plants():
    return [line.split()[0] for line in kvsim("--plant", "list").stdout.splitlines()]


class Plants(unittest.TestCase):
    def test_each_is_found(self):
        names = plants()
        self.assertGreaterEqual(len(names), 20)
        for name in names:
            with self.subTest(plant=name):
                run = kvsim("--plant", name, "--seeds", str(SEEDS), "--minutes", "5")
                found = re.search(r"seed (\d+) breaks ([^:]+):", run.stderr)
                self.assertIsNotNone(found, run.stderr[-500:])
                self.assertEqual(run.returncode, 1)
                print(f"{name}: seed {found[1]}, {found[2]}", flush=True)

    def test_without_one_the_same_seeds_pass(self):
        run = kvsim("--seeds", str(CLEAN_SEEDS), "--minutes", "5")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_plant_that_is_unknown_is_refused(self):
        run = kvsim("--plant", "skip-fsink")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean skip-fsync", run.stderr)

    def test_kvnode_has_nothing_of_them(self):
        program = (BIN / "kvnode").read_bytes()
        for word in ["is_sown", *plants()]:
            self.assertNotIn(word.encode(), program)
        self.assertIn(b"is_sown", (BIN / "kvsim").read_bytes())


if __name__ == "__main__":
    unittest.main()
