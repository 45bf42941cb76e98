"""`heapq` on lists whose items only the run can compare."""

import heapq

import dy2st as paddle


def pushed_and_popped(x, n):
    heap = []
    for i, v in enumerate(x):
        heapq.heappush(heap, (v * v, i))
        if len(heap) > n:
            heapq.heappop(heap)
    return heap


def largest_so_far(x):
    heap = [x[0], x[1]]
    heapq.heapify(heap)
    for v in x[2:]:
        if v > heap[0]:
            heapq.heapreplace(heap, v)
    return heap, heapq.heappushpop(heap, x.sum())


def sorted_by_a_heap(x):
    heap = [v * 1 for v in x]
    heapq.heapify(heap)
    return paddle.stack([heapq.heappop(heap) for _ in range(x.shape[0])])


def nearest(x):
    """Dijkstra's algorithm on a ring, with x as the lengths of its edges."""
    count = x.shape[0]
    distances, done, heap = [1e9] * count, [False] * count, [(x.sum() * 0, 0)]
    distances[0] = 0.0
    while heap:
        distance, node = heapq.heappop(heap)
        if done[node]:
            continue
        done[node] = True
        for other, length in (((node + 1) % count, x[node].abs()), ((node - 1) % count, x[node - 1].abs())):
            if distance + length < distances[other]:
                distances[other] = distance + length
                heapq.heappush(heap, (distance + length, other))
    return paddle.stack([paddle.to_tensor(0.0) + d for d in distances])


def taken_from_an_empty_heap(x, n):
    heap = [x.sum()]
    for _ in range(n):
        x = x + heapq.heappop(heap)
    return x


def states_by_their_costs(x):
    heap, count = [], 0
    for v in x:
        heapq.heappush(heap, (v, count, [count], x * v))
        count += 1
    cost, _, ids, state = heapq.heappop(heap)
    heapq.heappushpop(heap, (cost * 2, count, [*ids], state + 1))
    return cost, ids, state, heap[0][3]


def first_ones(x):
    pairs = [(v, -i) for i, v in enumerate(x)]
    return heapq.nlargest(2, list(x)), heapq.nsmallest(1, pairs, key=lambda p: p[0]), heapq.nsmallest(-1, [3, 1])


def of_python(x):
    heap = [3, 1, 2]
    heapq.heapify(heap)
    heapq.heappush(heap, 0)
    return x * heapq.heappop(heap) + heapq.heappop(heap), heap


X, Y, TIES = [3.0, 1.0, -2.0, 0.5, 2.5], [-1.0, 4.0, 2.0], [1.0, 1.0, 0.5, 1.0]

CASES = [
    (pushed_and_popped, [(X, 2), (Y, 1), (TIES, 3)], 1),
    (largest_so_far, [(X,), (Y,), (TIES,)], 1),
    (sorted_by_a_heap, [(X,), ([1.0, 1.0, 0.5, 4.0, 0.25],)], 1),
    (nearest, [(Y,), ([1.0, 1.0, 0.5],)], 1),
    (taken_from_an_empty_heap, [(X, 1), (X, 0), (X, 2)], 1),
    (states_by_their_costs, [(Y,), (TIES,)], 1),
    (first_ones, [(TIES,), ([3.0, 1.0, 2.0, 0.0],)], 1),
    (of_python, [(X,)], 1),
]
