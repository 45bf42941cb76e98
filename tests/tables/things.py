"""What the programs of the first and the third table change: each with how it is made, several changes of it, and how it is read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thing:
    make: str
    changes: tuple[str, ...]
    read: str


def _thing(make: str, changes: list[str], read: str) -> Thing:
    return Thing(make, tuple(changes), read)


LISTED = "sum(t, x.min()) + len(t)"

MADE = {
    # ---- in the function ----
    "list": _thing(
        "t = [x.sum() * 2]",
        [
            "t[0] = x.max() * 3",
            "t.append(x.max())",
            "t.insert(0, x.min())",
            "t += [x.max(), x.min()]",
            "t[:] = [x.max()]",
            "t = t + [x.min()]",
            "t[0].add_(x.max())",
            "t.clear()",
            "del t[0]",
        ],
        LISTED,
    ),
    "list of two": _thing(
        "t = [x.sum(), x.max() * 3]",
        [
            "t.reverse()",
            "t.sort()",
            "t.pop()",
            "t.remove(t[0])",
            "t[0], t[1] = t[1], t[0]",
            "t = sorted(t, reverse=True)",
            "t *= 2",
            "t = t[1:]",
        ],
        "sum((v * i for i, v in enumerate(t, 1)), x.min()) + len(t)",
    ),
    "dict": _thing(
        "t = {'k': x.sum() * 2}",
        [
            "t['k'] = x.max() * 3",
            "t['m'] = x.max()",
            "t = {'k': x.min()}",
            "t.update(k=x.max())",
            "t['k'] += x.max()",
            "t.clear()",
            "t = {**t, 'k': x.max()}",
            "t |= {'m': x.min()}",
        ],
        "sum(t.values(), x.min()) + len(t)",
    ),
    "dict of lists": _thing(
        "t = {'a': [x.sum()]}",
        [
            "t['a'].append(x.max())",
            "t['b'] = t['a']",
            "t.setdefault('c', []).append(x.max())",
            "t['a'] = [x.min()]",
            "t['a'][0] = x.max()",
        ],
        "sum((sum(v) * i for i, v in enumerate(t.values(), 1)), x.min()) + len(t)",
    ),
    "ordered dict": _thing(
        "t = collections.OrderedDict(a=x.sum(), b=x.max())",
        [
            "t['a'] = x.max() * 3",
            "t.move_to_end('a')",
            "t['c'] = x.min()",
            "del t['a']; t['a'] = x.max()",
            "t.popitem()",
        ],
        "sum((v * (i + 1) for i, v in enumerate(t.values())), x.min())",
    ),
    "defaultdict": _thing(
        "t = collections.defaultdict(list)",
        [
            "t['a'].append(x.max())",
            "t['b'].append(x.min())",
            "t['a'] = [x.sum()]",
            "t.pop('a', None)",
        ],
        "sum((sum(v) for v in t.values()), x.min()) + len(t)",
    ),
    "counter": _thing(
        "t = collections.Counter(a=1)",
        ["t['a'] += 1", "t['b'] += 2", "t.update(['a', 'b'])", "t.subtract(a=1)"],
        "x.min() + t['a'] + t['b'] * 10 + len(t)",
    ),
    "set": _thing("t = {1, 2}", ["t.add(3)", "t.discard(1)", "t = t | {5}", "t.clear()"], "x.min() + len(t) + sum(t)"),
    "deque": _thing(
        "t = collections.deque([x.sum() * 2])",
        ["t[0] = x.max() * 3", "t.append(x.max())", "t.appendleft(x.min())", "t.popleft()"],
        LISTED,
    ),
    "heap": _thing(
        "t = [(1, x.sum()), (5, x.max())]",
        ["heapq.heappush(t, (3, x.min()))", "heapq.heappop(t)", "heapq.heapreplace(t, (7, x.max()))"],
        "sum((k * v for k, v in t), x.min()) + len(t)",
    ),
    "nested": _thing(
        "t = [[x.sum() * 2], {'k': x.max()}]",
        [
            "t[0][0] = x.max() * 3",
            "t[0].append(x.max())",
            "t[1]['k'] = x.min()",
            "t[0] = [x.min()]",
            "t[1]['m'] = x.min()",
        ],
        "sum(t[0], x.min()) + sum(t[1].values()) + len(t[0])",
    ),
    "dict class": _thing(
        "t = Named(a=x.sum())",
        ["t['a'] = x.max()", "t['b'] = x.min()", "t.extra = x.max()"],
        "sum(t.values(), x.min()) + len(t)",
    ),
    "list class": _thing("t = Items([x.sum()])", ["t[0] = x.max()", "t.append(x.min())", "t.extra = x.max()"], LISTED),
    "named tuple": _thing(
        "t = Pair(x.sum(), [x.max()])",
        ["t = t._replace(a=x.min())", "t.b.append(x.min())", "t.b[0] = x.min()", "t = Pair(t.a + 1, t.b)"],
        "t.a + sum(t.b) + len(t.b)",
    ),
    "data class": _thing(
        "t = Rec(x.sum(), [x.max()])",
        ["t.a = x.min()", "t.b.append(x.min())", "t = dataclasses.replace(t, a=x.min())", "t.n += 1"],
        "t.a + sum(t.b) + t.n",
    ),
    "box": _thing(
        "t = Box(x.sum() * 2)",
        ["t.value = x.max() * 3", "t.more = x.max()", "t = Box(x.min())", "t.value += x.max()"],
        "t.value + getattr(t, 'more', 7)",
    ),
    "box in a box": _thing(
        "t = Box(Box(x.sum()))",
        ["t.value.value = x.max()", "t.value = Box(x.min())", "t = Box(t.value)", "t = t.value"],
        "getattr(t.value, 'value', t.value) * 1",
    ),
    "slots": _thing(
        "t = Slots(x.sum())", ["t.value = x.max()", "t.value += x.min()", "t = Slots(x.min())"], "t.value * 1"
    ),
    "list in a slot": _thing(
        "t = Slots([x.sum()])",
        ["t.value.append(x.max())", "t.value[0] = x.min() * 3", "t.value = [x.min()]", "t = Slots(t.value)"],
        "sum(t.value) + len(t.value)",
    ),
    "data class with slots": _thing(
        "t = SlotRec(x.sum(), [x.max()])",
        ["t.a = x.min()", "t.b.append(x.min())", "t = dataclasses.replace(t, a=x.min())", "u = t\nu.a = x.max() * 3"],
        "t.a + sum(t.b)",
    ),
    "frozen data class": _thing(
        "t = Frozen(x.sum(), [x.max()])",
        ["t.put(x.min())", "t.b.append(x.min())", "t = dataclasses.replace(t, a=x.min())", "t = Frozen(t.a * 2, t.b)"],
        "t.a + sum(t.b)",
    ),
    "frozen data class with slots": _thing(
        "t = Point(x.sum())",
        ["t.put(x.min())", "t = dataclasses.replace(t, a=x.min())", "t = Point(t.a * 2, x.max())", "u = t\nu.put(x.max() * 3)"],
        "t.a + t.b",
    ),
    "frozen data class with a list in a slot": _thing(
        "t = FrozenSlots(x.sum(), [x.max()])",
        ["t.put(x.min())", "t.b.append(x.min())", "t = dataclasses.replace(t, a=x.min())", "t = FrozenSlots(t.a * 2, t.b)"],
        "t.a + sum(t.b)",
    ),
    "named tuple with an attribute": _thing(
        "t = Pairs(x.sum())", ["t.more = x.max()", "t = Pairs(x.min())", "t = t._replace(a=x.max())"], "t.a + t.more"
    ),
    "__setattr__": _thing("t = Watched(x.sum())", ["t.value = x.max()", "t.value = t.value + 1"], "t.value * t.count"),
    "__setitem__": _thing(
        "t = Table(x.sum())",
        ["t['k'] = x.max()", "t['k'] += x.min()", "t['m'] = x.min()"],
        "sum(t, x.min()) + len(t) + ('m' in t)",
    ),
    "__iadd__, __call__": _thing(
        "t = Sum(x.sum())", ["t += x.max()", "x = x * t(1)", "t = Sum(t(2))"], "t.value * t.times + x.min()"
    ),
    "two names": _thing(
        "t = [x.sum() * 2]\nu = t",
        ["t[0] = x.max() * 3", "u[0] = x.max() * 3", "u = [x.min()]", "t.append(x.max())"],
        "sum(t, x.min()) + sum(u) * 10 + len(t)",
    ),
    "closure": _thing(
        "t = [x.sum() * 2]\ndef put(v):\n    t[0] = v", ["put(x.max() * 3)", "t.append(x.max())"], LISTED
    ),
    "cell": _thing(
        "c = x.sum()\ndef t():\n    return c\ndef put(v):\n    nonlocal c\n    c = v",
        ["put(x.max() * 3)", "put(t() + 1)", "t = lambda: x.min() * 5"],
        "t() * 1",
    ),
    "partial": _thing(
        "u = [x.sum()]\nt = functools.partial(lambda a, b: sum(a) * b, u)",
        [
            "u.append(x.max())",
            "u[0] = x.min()",
            "t = functools.partial(lambda a, b: sum(a) + b, [x.max()])",
        ],
        "t(x.min() + 2)",
    ),
    "bound method": _thing(
        "u = Box(x.sum())\nt = u.put",
        ["t(x.max())", "u = Box(x.min())", "t = self.box.put"],
        "u.value + self.box.value",
    ),
    "attribute of a function": _thing(
        "def t():\n    return t.total\nt.total = x.sum()", ["t.total = x.max() * 3", "t.total += x.min()"], "t() * 1"
    ),
    "iterator": _thing(
        "t = iter([x.sum(), x.max() * 3, x.min() * 5, x.mean()])\nu = x.min()",
        ["u = next(t)", "u = u + next(t, x.max())", "next(t)"],
        "sum(t, u)",
    ),
    "generator": _thing(
        "def items():\n    for i in range(4):\n        yield x.sum() * i\nt = items()\nu = x.min()",
        ["u = next(t)", "u = u + next(t, x.max())"],
        "sum(t, u)",
    ),
    "enumeration": _thing(
        "t = enumerate([x.sum(), x.max() * 3, x.min() * 5])\nu = x.min()",
        ["i, u = next(t)", "u = u + next(t, (0, x.max()))[1]"],
        "sum((i * v for i, v in t), u)",
    ),
    "own iterator": _thing(
        "t = Rows(x)\nu = x.min()",
        [
            "u = u + next(t, x.max())",
            "t.at = 0",
            "for u in t:\n    pass",
            "for v in t:\n    if v > u:\n        break\n    u = u + v",
            "u = u + sum(t)",
        ],
        "sum(t, u) + t.at",
    ),
    "function that replaces": _thing(
        "t = Box(x.sum())\ndef put(v):\n    nonlocal t\n    t = Box(v)",
        ["put(x.max())", "t.value = x.min()", "t.value += 1", "t.put(x.max() * 3)", "t = Box(x.mean())"],
        "t.value * 1",
    ),
    # ---- tensors, numbers, texts, None ----
    "tensor": _thing("t = x.sum() * 2", ["t = x.max() * 3", "t.add_(x.max())", "t += x.max()"], "t * 1"),
    "vector": _thing(
        "t = x * 2",
        ["t[0] = x.max()", "t[-1:] = x.min()", "t += 1", "t = t[:1]", "t = paddle.concat([t, x])"],
        "t.sum() + t.shape[0] + t[0]",
    ),
    "number": _thing("t = 1", ["t = 2", "t += 1", "self.n = self.n + 1"], "x.min() * t + self.n"),
    "number or tensor": _thing("t = 1", ["t = x.max()", "t = t + 1", "t = 2.5"], "x.min() * t"),
    "flag": _thing("t = False", ["t = True", "t = not t", "t = x.max() > 1"], "(x.max() if t else x.min()) * 1"),
    "text": _thing("t = 'a'", ["t += 'b'", "t = f'{t}c'", "t = t.upper()"], "x.min() + len(t) + t.count('b') * 10"),
    "optional": _thing(
        "t = None",
        ["t = x.max()", "t = None", "t = x.min() if t is None else t + 1"],
        "(x.min() * 7 if t is None else t * 1)",
    ),
}

# kept by the layer, the module or a class
KEPT = {
    "list of an attribute": _thing(
        "t = self.a",
        ["t[0] = x.max() * 3", "t.append(x.max())", "self.a = [x.max()]", "self.a.append(x.min())"],
        "sum(t, x.min()) + sum(self.a) + len(t)",
    ),
    "dict of an attribute": _thing(
        "t = self.d",
        ["t['k'] = x.max() * 3", "t['m'] = x.max()", "self.d = {'k': x.max()}", "self.d['k'] = x.min()"],
        "sum(t.values(), x.min()) + sum(self.d.values()) + len(t)",
    ),
    "object of an attribute": _thing(
        "t = self.box",
        ["t.value = x.max() * 3", "self.box = Box(x.max())", "self.box.value = x.min()"],
        "t.value + self.box.value",
    ),
    "attribute": _thing(
        "t = self.h", ["self.h = x.max() * 3", "t.add_(x.max())", "self.h.add_(x.max())"], "t + self.h"
    ),
    "kept and made": _thing(
        "t = [x.sum() * 2]\nself.a = t",
        ["t[0] = x.max() * 3", "self.a[0] = x.max() * 3", "self.a = [x.max()]", "self.a = self.a + t"],
        "sum(t, x.min()) + sum(self.a) + len(t)",
    ),
    "kept function": _thing(
        "t = self.f or (lambda v: v)",
        ["self.f = lambda v: v * 2", "t = lambda v: v + 1", "self.f = t", "self.f = None"],
        "t(x.sum()) + (x.min() if self.f is None else self.f(x.max()))",
    ),
    "global": _thing(
        "t = G['a']",
        ["t[0] = x.max() * 3", "G['a'] = [x.max()]", "G['b'] = x.max()", "G['c'] = x.max()"],
        "sum(t, x.min()) + sum(G['a']) + G['b'] + len(G)",
    ),
    "attribute of a class": _thing(
        "t = Counted",
        ["Counted.total = Counted.total + x.max()", "Counted.n += 1", "t.total = x.min()"],
        "t.total + Counted.n",
    ),
    "buffer": _thing(
        "t = self.buf",
        ["self.buf = x.max() * 3", "t.add_(x.max())", "self.buf.set_value(x.min() * 2)", "self.buf += x.max()"],
        "t + self.buf",
    ),
    "parameter": _thing(
        "t = self.w",
        [
            "self.w.set_value(x.max().reshape([1]))",
            "t = self.w * 2",
            "with paddle.no_grad():\n    self.w.add_(x.max().reshape([1]))",
        ],
        "(self.w * x.sum()).sum() + t.sum()",
    ),
    "sublayer": _thing(
        "t = self.sub.h",
        ["self.sub.h = x.max() * 3", "self.sub.a.append(x.max())", "self.sub.a = [x.min()]", "self.sub.buf = x.max()"],
        "t + self.sub.h + sum(self.sub.a) + self.sub.buf",
    ),
    "sublayers": _thing(
        "t = self.subs[0]",
        [
            "t.h = x.max() * 3",
            "self.subs[1].h = x.min()",
            "t.a.append(x.max())",
            "t.a[0] = x.min()",
            "t = self.subs[1]",
        ],
        "t.h + self.subs[1].h + sum(self.subs[0].a)",
    ),
    "methods": _thing(
        "t = [x.sum()]",
        ["self.note(x.max())", "self.sub.note(x.min())", "self.note(t[0])"],
        "t[0] + self.h + sum(self.sub.a) + len(self.a)",
    ),
    "property": _thing(
        "t = x.sum()", ["self.scale = x.max()", "self.scale = self.scale + 1", "t = self.scale"], "t + self.scale"
    ),
}

THINGS = {**MADE, **KEPT}
