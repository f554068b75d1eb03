"""Many clients of the library at once, and loads that know what each of their writes and reads may have come to."""
import base64
import concurrent.futures
import dataclasses
import itertools
import queue
import random
import subprocess
import threading
import time

from processes import BIN, WAIT_S, clean_environment, dump


def word_of(text):
    return base64.b64encode(text.encode()).decode() or "-"


def text_of(word):
    return "" if word == "-" else base64.b64decode(word).decode()


def routed(nodes):
    """A client that goes to the owners of each key."""
    return "routed=" + ",".join(node.address for node in nodes)


def through(node):
    """A client that sees the cluster through this node's eyes."""
    return "through=" + node.address


@dataclasses.dataclass
class Answer:
    code: str  # OK, or why not
    context: str = "-"
    values: tuple = ()  # siblings
    message: str = ""

    @property
    def ok(self):
        return self.code == "OK"

    @property
    def is_unknown(self):
        return self.code == "UNKNOWN_OUTCOME"


class Client:
    """One of Clients. Any thread may call it."""

    def __init__(self, clients, number):
        self.clients = clients
        self.number = number

    def begin(self, *words):
        return self.clients.begin(str(self.number), *words)

    def begin_put(self, key, value, context="-", w=0):
        return self.begin("put", word_of(key), word_of(value), context or "-", str(w))

    def begin_del(self, key):
        return self.begin("del", word_of(key))

    def begin_get(self, key, r=0):
        return self.begin("get", word_of(key), str(r))

    def put(self, *words, **settings):
        words = wait(self.begin_put(*words, **settings))
        if words[0] != "OK":
            return Answer(words[0], message=text_of(words[1]))
        return Answer("OK", context=words[1])

    def get(self, *words, **settings):
        words = wait(self.begin_get(*words, **settings))
        if words[0] != "OK":
            return Answer(words[0], message=text_of(words[1]))
        return Answer("OK", words[1], tuple(map(text_of, words[2:])))

    def owners(self, keys):
        """Of each key, in order."""
        asked = [self.begin("owners", *map(word_of, keys[i:i + 1000])) for i in range(0, len(keys), 1000)]
        return [names.split(",") for each in asked for names in wait(each)[1:]]


def wait(asked):
    return asked.result(WAIT_S)


class Clients:
    """routed(…) and through(…) clients, all in one process (test_clients.cc); a context manager."""

    def __init__(self, *clients):
        self.arguments = clients
        self.asked = {}
        self.numbers = itertools.count()
        self.sending = threading.Lock()

    def begin(self, *words):
        asked = concurrent.futures.Future()
        with self.sending:
            number = str(next(self.numbers))
            self.asked[number] = asked
            self.process.stdin.write(" ".join((number, *words)) + "\n")
            self.process.stdin.flush()
        return asked

    def hear(self):
        for line in self.process.stdout:
            number, *words = line.split()
            self.asked.pop(number).set_result(words)

    def __enter__(self):
        self.process = subprocess.Popen([BIN / "test_clients", *self.arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=clean_environment())
        assert self.process.stdout.readline() == "ready\n"
        self.hearing = threading.Thread(target=self.hear)
        self.hearing.start()
        return [Client(self, number) for number in range(len(self.arguments))]

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(WAIT_S)
        self.hearing.join(WAIT_S)
        self.process.stdout.close()


class Load:
    """One thread a client, each with turns at its own pace until the end; a context manager. What goes wrong is told by
    check(), and at the end."""

    def __init__(self, clients, pause):
        self.clients = clients
        self.pause = pause
        self.turns = 0
        self.acknowledged = 0
        self.refused = []  # writes and reads of which nothing came
        self.unknown = []
        self.wrong = []  # answers that may not be
        self.crashed = queue.Queue()
        self.ending = threading.Event()
        self.threads = []

    def work(self, number, client):
        turns = random.Random(number)
        try:
            while not self.ending.wait(self.pause * turns.uniform(0.5, 1.5)):
                self.turn(number, client, turns)
                self.turns += 1
        except BaseException as error:
            self.crashed.put(error)
            raise

    def note_failure(self, what, answer):
        (self.unknown if answer.is_unknown else self.refused).append((time.monotonic(), what, answer.message))

    def check(self):
        assert self.crashed.empty(), self.crashed.get()
        assert self.wrong == [], self.wrong[:5]

    def check_no_failures(self):
        self.check()
        assert (self.refused, self.unknown) == ([], []), (self.refused[:5], self.unknown[:5])

    def __enter__(self):
        self.threads = [threading.Thread(target=self.work, args=each) for each in enumerate(self.clients)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.end()
        if kind is None:
            self.check()

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join(2 * WAIT_S)


class Counting(Load):
    """Each client counts up in keys of its own, and reads those of the others: no read is behind what had been
    acknowledged when it began."""

    def __init__(self, clients, prefix="count", keys=20, pause=0.02, reads=True):
        super().__init__(clients, pause)
        self.prefix = prefix
        self.keys = keys
        self.reads = reads
        self.sent = {}
        self.acked = {}

    def key(self, number, turns):
        return f"{self.prefix}:{number}:{turns.randrange(self.keys)}"

    def turn(self, number, client, turns):
        if self.reads and turns.random() < 0.5:
            return self.read(client, self.key(turns.randrange(len(self.clients)), turns))
        key = self.key(number, turns)
        count = self.sent[key] = self.sent.get(key, 0) + 1
        answer = client.put(key, str(count))
        if answer.ok:
            self.acked[key] = count
            self.acknowledged += 1
        else:
            self.note_failure(f"put {key} {count}", answer)

    def read(self, client, key):
        acked = self.acked.get(key, 0)
        answer = client.get(key)
        if not answer.ok:
            return self.note_failure(f"get {key}", answer)
        if not acked <= max(map(int, answer.values), default=0) <= self.sent.get(key, 0):
            self.wrong.append(f"{key}: {acked} was acknowledged before it read {answer.values}")

    def check_kept(self, kept):
        """`kept` is all that is there in the end, as dump() gives it."""
        lost = [(key, acked, kept.get(key)) for key, acked in self.acked.items()
                if not acked <= max(map(int, kept.get(key, ())), default=0) <= self.sent[key]]
        assert lost == [], (len(lost), lost[:5])


class Reading(Load):
    """Reads keys that nobody writes, at R = 1 and R = 2: each is there all the time."""

    def __init__(self, clients, keys, value):
        super().__init__(clients, pause=0.002)
        self.keys = keys
        self.value = value

    def turn(self, number, client, turns):
        key = turns.choice(self.keys)
        r = turns.choice((1, 2))
        answer = client.get(key, r=r)
        if not answer.ok:
            self.note_failure(f"get {key} at R = {r} by client {number}", answer)
        elif answer.values != (self.value,):
            self.wrong.append(f"{key} at R = {r} by client {number}: {answer.values}")


class Sets(Load):
    """Each client adds elements of its own to sets that all of them share, each the value of one key, by get and put
    with the context: whatever a write has seen it carries on. So every acknowledged element is in the final values, and
    in those of each read that began after its acknowledgement, exactly when no acknowledged write is lost."""

    def __init__(self, clients, keys=10, pause=1.0, reads=0.5):
        super().__init__(clients, pause)
        self.keys = [f"set:{i}" for i in range(keys)]
        self.reads = reads
        self.acked = {key: () for key in self.keys}
        self.guard = threading.Lock()
        self.elements = itertools.count()

    def turn(self, number, client, turns):
        key = turns.choice(self.keys)
        answer = self.read(client, key)
        if not answer.ok or turns.random() < self.reads:
            return
        element = f"{number}.{next(self.elements)}"
        answer = client.put(key, " ".join(sorted({*elements_of(answer.values), element})), answer.context)
        if not answer.ok:
            return self.note_failure(f"add {element} to {key}", answer)
        with self.guard:
            self.acked[key] += (element,)
            self.acknowledged += 1

    def read(self, client, key):
        acked = self.acked[key]
        answer = client.get(key)
        if answer.ok:
            self.note_lost(key, acked, elements_of(answer.values))
        else:
            self.note_failure(f"get {key}", answer)
        return answer

    def note_lost(self, key, acked, seen):
        lost = set(acked) - seen
        if lost:
            self.wrong.append(f"{key}: acknowledged before it was read, and not there: {sorted(lost)[:5]}")

    def check_kept(self, node):
        kept = dump(node)
        for key in self.keys:
            self.note_lost(key, self.acked[key], elements_of(kept.get(key, ())))
        self.check()


def check_all_there(node, before, writes):
    """That each key of `before` has its value in the end, and no write is lost, as read through this node. All keys."""
    kept = dump(node)
    writes.check_kept(kept)
    lost = [key for key, value in before.items() if kept.get(key) != {value}]
    assert lost == [], (len(lost), lost[:5])
    return kept


def elements_of(values):
    return {element for value in values for element in value.split()}
