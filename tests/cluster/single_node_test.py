"""One real node and the tools around it."""
import base64
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time
import tomllib
import unittest

import processes
from processes import BIN, Node, kvctl, run, wait_until

KEY_BYTES_MAX = 65_535
VALUE_BYTES_MAX = 16 << 20


def b64(data):
    return base64.b64encode(data).decode()


def line_of(key, *values):
    if len(values) == 1:
        return json.dumps({"key_b64": b64(key), "value_b64": b64(values[0])}).encode() + b"\n"
    return json.dumps({"key_b64": b64(key), "siblings_b64": [b64(value) for value in values]}).encode() + b"\n"


class WithNode(unittest.TestCase):
    """A node that a class's tests share; each uses keys of its own."""

    @classmethod
    def setUpClass(cls):
        cls.node = Node().start()

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()

    def ctl(self, *words, stdin=b"", code=0):
        answer = self.node.kvctl(*words, stdin=stdin)
        self.assertEqual(answer.returncode, code, (words, answer.stderr))
        return answer.stdout

    def complaint(self, *words, stdin=b"", code):
        answer = self.node.kvctl(*words, stdin=stdin)
        self.assertEqual(answer.returncode, code, (words, answer.stdout[:200], answer.stderr))
        return answer.stderr.decode()


class Data(WithNode):
    def test_what_was_put_is_got_byte_for_byte(self):
        value = bytes(range(256)) * 3
        self.ctl("put", "bytes", "-", stdin=value)
        self.assertEqual(self.ctl("get", "bytes"), value)
        self.ctl("put", "bytes", "text")
        self.assertEqual(self.ctl("get", "bytes"), b"text")

    def test_a_closed_standard_input_is_an_error_and_nothing_is_stored(self):
        self.ctl("put", "closed-input", "old")
        for verb in ("put closed-input -", "load -"):
            for redirection in ("<&-", "</"):
                answer = subprocess.run(f"{BIN}/kvctl --node {self.node.address} {verb} {redirection}", shell=True,
                                        capture_output=True, timeout=60)
                self.assertEqual(answer.returncode, 2, (verb, redirection, answer.stderr))
        self.assertEqual(self.node.kvctl("get", "closed-input").stdout, b"old")

    def test_a_value_comes_from_a_file(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\x00\xff\n")
            file.flush()
            self.ctl("put", "from-file", "--file", file.name)
        self.assertEqual(self.ctl("get", "from-file"), b"\x00\xff\n")
        self.assertIn("absent", self.complaint("put", "from-file", "--file", "/absent", code=2))

    def test_a_missing_key_is_exit_code_1(self):
        self.complaint("get", "never-put", code=1)
        self.ctl("exists", "never-put", code=1)
        self.ctl("local-get", "n1", "never-put", code=1)
        self.ctl("explain", "never-put")
        self.assertEqual(json.loads(self.ctl("get", "never-put", "--json", code=1))["values"], [])

    def test_a_deleted_key_is_missing_and_comes_back_when_put(self):
        self.ctl("put", "deleted", "1")
        self.ctl("exists", "deleted")
        self.ctl("del", "deleted")
        self.complaint("get", "deleted", code=1)
        self.ctl("exists", "deleted", code=1)
        self.ctl("del", "deleted")
        self.ctl("del", "absent-from-the-start")
        self.ctl("put", "deleted", "2")
        self.assertEqual(self.ctl("get", "deleted"), b"2")

    def test_binary_keys_arrive_by_base64(self):
        for key in (b"\xff" * 8, b"\x00", b"a\x00b", b"\n", " ".encode(), "schlüssel".encode()):
            self.ctl("put", "--key-b64", b64(key), "v" + b64(key))
            self.assertEqual(self.ctl("get", "--key-b64", b64(key)), b"v" + b64(key).encode())
            document = json.loads(self.ctl("get", "--json", "--key-b64", b64(key)))
            self.assertEqual(document["key_b64"], b64(key))
            self.assertEqual("key" in document, key != b"\xff" * 8)

    def test_keys_that_look_like_something_else_are_keys(self):
        for key in ("--json", "-v", "get", "{}", "[1,2]", "%%", "++", "-"):
            self.ctl("put", "--", key, "of " + key)
            self.assertEqual(self.ctl("get", "--", key), b"of " + key.encode())

    def test_concurrent_values_need_json_and_a_put_replaces_them(self):
        self.ctl("put", "siblings", "one", "--context=")
        self.ctl("put", "siblings", "two", "--context=")
        message = self.complaint("get", "siblings", code=6)
        self.assertIn("--json", message)
        document = json.loads(self.ctl("get", "siblings", "--json"))
        self.assertEqual(sorted(document["values"]), sorted([b64(b"one"), b64(b"two")]))
        self.ctl("put", "siblings", "three")
        self.assertEqual(self.ctl("get", "siblings"), b"three")

    def test_a_context_replaces_exactly_what_was_read(self):
        self.ctl("put", "context", "one", "--context=")
        context = json.loads(self.ctl("get", "context", "--json"))["context"]
        self.ctl("put", "context", "two", "--context", context)
        self.assertEqual(self.ctl("get", "context"), b"two")
        self.ctl("put", "context", "three", "--context", context)
        self.complaint("get", "context", code=6)
        self.complaint("put", "another-key", "x", "--context", context, code=2)

    def test_a_receipt_says_who_acknowledged(self):
        receipt = json.loads(self.ctl("put", "receipt", "v", "-v"))
        self.assertEqual([ack["node"] for ack in receipt["acks"]], ["n1"])
        self.assertEqual(receipt["acks"][0]["durability"], "synced")
        self.assertTrue(receipt["context"])
        self.assertGreaterEqual(receipt["epoch"], 1)
        buffered = json.loads(self.ctl("put", "receipt", "v", "-v", "--durability", "buffered"))
        self.assertIn(buffered["acks"][0]["durability"], ("buffered", "synced"))

    def test_a_quorum_that_cannot_be_is_a_wrong_use(self):
        self.complaint("put", "w", "v", "--w", "2", code=2)
        self.complaint("get", "w", "--r", "2", code=2)


class Limits(WithNode):
    def test_keys_and_values_up_to_the_limit_are_stored(self):
        for size in (KEY_BYTES_MAX - 1, KEY_BYTES_MAX):
            self.ctl("put", "k" * size, str(size))
            self.assertEqual(self.ctl("get", "k" * size), str(size).encode())
        for size in (VALUE_BYTES_MAX - 1, VALUE_BYTES_MAX):
            self.ctl("put", "large", "-", stdin=b"v" * size)
            self.assertEqual(len(self.ctl("get", "large")), size)

    def test_longer_ones_are_refused_and_the_node_goes_on(self):
        for size in (KEY_BYTES_MAX + 1, KEY_BYTES_MAX + 2, 120_000):
            for words in (("put", "k" * size, "v"), ("get", "k" * size), ("del", "k" * size), ("exists", "k" * size)):
                self.assertIn("TOO_LARGE", self.complaint(*words, code=2))
        self.ctl("put", "before", "v")
        self.assertIn("TOO_LARGE", self.complaint("put", "before", "-", stdin=b"v" * (VALUE_BYTES_MAX + 1), code=2))
        self.assertEqual(self.ctl("get", "before"), b"v")

    def test_an_endless_value_is_refused_without_reading_it_all(self):
        self.assertIn("TOO_LARGE", self.complaint("put", "endless", "--file", "/dev/zero", code=2))

    def test_an_empty_value_is_a_value(self):
        self.ctl("put", "empty", "")
        self.assertEqual(self.ctl("get", "empty"), b"")
        self.ctl("exists", "empty")
        self.assertEqual(json.loads(self.ctl("get", "empty", "--json"))["values"], [""])
        self.ctl("del", "empty")
        self.complaint("get", "empty", code=1)
        self.ctl("put", "empty", "")
        self.assertEqual(self.ctl("get", "empty"), b"")

    def test_an_empty_key_is_refused_the_same_way_everywhere(self):
        for words in (("put", "", "v"), ("get", ""), ("del", ""), ("exists", ""), ("explain", ""),
                      ("local-get", "n1", ""), ("get", "--key-b64", "")):
            self.assertIn("INVALID_ARGUMENT", self.complaint(*words, code=2), words)
        self.complaint("load", "-", stdin=line_of(b"", b"v"), code=2)


class ScanLoadDump(unittest.TestCase):
    def test_a_scan_lists_every_key_once_in_token_order(self):
        with Node() as node:
            keys = [f"key:{i}".encode() for i in range(1000)] + [b"\xff\n"]
            loaded = node.kvctl("load", "-", stdin=b"".join(line_of(key, key) for key in keys))
            self.assertEqual(loaded.returncode, 0, loaded.stderr)
            self.assertIn(b"1001 stored", loaded.stderr)

            lines = node.kvctl("scan").stdout.split(b"\n")
            self.assertEqual(lines[-1], b"")
            self.assertEqual(sorted(lines[:-1]), sorted(keys[:-1] + [b"\\xff\\x0a"]))
            tokens = [node.json("get", line.decode())["token"] for line in lines[:50] if b"\\" not in line]
            self.assertEqual(tokens, sorted(tokens))

            prefixed = node.kvctl("scan", "--prefix", "key:99").stdout.split()
            self.assertEqual(sorted(prefixed), sorted(key for key in keys if key.startswith(b"key:99")))

    def test_pages_by_cursor_make_the_whole(self):
        with Node() as node:
            node.kvctl("load", "-", stdin=b"".join(line_of(b"%d" % i, b"") for i in range(100)))
            seen, cursor = [], []
            for _ in range(20):
                page = node.kvctl("scan", "--json", "--limit", "7", *cursor).stdout.splitlines()
                last = json.loads(page[-1])
                seen += [json.loads(line)["key"] for line in page[:-1]]
                if last["after"] is None:
                    break
                cursor = ["--after", last["after"]]
            self.assertEqual(sorted(seen), sorted(str(i) for i in range(100)))
            self.assertEqual(len(seen), len(set(seen)))

    def test_a_dump_loads_into_another_node_as_it_was(self):
        with Node() as first, Node() as second:
            first.kvctl("load", "-", stdin=line_of(b"one", b"1") + line_of(b"two", b"a", b"", b"c") +
                        line_of(b"\x00\xff", bytes(range(256))))
            dump = first.kvctl("dump").stdout
            self.assertEqual(len(dump.splitlines()), 3)
            self.assertEqual(sum("siblings_b64" in json.loads(line) for line in dump.splitlines()), 1)

            self.assertEqual(second.kvctl("load", "-", stdin=dump).returncode, 0)
            again = second.kvctl("dump").stdout
            normal = lambda text: [{k: sorted(v) for k, v in json.loads(line).items()} for line in text.splitlines()]
            self.assertEqual(normal(again), normal(dump))

    def test_a_wrong_line_is_named_and_the_rest_is_loaded(self):
        with Node() as node:
            answer = node.kvctl("load", "-", stdin=line_of(b"a", b"1") + b"nonsense\n\n" + line_of(b"b", b"2"))
            self.assertEqual(answer.returncode, 2)
            self.assertIn(b"line 2", answer.stderr)
            self.assertIn(b"2 stored, 1 refused", answer.stderr)
            self.assertEqual(node.kvctl("get", "b").stdout, b"2")

    def test_a_load_goes_on_after_the_node_was_killed(self):
        with Node() as node:
            count = 20_000
            path = node.directory / "lines"
            path.write_bytes(b"".join(line_of(b"%d" % i, b"v%d" % i) for i in range(count)))
            load = subprocess.Popen([BIN / "kvctl", "--timeout", "500ms", "--node", node.address, "load", path],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            wait_until(lambda: (node.directory / "lines.progress").exists() or load.poll() is not None, "progress")
            node.end(signal.SIGKILL)
            stderr = load.communicate(timeout=60)[1]
            if load.returncode != 0:
                self.assertEqual(load.returncode, 3, stderr)
                self.assertIn(b"--resume", stderr)
                kept = int((node.directory / "lines.progress").read_text().split()[0])
                self.assertLess(kept, count)
            node.start()
            resumed = node.kvctl("load", "--resume", str(path))
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertEqual(len(node.kvctl("scan").stdout.splitlines()), count)
            for i in range(0, count, 997):
                self.assertEqual(node.kvctl("get", str(i)).stdout, b"v%d" % i)

    def test_a_reader_who_has_had_enough_is_no_error(self):
        with Node() as node:
            node.kvctl("load", "-", stdin=b"".join(line_of(b"%d" % i, b"x" * 1000) for i in range(2000)))
            dump = subprocess.Popen([BIN / "kvctl", "--node", node.address, "dump"], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
            dump.stdout.readline()
            dump.stdout.close()
            stderr = dump.stderr.read()
            dump.stderr.close()
            self.assertEqual(dump.wait(60), 0, stderr)
            self.assertNotIn(b"rror", stderr)


class Inspection(WithNode):
    def test_tokens_and_partitions_are_the_published_ones(self):
        for words, token, partition in ((("a",), "86f7e437faa5a7fc", 2159), (("key:0",), "2d8a8fda780a1071", 728),
                                        (("--key-b64", b64(b"\xff" * 8)), "be673e8a56eaa9d8", 3046)):
            document = self.node.json("explain", *words)
            self.assertEqual((document["token"], document["partition"]), (token, partition))

    def test_explain_and_local_get_show_what_the_replica_holds(self):
        self.ctl("put", "explained", "value")
        replica = self.node.json("explain", "explained")["replicas"][0]
        self.assertEqual((replica["node"], replica["alive"]), ("n1", True))
        version = replica["versions"][0]
        self.assertEqual(version["value_b64"], b64(b"value"))
        self.assertRegex(version["dot"], r"^\S+:\d+$")
        self.assertFalse(version["tombstone"])
        local = self.node.json("local-get", "n1", "explained")
        self.assertTrue(local["found"])
        self.assertEqual(local["versions"], replica["versions"])
        self.complaint("local-get", "no-such-node", "explained", code=2)

    def test_status_and_ring_describe_the_one_member(self):
        status = self.node.json("status")
        self.assertEqual([(m["name"], m["state"], m["share"]) for m in status["members"]], [("n1", "up", 1.0)])
        ring = self.node.json("ring", "--owners")
        self.assertEqual((ring["replicas"], ring["partitions"], ring["placer"]), (1, 4096, "balanced"))
        self.assertEqual(ring["owners"], ["n1"] * 4096)
        self.assertNotIn("owners", self.node.json("ring"))
        self.assertIsInstance(self.node.json("stats"), dict)

    def test_buckets_keep_keys_apart(self):
        self.ctl("bucket", "create", "other", "--conflict", "lww")
        self.ctl("put", "shared", "default")
        self.ctl("put", "shared", "other", "--bucket", "other")
        self.assertEqual(self.ctl("get", "shared"), b"default")
        self.assertEqual(self.ctl("get", "shared", "--bucket", "other"), b"other")
        self.ctl("bucket", "set", "other", "--ttl", "1h")
        self.assertIn("other", [bucket["name"] for bucket in self.node.json("bucket", "list")])


class NobodyThere(unittest.TestCase):
    def test_the_addresses_and_how_to_start_a_node_are_named(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))  # bound, not listening: refused
            address = "127.0.0.1:%d" % free.getsockname()[1]
            begun = time.monotonic()
            answer = kvctl("--node", address, "get", "k")
        self.assertEqual(answer.returncode, 3)
        for word in (address, "kvnode --dev", "tools/quickstart"):
            self.assertIn(word, answer.stderr.decode())
        self.assertLess(time.monotonic() - begun, 10)

    def test_the_first_node_that_answers_serves(self):
        with Node() as node, socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % free.getsockname()[1]
            self.assertEqual(kvctl("--node", f"{address},{node.address}", "put", "k", "v").returncode, 0)
            answer = run("kvctl", "get", "k", env={"RINGKV_NODE": f"{address},{node.address}"})
            self.assertEqual(answer.stdout, b"v")


class Life(unittest.TestCase):
    def test_what_was_acknowledged_survives_kill_9(self):
        with Node() as node:
            node.kvctl("load", "-", stdin=b"".join(line_of(b"%d" % i, b"v%d" % i) for i in range(3000)))
            node.kvctl("put", "deleted", "v")
            node.kvctl("del", "deleted")
            node.kvctl("put", "buffered", "v", "--durability", "buffered")
            before = node.kvctl("dump").stdout
            self.assertEqual(node.end(signal.SIGKILL), -signal.SIGKILL)
            node.start()
            self.assertEqual(node.kvctl("dump").stdout, before)
            self.assertEqual(node.kvctl("get", "deleted").returncode, 1)
            self.assertEqual(node.kvctl("get", "buffered").stdout, b"v")

    def test_sigterm_under_load_ends_with_0_and_loses_nothing_acknowledged(self):
        with Node() as node:
            stored, stop = [], threading.Event()

            def put_all(worker):
                for i in range(10_000):
                    if stop.is_set():
                        return
                    key = f"{worker}:{i}"
                    if node.kvctl("put", key, key, "--timeout", "2s").returncode == 0:
                        stored.append(key)

            threads = [threading.Thread(target=put_all, args=(worker,)) for worker in range(4)]
            for thread in threads:
                thread.start()
            wait_until(lambda: len(stored) > 40, "some puts")
            begun = time.monotonic()
            self.assertEqual(node.end(signal.SIGTERM), 0, node.err())
            self.assertLess(time.monotonic() - begun, 30)
            stop.set()
            for thread in threads:
                thread.join(30)
            node.start()
            kept = set(node.kvctl("scan").stdout.decode().split())
            self.assertEqual(set(stored) - kept, set())

    def test_sigint_ends_with_0(self):
        with Node() as node:
            self.assertEqual(node.end(signal.SIGINT), 0)

    def test_a_second_start_on_the_same_data_is_refused_and_names_the_process(self):
        with Node() as node:
            second = subprocess.run(node.command(), capture_output=True, timeout=60)
            self.assertEqual(second.returncode, 5, second.stderr)
            self.assertIn(str(node.process.pid).encode(), second.stderr)
            self.assertEqual(second.stdout, b"")

    def test_a_port_in_use_is_named(self):
        with Node() as node, Node() as other:
            other.end()
            second = subprocess.run(other.command("--client", node.address), capture_output=True, timeout=60)
            self.assertNotEqual(second.returncode, 0)
            self.assertIn(node.address.encode(), second.stderr)

    def test_a_service_manager_hears_that_it_serves_and_that_it_ends(self):
        with tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(os.path.join(directory, "notify"))
            manager.settimeout(60)
            os.environ["NOTIFY_SOCKET"] = manager.getsockname()
            try:
                node = Node().start()
            finally:
                del os.environ["NOTIFY_SOCKET"]
            try:
                self.assertEqual(manager.recv(100), b"READY=1")
                self.assertEqual(node.end(), 0)
                self.assertEqual(manager.recv(100), b"STOPPING=1")
            finally:
                node.__exit__()

    def test_sighup_goes_on_in_a_new_log_file(self):
        with tempfile.TemporaryDirectory() as directory:
            log = pathlib.Path(directory) / "log"
            with Node("--log-file", str(log), "--log", "debug") as node:
                log.rename(log.with_suffix(".1"))
                node.process.send_signal(signal.SIGHUP)
                wait_until(log.exists, "the new log file")
                self.assertEqual(node.kvctl("put", "k", "v").returncode, 0)
                self.assertEqual(node.end(), 0)
                self.assertEqual(node.err(), "")


class Flags(unittest.TestCase):
    def test_unknown_words_name_the_nearest_right_ones(self):
        for program, words, nearest in (("kvnode", ["--bootstrp"], "--bootstrap"),
                                        ("kvnode", ["--memry", "1GiB"], "--memory"),
                                        ("kvctl", ["pt", "k", "v"], "put"),
                                        ("kvctl", ["get", "k", "--jsno"], "--json"),
                                        ("kvbench", ["--conections", "3"], "--connections")):
            answer = run(program, *words)
            self.assertEqual((answer.returncode, answer.stdout), (2, b""), words)
            self.assertIn(nearest, answer.stderr.decode())

    def test_help_has_an_example_and_version_the_commit(self):
        for program in ("kvnode", "kvctl", "kvbench"):
            shown = run(program, "--help")
            self.assertEqual(shown.returncode, 0)
            self.assertIn(b"Example: " + program.encode(), shown.stdout)
            version = run(program, "--version")
            self.assertEqual(version.returncode, 0)
            self.assertRegex(version.stdout.decode(), program + r" \d+\.\d+\.\d+ \(\w+\)\n")

    def test_the_printed_configuration_is_accepted_and_says_the_same(self):
        words = ("--data", "d", "--memory", "1GiB", "--weight", "2.5", "--placer", "hashed", "--log", "debug")
        printed = run("kvnode", *words, "--print-config").stdout
        with tempfile.NamedTemporaryFile(suffix=".toml") as file:
            file.write(printed)
            file.flush()
            self.assertEqual(run("kvnode", "--config", file.name, "--print-config").stdout, printed)

    def test_flags_win_over_environment_over_file(self):
        with tempfile.NamedTemporaryFile(suffix=".toml") as file:
            file.write(b'rack = "file"\nname = "file"\nlog = "error"\n')
            file.flush()
            printed = run("kvnode", "--config", file.name, "--name", "flag", "--print-config",
                          env={"RINGKV_NAME": "environment", "RINGKV_RACK": "environment"}).stdout
        settings = tomllib.loads(printed.decode())
        self.assertEqual([settings[name] for name in ("name", "rack", "log")], ["flag", "environment", "error"])

    def test_a_start_without_data_names_the_ways_to_begin(self):
        with tempfile.TemporaryDirectory() as directory:
            answer = run("kvnode", "--data", os.path.join(directory, "data"), "--client", "127.0.0.1:0")
            self.assertEqual(answer.returncode, 2)
            for way in (b"--bootstrap", b"--join", b"--dev"):
                self.assertIn(way, answer.stderr)
            self.assertEqual(os.listdir(directory), [])

    def test_an_address_that_others_reach_is_refused_and_why(self):
        with tempfile.TemporaryDirectory() as directory:
            for door in ("--client", "--peer"):
                answer = run("kvnode", "--data", directory, "--bootstrap", door, "0.0.0.0:0")
                self.assertEqual(answer.returncode, 2)
                for word in (door, "TLS", "--insecure-network"):
                    self.assertIn(word, answer.stderr.decode())
                answer = run("kvnode", "--data", directory, "--bootstrap", door, "0.0.0.0:0", "--insecure-network")
                self.assertEqual(answer.returncode, 2)
                self.assertIn("--advertise" + door[1:], answer.stderr.decode())

    def test_dev_needs_no_other_flag(self):
        with tempfile.TemporaryDirectory() as directory:
            # Only the port: the default one may be taken on this machine.
            process = subprocess.Popen([BIN / "kvnode", "--dev"], cwd=directory, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL,
                                       env={**processes.clean_environment(), "RINGKV_CLIENT": "127.0.0.1:0"})
            try:
                ready = process.stdout.readline().decode()
                self.assertRegex(ready, r"^ready name=\S+ peer= client=127.0.0.1:\d+ epoch=\d+\n$")
                self.assertEqual(os.listdir(directory), ["ringkv-data"])
            finally:
                process.terminate()
                self.assertEqual(process.wait(60), 0)
                process.stdout.close()


class Bench(WithNode):
    def test_every_key_is_found_and_nothing_fails(self):
        for workload in ("put", "get", "mixed"):
            answer = run("kvbench", "--node", self.node.address, "--workload", workload, "--connections", "3", "--depth",
                         "4", "--value-size", "100", "--keys", "500", "--duration", "0.3", "--json")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            figures = json.loads(answer.stdout)
            self.assertGreater(figures["ops_per_s"], 0)
            self.assertEqual([figures[name] for name in ("errors", "unknown", "misses")], [0, 0, 0])
            self.assertLessEqual(figures["p50_us"], figures["p99_us"])
            self.assertLessEqual(figures["p999_us"], figures["max_us"])


if __name__ == "__main__":
    unittest.main()
