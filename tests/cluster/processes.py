"""Real kvnode and kvctl processes for tests: own ports, own directories, every wait bounded."""
import base64
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).parents[2]
BIN = pathlib.Path(os.environ.get("RINGKV_BIN", pathlib.Path(__file__).parents[2] / "build/release/bin"))
WAIT_S = 60  # for anything; a sanitizer's build on a busy machine is slow
LONG = bool(os.environ.get("RINGKV_LONG"))
DONE, NOT_FOUND, WRONG_USE, FAILED, UNKNOWN, FORBIDDEN = range(6)  # exit codes
DROPPED_AT_ONCE = ("--drop-grace", "0s")
ROUNDS_OFF = ("--anti-entropy-interval", "0s")
HINTS_OFF = ("--hint-budget", "0")


def wait_until(condition, what, seconds=WAIT_S):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def free_ports(count):
    """Numbers that the system hands to nobody: a node that restarts finds its own free."""
    while True:
        first = random.randrange(10_000, 30_000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
            return list(range(first, first + count))
        except OSError:
            continue


class Node:
    """One kvnode; a context manager that ends it and removes its directory."""

    def __init__(self, *flags, name="n1", origin=("--bootstrap", "--replicas", "1"), peer=0, client=0):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="ringkv-test-"))
        self.name = name
        self.flags = flags
        self.origin = origin  # how it comes to a ring at its first start
        self.peer = f"127.0.0.1:{peer}"
        self.client = f"127.0.0.1:{client}"
        self.process = None
        self.address = None  # of its clients
        self.peer_address = None

    def command(self, *flags):
        return [BIN / "kvnode", "--data", self.directory / "data", "--name", self.name, "--peer", self.peer,
                "--client", self.client, *self.origin, *self.flags, *flags]

    def launch(self, *flags):
        """Starts it and waits for nothing."""
        with open(self.directory / "out", "wb") as out, open(self.directory / "err", "ab") as err:
            self.process = subprocess.Popen(self.command(*flags), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        return self

    def wait_ready(self):
        wait_until(lambda: b"\n" in self.out() or self.process.poll() is not None, "the ready line")
        ready = re.fullmatch(rb"ready name=(\S+) peer=(\S*) client=(\S+) epoch=(\d+)\n", self.out())
        if not ready:
            raise AssertionError(f"not ready: {self.out()!r}, {self.err()}")
        self.peer_address, self.address = ready[2].decode(), ready[3].decode()
        return self

    def start(self, *flags):
        return self.launch(*flags).wait_ready()

    def refused(self, *flags, seconds=WAIT_S):
        """Starts it, waits until it has ended; exit code and what it said since then."""
        before = len(self.err()) if (self.directory / "err").exists() else 0
        self.launch(*flags)
        code = self.process.wait(seconds)
        return code, self.err()[before:]

    @property
    def data(self):
        return self.directory / "data"

    def identity(self):
        return dict(line.split(" ", 1) for line in (self.data / "IDENTITY").read_text().splitlines())

    def out(self):
        return (self.directory / "out").read_bytes()

    def err(self):
        return (self.directory / "err").read_text(errors="replace")

    def end(self, how=signal.SIGTERM):
        """The exit code; negative: the signal."""
        self.process.send_signal(how)
        return self.process.wait(WAIT_S)

    def kvctl(self, *words, stdin=b"", timeout=WAIT_S):
        return kvctl("--node", self.address, *words, stdin=stdin, timeout=timeout)

    def json(self, *words):
        answer = self.kvctl("--json", *words)
        return json.loads(answer.stdout)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT_S)
        shutil.rmtree(self.directory, ignore_errors=True)


class Cluster:
    """Nodes n1, n2, … of one ring, in racks a, b, c in turn, each with ports of its own that it keeps."""

    def __init__(self, nodes=5, flags=(), spare=2):
        self.ports = free_ports(2 * (nodes + spare))
        self.flags = flags
        self.nodes = {}
        self.count = nodes

    def node(self, number, **settings):
        """A node that knows all the others; n1 founds. Not started."""
        peers = [f"127.0.0.1:{self.ports[2 * i]}" for i in range(self.count) if i + 1 != number]
        origin = ("--bootstrap",) if number == 1 else ("--join", ",".join(peers))
        settings = {"name": f"n{number}", "origin": origin, "peer": self.ports[2 * number - 2],
                    "client": self.ports[2 * number - 1], **settings}
        return Node("--rack", "abc"[(number - 1) % 3], "--enable-faults", *self.flags, **settings)

    def add(self, number):
        node = self.nodes[f"n{number}"] = self.node(number)
        return node

    def launch_waiting(self, number):
        """One more node, which waits for a plan."""
        node = self.add(number)
        node.flags += ("--plan-only",)
        node.launch()
        wait_until(lambda: node.name in plan(self.live()[0])["waiting"], f"{node.name} to wait")
        return node

    def forget(self, name):
        """It is a member no more, and its directory goes."""
        self.nodes.pop(name).__exit__()

    def peers(self):
        return ",".join(node.peer for node in self.nodes.values())

    def __getitem__(self, name):
        return self.nodes[name]

    def live(self):
        return [node for node in self.nodes.values() if node.process and node.process.poll() is None]

    def states(self, node):
        """name -> state, in the eyes of one node; nothing while it doesn't answer."""
        answer = node.kvctl("--json", "status")
        return {m["name"]: m["state"] for m in json.loads(answer.stdout)["members"]} if answer.returncode == 0 else {}

    def wait_for(self, states, nodes=None):
        """Until all these nodes (the live ones) see exactly these members in these states."""
        for node in nodes or self.live():
            wait_until(lambda: self.states(node) == states, f"{states} as seen by {node.name}: {self.states(node)}", 30)

    def wait_all_up(self):
        self.wait_for({name: "up" for name in self.nodes})

    def ring_digests(self):
        return {node.json("ring")["digest"] for node in self.live()}

    def __enter__(self):
        try:
            for number in range(1, self.count + 1):
                self.add(number).start()
            self.wait_all_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes.values():
            node.__exit__()


def run(program, *words, stdin=b"", timeout=WAIT_S, env=None):
    return subprocess.run([BIN / program, *words], input=stdin, capture_output=True, timeout=timeout,
                          env={**clean_environment(), **(env or {})})


def kvctl(*words, stdin=b"", timeout=WAIT_S):
    return run("kvctl", *words, stdin=stdin, timeout=timeout)


# ---- What tests ask and tell a cluster through one of its nodes


def load(node, pairs):
    """Puts (key, value) pairs in bulk."""
    lines = "".join(json.dumps({"key_b64": base64.b64encode(key.encode()).decode(),
                                "value_b64": base64.b64encode(value.encode()).decode()}) + "\n" for key, value in pairs)
    answer = node.kvctl("load", "-", stdin=lines.encode(), timeout=600)
    assert answer.returncode == DONE, answer.stderr


def dump(node):
    """key -> the set of its values."""
    answer = node.kvctl("dump", "--timeout", "60s", timeout=600)
    assert answer.returncode == DONE, answer.stderr
    kept = {}
    for line in map(json.loads, answer.stdout.splitlines()):
        values = line["siblings_b64"] if "siblings_b64" in line else [line["value_b64"]]
        kept[base64.b64decode(line["key_b64"]).decode()] = {base64.b64decode(value).decode() for value in values}
    return kept


def keys_seen(node):
    answer = node.kvctl("scan", "--timeout", "30s")
    assert answer.returncode == DONE, answer.stderr
    return len(set(answer.stdout.splitlines()))


def statistic(asked, node, name):
    return asked.json("stats", node.name)[name]


def keys_held(node):
    return {m["name"]: m["keys"] for m in node.json("status")["members"]}


def members(node):
    return {m["name"]: m["status"] for m in node.json("ring")["members"]}


def plan(node):
    return node.json("plan", "show")


def change(node, *steps):
    """Begins the steps, each as typed after `kvctl plan`."""
    for step in steps:
        answer = node.kvctl("plan", *step.split())
        assert answer.returncode == DONE, (step, answer.stderr)
    commit(node)


def commit(node):
    """As an operator does: again, in seconds, where somebody who is replaced isn't known to be down yet."""
    for _ in range(100):
        answer = node.kvctl("plan", "commit")
        if b"isn't known to be down yet" not in answer.stderr:
            break
        time.sleep(0.1)
    assert answer.returncode == DONE, answer.stderr


def wait_joined(node, seconds=WAIT_S):
    answer = node.kvctl("wait", "joined", "--timeout", f"{seconds}s", timeout=seconds + 30)
    assert answer.returncode == DONE, answer.stderr


def wait_converged(node, seconds=WAIT_S):
    answer = node.kvctl("wait", "converged", "--timeout", f"{seconds}s", timeout=seconds + 30)
    assert answer.returncode == DONE, answer.stderr


def wait_hints_drained(node, seconds=WAIT_S):
    answer = node.kvctl("wait", "hints-drained", "--timeout", f"{seconds}s", timeout=seconds + 30)
    assert answer.returncode == DONE, answer.stderr


def slow(cluster, *names, milliseconds=20):
    """What these members exchange with anyone takes so long that one can look at a move halfway."""
    pairs = {tuple(sorted((name, other.name))) for name in names for other in cluster.live() if other.name != name}
    for one, other in sorted(pairs):
        answer = cluster.live()[0].kvctl("fault", "delay", one, other, str(milliseconds))
        assert answer.returncode == DONE, answer.stderr


def cut_off(cluster, name):
    """Nothing gets through between this member and the others."""
    for other in cluster.live():
        if other.name != name:
            answer = other.kvctl("fault", "drop", other.name, name)
            assert answer.returncode == DONE, answer.stderr


def heal(node):
    answer = node.kvctl("fault", "heal")
    assert answer.returncode == DONE, answer.stderr


def wait_share(node, share, expected):
    """Until the joiner holds this share of what it is to hold."""
    wait_until(lambda: statistic(node, node, "store.keys") >= share * expected, f"{share:.0%} of {expected} keys")


class Placement:
    """Who owns what, worked out here from the table that a node shows: clockwise from the key's partition, in each
    round every rack once."""

    def __init__(self, node):
        ring = node.json("ring", "--owners")
        self.epoch = ring["epoch"]
        self.racks = {m["name"]: m["rack"] for m in ring["members"]}
        self.table = ring["owners"]
        self.copies = min(ring["replicas"], len(set(self.table)))
        self.shift = 64 - (len(self.table).bit_length() - 1)
        self.lists = {}

    def owners(self, key):
        first = int.from_bytes(hashlib.sha1(key.encode()).digest()[:8], "big") >> self.shift
        if first not in self.lists:
            self.lists[first] = self.walk(first)
        return self.lists[first]

    def walk(self, first):
        owners = []
        while len(owners) < self.copies:
            racks = set()  # of this round
            for owner in (*self.table[first:], *self.table[:first]):
                if len(owners) < self.copies and owner not in owners and self.racks[owner] not in racks:
                    owners.append(owner)
                    racks.add(self.racks[owner])
        return owners

    def copies_of(self, keys):
        """name -> how many of the keys it owns."""
        return collections.Counter(owner for key in keys for owner in self.owners(key))


def wait_placed(cluster, keys, seconds=WAIT_S):
    """Until each of the keys, which are all there are, lies on its owners and nowhere else; of nodes that let go of
    what they don't own any more at once (DROPPED_AT_ONCE)."""
    node = cluster.live()[0]
    expected = dict(Placement(node).copies_of(keys))
    held = {}

    def placed():
        held.clear()
        held.update({name: statistic(node, cluster[name], "store.keys") for name in members(node)})
        return held == expected

    wait_until(placed, f"{expected} keys at the nodes, there are {held}", seconds)


def wait_copies(node, keys, sample=100):
    """Until so many of the keys, from all over, lie on all their owners."""
    placement = Placement(node)
    missing = {}
    for key in list(keys)[::max(1, len(keys) // sample)]:
        def complete():
            replicas = [one for one in node.json("explain", key)["replicas"] if "hint_for" not in one]
            missing[key] = (placement.owners(key), replicas)
            return [one["node"] for one in replicas if one["versions"]] == placement.owners(key)

        wait_until(complete, f"{key} to be on its owners: {missing}", 30)


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("RINGKV_")}


class ClusterTool(unittest.TestCase):
    """tools/cluster in a directory of its own."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self.scratch.name) / "cluster"
        self.base = free_ports(80)[0]

    def tearDown(self):
        self.tool("destroy", code=None)
        self.scratch.cleanup()

    # That it returns at all shows that nodes hold none of the caller's descriptors: the pipes would stay open.
    def tool(self, verb, *words, code=0):
        answer = subprocess.run([ROOT / "tools/cluster", verb, "--dir", self.directory, *words], capture_output=True,
                                text=True, timeout=120, env={**clean_environment(), "RINGKV_BIN": str(BIN)})
        if code is not None:
            self.assertEqual(answer.returncode, code, (verb, words, answer.stdout, answer.stderr))
        return answer

    def up(self, *words):
        return self.tool("up", "--base-port", str(self.base), *words)

    def nodes(self):
        """HOST:PORT,… of all that serve clients, as `env` prints it."""
        return self.tool("env").stdout.strip().removeprefix("export RINGKV_NODE=")

    def ctl(self, *words, code=0):
        answer = kvctl("--node", self.nodes(), *words, timeout=120)
        self.assertEqual(answer.returncode, code, (words, answer.stderr))
        return answer.stdout
