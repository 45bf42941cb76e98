"""Programs that keep lists, dicts and objects, in lists of dynamic length and beside them: which are one object is seen after the call.

`TOLD` leave what eager mode leaves; `NOT_TOLD` are refused, as a list of dynamic length holds copies of what is in its entries.
"""

# ruff: noqa: B007, C416, RUF005

from tests.fuzz.world import Box, Record


# ---- what is in one place only ----
def made_anew(self, x, n, m, a):
    for v in x:
        self.holders.append(Record(v))
    self.rows.append([x.sum(), x.mean()])
    for v in x:
        self.rows.append([v, v * 2])
    return x


def state_of_each_step(self, x, n, m, a):
    self.best = Record(x.sum())
    self.seen = []
    for v in x:
        self.seen.append(self.best)
        self.best = Record(v)
    return x


def state_of_some_steps(self, x, n, m, a):
    self.best = {"a": x.sum()}
    self.seen = []
    for v in x:
        if v > 0:
            self.seen.append(self.best)
            self.best = {"a": v}
    return x


def queue_and_what_was_in_it(self, x, n, m, a):
    queue = [Record(x.sum(), 0)]
    self.seen = []
    while len(queue) > 0:
        r = queue.pop(0)
        self.seen.append(r)
        if r.count < 2:
            queue.append(Record(r.value * 0.5, r.count + 1))
            if n > 1:
                queue.append(Record(r.value * 0.25, r.count + 1))
    return x


def taken_out_for_good(self, x, n, m, a):
    self.seen = [Record(x.sum())]
    for v in x:
        self.seen.append(Record(v))
    self.best = self.seen.pop(0)
    self.last = self.seen.pop()
    for v in x:
        self.seen.append(Record(v))
        self.seen.append(self.seen.pop(0))
    return x


def unpacked(self, x, n, m, a):
    found = [Record(x.sum()), Record(x.mean())]
    for v in x:
        found.append(Record(v))
    self.best, self.last = found[:2]
    return x


def some_of_the_entries(self, x, n, m, a):
    self.seen = []
    for v in x:
        self.seen.append(Record(v))
        self.seen.sort(key=lambda r: r.value)
        self.seen = self.seen[-3:]
    self.seen = [r for r in self.seen if r.value > -5]
    self.seen[:1] = [Record(x.sum())]
    self.seen.reverse()
    del self.seen[2:]
    return x


def entries_exchanged(self, x, n, m, a):
    self.seen = []
    for v in x:
        self.seen.append(Record(v))
    for i in range(len(self.seen)):
        for j in range(len(self.seen) - 1 - i):
            if self.seen[j].value > self.seen[j + 1].value:
                self.seen[j], self.seen[j + 1] = self.seen[j + 1], self.seen[j]
    return x


def handed_over(self, x, n, m, a):
    self.items = []
    for v in x:
        self.items.append(Record(v))
    self.seen = list(self.items)
    self.items.clear()
    self.items.append(Record(x.sum()))
    return x


def kept_for_a_while(self, x, n, m, a):
    best = self.seen = [Record(x.sum())]
    pairs = []
    for v in x:
        r = Record(v)
        best.append(r)
        pairs.append((r, r, self.holder))
    candidates = self.seen + [self.holder]
    self.last = max(candidates, key=lambda r: r.value).value
    return pairs[0][0].value


def beams(self, x, n, m, a):
    found = [Record(x.sum(), 0)]
    for v in x:
        new = [r for r in found]
        new.append(Record(v, 0))
        for r in found:
            new.append(Record(r.value + v, r.count + 1))
        found = sorted(new, key=lambda r: r.value)[:2]
    self.seen = found
    return found[0].value


def lists_that_grow_keep_their_entries(self, x, n, m, a):
    self.seen = self.holders
    for v in x:
        self.holders.append(Record(v))
    self.last = self.holders[-1].value
    return x


def _walk(items, v, k):
    if k <= 0 or v > 10:
        return items
    return _walk(items + [Record(v)], v * 2, k - 1)


def _tree(v, k):
    if k <= 0 or v > 10:
        return [Record(v)]
    return _tree(v * 2, k - 1) + [Record(v)] + _tree(v * 3, k - 1)


def returned_by_recursion(self, x, n, m, a):
    self.seen = _walk([Record(x.sum())], x.sum(), n)
    self.items = _tree(x.sum(), n)
    return x


def exchanged_on_a_path(self, x, n, m, a):
    self.best, self.last = Record(x.sum()), Record(x.mean())
    for _ in x:
        self.best, self.last = self.last, self.best
    if n > 0:
        self.best, self.last = self.last, self.best
    return x


def sorted_on_a_path(self, x, n, m, a):
    self.holders = [Record(x.sum()), Record(x.mean())]
    if n > 0:
        self.holders.sort(key=lambda r: r.value)
    self.holders[0].value = x.sum() * 3
    return x


# ---- what would be two objects ----
def put_in_and_kept(self, x, n, m, a):
    for v in x:
        self.holders.append(self.holder)
    return x


def put_in_with_others(self, x, n, m, a):
    self.seen = [(x.sum(), self.table)]
    for v in x:
        self.seen.append((v, {"a": v, "b": v}))
    return x


def last_one_kept(self, x, n, m, a):
    for v in x:
        self.best = Record(v)
        self.holders.append(self.best)
    return x


def list_kept_in_a_list(self, x, n, m, a):
    for v in x:
        self.rows.append(self.groups["b"])
    return x


def made_object_kept(self, x, n, m, a):
    self.best = Box(x.sum())
    self.seen = []
    for v in x:
        self.seen.append(self.best)
    return x


def list_given_up_on_a_path(self, x, n, m, a):
    if x.sum() > 0:
        self.holders = []
    return x


def entry_lost_on_a_path(self, x, n, m, a):
    if x.sum() > 0:
        self.holders.pop()
    return x


def put_in_again(self, x, n, m, a):
    r = Record(x.sum())
    for v in x:
        self.holders.append(r)
    return x


def object_of_an_attribute_put_in_again(self, x, n, m, a):
    self.best = Box(x.sum())
    for v in x:
        self.seen.append(self.best)
    self.best = None
    return x


def put_in_twice(self, x, n, m, a):
    self.seen = []
    for v in x:
        row = [v * 1, v * 2]
        self.seen.append((row, row))
    return x


def put_in_by_the_next_iteration(self, x, n, m, a):
    self.seen = []
    before = now = Record(x.sum())
    for v in x:
        self.seen.append(now)
        if v > 0:
            self.seen.append(before)
        before, now = now, Record(v)
    return x


def entry_put_in_again(self, x, n, m, a):
    for v in x:
        self.holders.append(Record(v))
    self.holders[0] = self.holders[1]
    return x


def all_entries_again(self, x, n, m, a):
    self.items, rows = [], []
    for v in x:
        rows.append([v * 1])
        self.items.extend(rows)
    return x


def repeated(self, x, n, m, a):
    for v in x:
        self.holders.append(Record(v))
    self.holders = self.holders * 2
    return x


def entry_read_and_kept(self, x, n, m, a):
    for v in x:
        self.holders.append(Record(v))
    self.best = self.holders[0]
    return x


def best_entry_kept(self, x, n, m, a):
    rows = []
    for v in x:
        rows.append([v * 2])
    self.items = rows
    self.best = max(rows, key=lambda row: row[0])
    return x


def same_entry_kept_twice(self, x, n, m, a):
    found = []
    for v in x:
        found.append(Record(v))
    self.best, self.last = found[0], found[-1]
    return x


def popped_and_known(self, x, n, m, a):
    r = Record(x.sum())
    found = [r]
    for v in x:
        found.append(Record(v))
    self.best, self.last = r, found.pop(0)
    return x


def two_lists_of_the_same(self, x, n, m, a):
    for v in x:
        self.holders.append(Record(v))
    self.seen = self.holders[1:]
    return x


def two_lists_with_the_same(self, x, n, m, a):
    self.seen = []
    for v in x:
        r = Record(v)
        self.holders.append(r)
        self.seen.append(r)
    return x


def list_of_a_loop_that_becomes_one_of_dynamic_length(self, x, n, m, a):
    for v in x:
        self.groups["b"] = self.items
    if n > 0:
        return list(x)
    return self.items


def list_of_a_path(self, x, n, m, a):
    self.best = r = Record(x.sum())
    self.seen = [r] if n > 0 else [Record(x.sum()), Record(x.mean())]
    return x


def one_list_on_a_path(self, x, n, m, a):
    self.seen = [(x.sum(), 1)]
    self.items = [(x.mean(), 2)]
    for v in x:
        self.seen.append((v, 1))
    if n > 0:
        self.items = self.seen
    return x


def handed_on_by_recursion(self, x, n, m, a):
    self.seen = _walk([self.holder], x.sum(), n)
    return x


def _halved(r, k):
    if k <= 0 or r.value > 10:
        return r
    return _halved(Record(r.value * 2), k - 1)


def argument_of_recursion(self, x, n, m, a):
    self.best = _halved(self.holder, n)
    return x


def one_of_two_twice(self, x, n, m, a):
    r = Record(x.sum())
    self.best = r if n > 0 else Record(x.sum() * 2)
    self.last = r if x.sum() > -5 else Record(x.sum() * 3)
    return x


def list_or_none(self, x, n, m, a):
    items = self.items if n > 1 else None
    self.groups["b"] = items
    return x


def set_on_a_path(self, x, n, m, a):
    if n > 0:
        r = self.holder
    if n > 0:
        self.best = r
    else:
        self.best = Record(x.sum())
    return x


def sorted_with_another(self, x, n, m, a):
    self.seen = sorted([Record(x.sum()), self.holder], key=lambda r: r.value)
    return x


def changed_and_put_in_again(self, x, n, m, a):
    self.best = Record(x.sum())
    found = []
    for v in x:
        self.best.value = v
        found.append(self.best)
    return [r.value for r in found]


TOLD = [
    made_anew, state_of_each_step, state_of_some_steps, queue_and_what_was_in_it, taken_out_for_good, unpacked, some_of_the_entries,
    entries_exchanged, handed_over, kept_for_a_while, beams, lists_that_grow_keep_their_entries, returned_by_recursion,
    exchanged_on_a_path, sorted_on_a_path, changed_and_put_in_again,
]  # fmt: skip
KEPT_rows = [[0.5, 0.25]]


def pick(n, x):
    global KEPT_rows
    KEPT_rows = [*KEPT_rows, [x]][n]


def list_in_a_global_picked_on_a_path(x, n, m, a):
    if n > 0:
        pick(n, x[0])


NOT_TOLD = [
    put_in_and_kept, put_in_with_others, last_one_kept, list_kept_in_a_list, made_object_kept, list_given_up_on_a_path,
    entry_lost_on_a_path, put_in_again, object_of_an_attribute_put_in_again, put_in_twice, put_in_by_the_next_iteration,
    entry_put_in_again, all_entries_again, repeated, entry_read_and_kept, best_entry_kept, same_entry_kept_twice, popped_and_known,
    two_lists_of_the_same, two_lists_with_the_same, list_of_a_path, list_of_a_loop_that_becomes_one_of_dynamic_length,
    one_list_on_a_path, handed_on_by_recursion, argument_of_recursion,
    one_of_two_twice, list_or_none, set_on_a_path, sorted_with_another, list_in_a_global_picked_on_a_path,
]  # fmt: skip
