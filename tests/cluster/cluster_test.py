"""Several real nodes: how they become one cluster and stay one, and what clients see of it while nodes come and go."""
import json
import os
import shutil
import signal
import threading
import time
import unittest

from processes import (DONE, FAILED, FORBIDDEN, LONG, UNKNOWN, WRONG_USE, Cluster, ClusterTool, Node, free_ports, kvctl,
                       wait_until)

KEYS = [f"key:{i}" for i in range(60)]


def put_all(node, value, keys=KEYS):
    for key in keys:
        answer = node.kvctl("put", key, value + key)
        assert answer.returncode == DONE, (key, answer.stderr)


def owners_of(node, key):
    return [replica["node"] for replica in node.json("explain", key)["replicas"]]


class Tool(ClusterTool):
    """tools/cluster."""

    def status(self):
        document = json.loads(self.tool("status", "--json").stdout)
        processes = {node["name"]: node["process"] for node in document["nodes"]}
        members = document["status"] and {m["name"]: m["state"] for m in document["status"]["members"]}
        return processes, members

    def pid(self, name):
        return int((self.directory / name / "pid").read_text())

    def test_five_nodes_come_up_as_one_cluster_and_go_without_a_trace(self):
        begun = time.monotonic()
        self.up()
        print(f"up of 5 nodes: {time.monotonic() - begun:.1f} s")
        names = [f"n{i}" for i in range(1, 6)]
        self.assertEqual(self.status(), ({name: "up" for name in names}, {name: "up" for name in names}))
        self.assertEqual(self.nodes(), ",".join(f"127.0.0.1:{self.base + 10 * i + 1}" for i in range(1, 6)))
        ring = json.loads(self.ctl("ring", "--json"))
        self.assertEqual([m["rack"] for m in ring["members"]], list("abcab"))
        self.assertIn("RACK", self.tool("status").stdout)
        self.ctl("put", "greeting", "hello")

        # A start of what is up, and a cluster where one is, change nothing.
        self.tool("start", "n1")
        self.assertIn("already", self.up_again().stderr)
        self.assertIn("n1 n2 n3 n4 n5", self.tool("kill", "n9", code=2).stderr)

        pid = self.pid("n2")
        self.tool("kill", "n2")
        self.assertEqual(self.status()[0]["n2"], "down")
        self.assertFalse((self.directory / "n2" / "pid").exists())
        self.assertNotIn("kvnode", self.program_of(pid))
        self.assertEqual(self.ctl("get", "greeting"), b"hello")
        self.tool("start", "n2")
        self.assertIn("ready name=n2", (self.directory / "n2" / "out").read_text())

        self.tool("pause", "n3")
        self.assertEqual(self.status()[0]["n3"], "paused")
        self.tool("start", "n3", code=1)
        self.tool("resume", "n3")
        self.assertEqual(self.status()[0]["n3"], "up")
        self.tool("pause", "n3")
        self.tool("stop", "n3")  # a paused one, too

        self.tool("down")
        self.assertEqual(self.status(), ({name: "down" for name in names}, None))
        self.tool("start", *names)
        self.assertEqual(self.ctl("get", "greeting"), b"hello")
        self.assertIn("n1", self.tool("logs", "n1").stdout)

        self.tool("destroy")
        self.assertFalse(self.directory.exists())
        self.tool("destroy")

    def up_again(self):
        return self.tool("up", "--base-port", str(self.base), code=1)

    def program_of(self, pid):
        try:
            return os.readlink(f"/proc/{pid}/exe")
        except OSError:
            return ""

    def test_a_wiped_node_takes_its_own_place(self):
        self.up("--nodes", "3")
        self.tool("wipe", "n1", code=1)  # it runs
        self.ctl("put", "k", "v")
        self.tool("stop", "n1")
        wait_until(lambda: self.status()[1]["n1"] == "down", "n1 to be down", 30)
        self.tool("wipe", "n1")
        self.assertFalse((self.directory / "n1" / "data").exists())
        self.tool("start", "n1")
        wait_until(lambda: set(self.status()[1].values()) == {"up"}, "all to be up", 30)
        self.assertEqual(sorted(self.status()[1]), ["n1", "n2", "n3"])
        self.assertEqual(self.ctl("get", "k"), b"v")

    def test_what_keeps_a_node_from_starting_is_shown_and_nothing_stays_behind(self):
        failed = self.tool("up", "--base-port", str(self.base), "--", "--placer", "nonsense", code=1)
        self.assertIn("nonsense", failed.stderr)
        self.assertEqual(list(self.directory.glob("*/pid")), [])
        self.tool("destroy")

    def test_a_folder_that_it_has_not_made_is_left_alone(self):
        self.directory.mkdir()
        (self.directory / "mine").write_text("x")
        self.assertIn("empty", self.up_again().stderr)
        self.tool("destroy", code=1)
        self.assertTrue((self.directory / "mine").exists())
        (self.directory / "mine").unlink()
        self.directory.rmdir()

    def test_each_part_of_a_cut_network_serves_what_it_has_a_quorum_for_and_both_agree_when_it_heals(self):
        self.up()
        one, other = ["n1", "n2"], ["n3", "n4", "n5"]
        address = {f"n{i + 1}": node for i, node in enumerate(self.nodes().split(","))}
        owners = {}
        for key in KEYS:
            self.ctl("put", key, "before")
            owners[key] = [r["node"] for r in json.loads(self.ctl("explain", key, "--json"))["replicas"]]
        self.tool("partition", "n1,n2/n3,n4,n5")
        self.wait_seen(address["n1"], {**dict.fromkeys(one, "up"), **dict.fromkeys(other, "down")})
        self.wait_seen(address["n3"], {**dict.fromkeys(other, "up"), **dict.fromkeys(one, "down")})
        written = 0
        for key in KEYS:
            here, there = ("n1", "n3") if len(set(owners[key]) & set(one)) >= 2 else ("n3", "n1")
            for words in (("get", key), ("put", key, "during"), ("get", key)):
                answer = kvctl("--node", address[here], *words)
                self.assertEqual(answer.returncode, DONE, (key, here, answer.stderr))
            self.assertEqual(answer.stdout, b"during")
            begun = time.monotonic()
            self.assertEqual(kvctl("--node", address[there], "get", key).returncode, FAILED, key)
            self.assertLess(time.monotonic() - begun, 1)
            written += 1
        self.assertEqual(written, len(KEYS))

        self.tool("heal")
        for node in address.values():
            self.wait_seen(node, dict.fromkeys(one + other, "up"))
        digests = {json.loads(kvctl("--node", node, "ring", "--json").stdout)["digest"] for node in address.values()}
        self.assertEqual(len(digests), 1)
        for node in address.values():
            for key in KEYS:
                self.assertEqual(kvctl("--node", node, "get", key).stdout, b"during", (key, node))

    def wait_seen(self, node, states):
        def seen():
            document = json.loads(kvctl("--node", node, "--json", "status").stdout)
            return {m["name"]: m["state"] for m in document["members"]}
        wait_until(lambda: seen() == states, f"{states} at {node}", 30)


class Joining(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def setUp(self):
        self.cluster.wait_all_up()
        self.before = self.members()

    def members(self):
        return {m["name"]: m["id"] for m in self.cluster["n1"].json("ring")["members"]}

    def newcomer(self, *flags, name="n9", peers=None):
        node = Node(*flags, name=name, origin=("--join", peers or self.cluster.peers()))
        self.addCleanup(node.__exit__)
        return node

    def assert_refused(self, node, *named, code=None):
        exit_code, said = node.refused()
        self.assertGreater(exit_code, 0, said)
        if code is not None:
            self.assertEqual(exit_code, code, said)
        for word in named:
            self.assertIn(word, said)
        self.assertEqual(node.out(), b"")
        self.assertEqual(self.members(), self.before)
        self.cluster.wait_all_up()

    # Row B20.
    def test_a_joiner_with_other_founding_settings_is_refused_naming_both(self):
        self.assert_refused(self.newcomer("--partitions", "64"), "64", "4096")
        self.assert_refused(self.newcomer("--replicas", "2"), "2", "3")
        self.assert_refused(self.newcomer("--placer", "hashed"), "hashed", "balanced")

    # Row B20.
    def test_a_node_of_another_cluster_is_refused_naming_both(self):
        with Node(name="stranger") as stranger:
            stranger.end()
            stranger.origin = ("--join", self.cluster.peers())
            self.assert_refused(stranger, stranger.identity()["cluster"], self.cluster["n1"].identity()["cluster"])

    def test_a_name_that_is_up_is_refused_naming_both(self):
        self.assert_refused(self.newcomer(name="n2"), "n2", self.cluster["n2"].peer)

    def test_a_copy_of_a_running_node_is_refused(self):
        original = self.cluster["n2"]
        twin = self.newcomer(name="n2")
        original.end()
        shutil.copytree(original.data, twin.data)
        original.start()
        self.cluster.wait_all_up()
        self.assert_refused(twin, "n2", original.peer)
        self.assertEqual(original.kvctl("put", "k", "v").returncode, DONE)

    def test_a_life_keeps_its_generation_however_often_it_greets(self):
        node = self.cluster["n3"]
        node.end()
        node.start()
        self.cluster.wait_all_up()
        generation = node.json("stats")["node.generation"]
        other = self.cluster["n1"]
        other.end()
        other.start()
        self.cluster.wait_all_up()
        self.assertEqual(node.json("stats")["node.generation"], generation)
        node.end()
        node.start()
        self.cluster.wait_all_up()
        self.assertEqual(node.json("stats")["node.generation"], generation + 1)

    def test_a_joiner_that_hears_nobody_ends_after_its_time_out(self):
        nobody = f"127.0.0.1:{free_ports(1)[0]}"
        node = self.newcomer("--join-timeout", "2s", peers=nobody)
        begun = time.monotonic()
        self.assert_refused(node, nobody, code=FAILED)
        self.assertGreater(time.monotonic() - begun, 1.5)
        self.assertLess(time.monotonic() - begun, 10)

    def test_faults_are_only_for_nodes_that_allow_them(self):
        with Node() as node:
            answer = node.kvctl("fault", "heal")
            self.assertEqual(answer.returncode, FORBIDDEN, answer.stderr)
        answer = self.cluster["n1"].kvctl("fault", "drop", "n1", "n8")
        self.assertEqual(answer.returncode, WRONG_USE, answer.stderr)
        self.assertIn(b"n8", answer.stderr)

    def test_waiting_for_joined_ends_at_once_when_all_have(self):
        self.assertEqual(self.cluster["n3"].kvctl("wait", "joined", "--timeout", "5s").returncode, DONE)
        nobody = f"127.0.0.1:{free_ports(1)[0]}"
        answer = kvctl("--node", nobody, "wait", "joined", "--timeout", "300ms")
        self.assertEqual(answer.returncode, 1)
        self.assertIn(nobody.encode(), answer.stderr)


class Founder(unittest.TestCase):
    def test_two_nodes_join_while_the_founder_dies(self):
        cluster = Cluster(5)
        self.addCleanup(cluster.__exit__)
        for number in (1, 2, 3):
            cluster.add(number).start()
        joiners = [cluster.add(number).launch() for number in (4, 5)]
        self.assertEqual(cluster["n1"].end(signal.SIGKILL), -signal.SIGKILL)
        for joiner in joiners:
            joiner.wait_ready()
        cluster.wait_for({"n1": "down", "n2": "up", "n3": "up", "n4": "up", "n5": "up"})
        cluster["n1"].start()
        cluster.wait_all_up()
        self.assertEqual(len(cluster.ring_digests()), 1)


class Restart(unittest.TestCase):
    # Row B23.
    def test_a_node_that_comes_back_on_other_ports_is_one_member_with_a_new_address(self):
        with Cluster(3) as cluster:
            put_all(cluster["n1"], "v")
            node = cluster["n3"]
            before = cluster["n1"].json("ring")["digest"]
            self.assertEqual(node.end(signal.SIGKILL), -signal.SIGKILL)
            old = node.peer
            node.peer, node.client = (f"127.0.0.1:{port}" for port in cluster.ports[6:8])
            node.start()
            for other in ("n1", "n2"):
                def addresses():
                    members = cluster[other].json("status")["members"]
                    return [(m["state"], m["peer"], m["client"]) for m in members if m["name"] == "n3"]
                wait_until(lambda: addresses() == [("up", node.peer, node.client)], f"n3's new address at {other}", 30)
            self.assertNotEqual(old, node.peer)
            self.assertEqual(cluster["n1"].json("ring")["digest"], before)
            for key in KEYS:
                self.assertEqual(node.kvctl("get", key).stdout, b"v" + key.encode())

    def test_all_nodes_killed_at_once_come_back_with_all_that_was_acknowledged(self):
        with Cluster(3) as cluster:
            put_all(cluster["n2"], "v")
            before = cluster["n1"].kvctl("dump").stdout
            for node in cluster.nodes.values():
                node.process.kill()
            for node in cluster.nodes.values():
                node.process.wait(60)
                node.start()
            cluster.wait_all_up()
            wait_until(lambda: cluster["n3"].kvctl("dump").stdout == before, "the same dump", 30)
            self.assertEqual(len(before.splitlines()), len(KEYS))


class Load(unittest.TestCase):
    # Row B117.
    def test_a_stop_under_load_loses_nothing_acknowledged(self):
        with Cluster(3) as cluster:
            node = cluster["n2"]
            for moment in range(20 if LONG else 3):
                stored, codes, stop = [], set(), threading.Event()

                def put(worker):
                    for i in range(100_000):
                        if stop.is_set():
                            return
                        key = f"{moment}:{worker}:{i}"
                        code = node.kvctl("put", key, key, "--timeout", "2s").returncode
                        codes.add(code)
                        if code == DONE:
                            stored.append(key)

                threads = [threading.Thread(target=put, args=(worker,)) for worker in range(3)]
                for thread in threads:
                    thread.start()
                wait_until(lambda: len(stored) > 20 + 7 * moment, "some puts")
                begun = time.monotonic()
                self.assertEqual(node.end(signal.SIGTERM), 0, node.err())
                self.assertLess(time.monotonic() - begun, 30)
                stop.set()
                for thread in threads:
                    thread.join(30)
                self.assertLessEqual(codes, {DONE, FAILED, UNKNOWN})
                kept = cluster["n1"].kvctl("scan", "--prefix", f"{moment}:").stdout.decode().split()
                self.assertEqual(set(stored) - set(kept), set())
                node.start()
                cluster.wait_all_up()

    # Row B118.
    def test_down_to_one_of_five_the_survivor_says_unavailable_at_once_and_recovers(self):
        with Cluster(5) as cluster:
            survivor = cluster["n5"]
            put_all(survivor, "v")
            owners = {key: owners_of(survivor, key) for key in KEYS}
            live = {f"n{i}" for i in range(1, 6)}
            for name in ("n1", "n2", "n3", "n4"):
                self.assertEqual(cluster[name].end(signal.SIGKILL), -signal.SIGKILL)
                live.discard(name)
                for key in KEYS[:20]:
                    readable = len(live & set(owners[key])) >= 2
                    self.check_get(survivor, key, readable)
            self.assertIsNone(survivor.process.poll())
            for key in KEYS[:5]:
                answer = survivor.kvctl("put", key, "x")
                self.assertEqual(answer.returncode, FAILED, answer.stderr)
            answer = survivor.kvctl("scan")
            self.assertEqual(answer.returncode, FAILED, answer.stderr)
            self.assertIn(b"partition", answer.stderr)
            for name in ("n1", "n2", "n3", "n4"):
                cluster[name].start()
            cluster.wait_all_up()
            for key in KEYS:
                self.check_get(survivor, key, True)
            put_all(survivor, "again ", KEYS[:5])

    def check_get(self, node, key, readable):
        begun = time.monotonic()
        answer = node.kvctl("get", key)
        self.assertLess(time.monotonic() - begun, 2, key)
        if readable:
            self.assertEqual((answer.returncode, answer.stdout), (DONE, b"v" + key.encode()), answer.stderr)
        else:
            self.assertEqual(answer.returncode, FAILED, answer.stderr)
            self.assertIn(b"UNAVAILABLE", answer.stderr)


if __name__ == "__main__":
    unittest.main()
