"""What containers had at some moment, and how long a trace looks at one."""

from __future__ import annotations

from collections import OrderedDict

from dy2st import jit
from dy2st.convert.effects.snapshot import Snapshot
from dy2st.convert.hub import current_tracer
from dy2st.tensor import Tensor


def test_changes_of_few_containers_among_many_are_found_in_their_order():
    containers: list = [{"n": i} if i % 3 else [i] if i % 2 else OrderedDict(n=i) for i in range(50)]
    containers += [{}, set(), [], {"n": {}}]
    snapshot = Snapshot.of(containers)
    assert snapshot.changed() == []

    containers[49]["n"] = -1
    containers[0]["more"] = 0
    containers[20]["n"] = -1
    containers[9].append(1)
    containers[51].add(1)
    del containers[1]["n"]

    changed = [cell.target for cell in snapshot.changed()]
    assert list(map(id, changed)) == [id(containers[i]) for i in (0, 1, 9, 20, 49, 51)]

    snapshot.restore()
    assert snapshot.changed() == []
    assert containers[1] == {"n": 1}
    assert containers[9] == [9]


def test_what_was_made_in_a_branch_is_watched_no_longer_behind_it():
    watched = []

    @jit.not_to_static
    def look():
        watched.append(len(current_tracer().watched))

    @jit.to_static
    def f(x):
        for i in range(6):
            if x.sum() > i:
                rows = [x, x * 2]
                if x.mean() > 0:
                    rows.append(x)
                x = x + rows[-1]
            look()
        return x

    f(Tensor([1.0, 2.0]))
    assert len(set(watched)) == 1
