"""Two places that get one thing: the programs of the second table.

`<<...>>` is a tensor, or a list that holds it; `@` the number of the place, `t` the thing.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a thing is put: what comes before, how it is put there, and how it is read."""

    before: str
    put: str
    get: str


PLACES = {
    "variable": Place("t@ = <<x.max() * 3>>", "t@ = t", "t@"),
    "attribute": Place("self.a@ = <<paddle.to_tensor(0.5)>>", "self.a@ = t", "self.a@"),
    "attribute of before": Place("", "self.s@ = t", "self.s@"),
    "item": Place("", "self.items['k@'] = t", "self.items['k@']"),
    "new item": Place("e@ = {}", "e@['k'] = t", "e@.get('k', <<x[0]>>)"),
    "list that grows": Place("r@ = [<<x.max()>>]", "r@.append(t)", "r@[-1]"),
    "list written out": Place("r@ = [<<v + 0>> for v in x]", "r@ = [<<x.sum()>>, t]", "r@[-1]"),
    "comprehension": Place("r@ = [<<v + 0>> for v in x]", "r@ = [t for v in x]", "r@[0]"),
    "list of the same length": Place("r@ = [<<x.sum()>>, <<x.max()>>]", "r@ = [<<x.sum()>>, t]", "r@[1]"),
    "item of a list": Place("r@ = [<<x.sum()>>, <<x.max()>>]", "r@[1] = t", "r@[1]"),
    "item of a dynamic list": Place("r@ = [<<v + 0>> for v in x]", "r@[0] = t", "r@[0]"),
    "list of an attribute": Place("", "self.rows@.append(t)", "self.rows@[-1]"),
    "new list of an attribute": Place("", "self.rows@ = [t]", "self.rows@[-1]"),
    "tuple": Place("u@ = (<<x.sum()>>, <<x.max()>>)", "u@ = (<<x.sum()>>, t)", "u@[1]"),
    "object": Place("b@ = Box(<<x.max()>>)", "b@ = Box(t)", "b@.value"),
    "kept object": Place("", "self.box@.value = t", "self.box@.value"),
    "new kept object": Place("", "self.box@ = Box(t)", "self.box@.value"),
    "list in a list": Place("r@ = [[<<x.max()>>]]", "r@ = [[t]]", "r@[0][0]"),
    "list in a dynamic list": Place("r@ = [[<<v + 0>>] for v in x]", "r@ = [[<<x.sum()>>, t]]", "r@[0][-1]"),
    "records": Place("r@ = [(<<v + 0>>, 1) for v in x]", "r@ = [(<<x.sum()>>, 1), (t, 2)]", "r@[-1][0]"),
    "item of a global": Place("", "KEPT[@] = t", "KEPT[@]"),
    "deque": Place("q@ = collections.deque([<<x.max()>>])", "q@.append(t)", "q@[-1]"),
    "variable of a function": Place("c@ = <<x.max() * 2>>\ndef f@(v):\n    nonlocal c@\n    c@ = v", "f@(t)", "c@"),
    "data class": Place("m@ = Rec(<<x.max()>>, [])", "m@.a = t", "m@.a"),
    "default argument": Place("g@ = lambda v=<<x.max()>>: v", "g@ = lambda v=t: v", "g@()"),
}

# the places that are variables, which a function inside must declare
VARIABLES = {
    "variable": "t@",
    "list written out": "r@",
    "comprehension": "r@",
    "list of the same length": "r@",
    "tuple": "u@",
    "object": "b@",
    "list in a list": "r@",
    "list in a dynamic list": "r@",
    "records": "r@",
    "default argument": "g@",
}

CONTROL = {
    "if": """
if n > 0:
    t = <<x.sum() * 2>>
    {a}
    {b}
""",
    "both sides": """
if n > 0:
    t = <<x.sum() * 2>>
    {a}
    {b}
else:
    t = <<x.max() + 1>>
    {a}
    {b}
""",
    "one on each side": """
t = <<x.sum() * 2>>
if n > 0:
    {a}
else:
    {b}
""",
    "while": """
i = 0
while i < n:
    t = <<x.sum() * 2 + i>>
    {a}
    {b}
    i += 1
""",
    "for": """
for v in x:
    t = <<v * 2>>
    {a}
    {b}
    if v > n:
        break
""",
    "raised": """
try:
    if n > 0:
        t = <<x.sum() * 2>>
        {a}
        {b}
        raise ValueError('a')
    x = x + 1
except ValueError:
    x = x * 2
""",
    "made before": """
t = <<x.sum() * 2>>
if n > 0:
    {a}
    {b}
""",
    "function": """
def h(k):
    {nonlocals}
    if k > 0:
        t = <<x.sum() * k>>
        {a}
        {b}
        return x * 1
    return x + 0
x = h(n)
""",
}

# what is done behind that, to the thing in the one place or in the other; of a list that holds the tensor beside it
AFTER = {
    "tensor": ["", "{ga}.add_(one)", "{gb}.add_(one)", "if n > 0:\n    {ga}.add_(one)", "t = {ga}\nt.add_(one)"],
    "list": ["", "{ga}.append(one)", "{gb}[0] = one * 7", "if n > 0:\n    {ga}.append(one)", "{ga}[-1].add_(one)"],
}

# what is returned of a place: a result that is what the state holds is a tensor of its own (docs/reference/limits.md)
READ = {"tensor": "{0} * 1", "list": "{0}[0] * 1, {0}[-1] * 1, len({0})"}
