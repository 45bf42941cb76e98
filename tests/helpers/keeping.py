"""Tensors in the places of a dict, for tests of what calls keep there."""

from guarding import Box

from dy2st import to_tensor
from dy2st.tensor import Tensor


def kept():
    """What the functions keep, all tensors of it modified in place by the next call."""
    return {"a": to_tensor(0.5), "b": to_tensor(1.0), "items": [to_tensor(0.25)], "box": Box(value=to_tensor(-1.0))}


def held(kept):
    """The tensors that are kept, by path, each with the first path to it."""
    found = {f"items[{i}]": t for i, t in enumerate(kept["items"])} | {"box": kept["box"].value}
    found |= {k: t for k, t in kept.items() if isinstance(t, Tensor)}
    first = {}
    return {path: (t.tolist(), first.setdefault(id(t), path)) for path, t in sorted(found.items()) if isinstance(t, Tensor)}
