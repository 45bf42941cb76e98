"""A value that is of one kind on one path and of another on the other, and what is asked of it: the programs of the fourth table."""

KINDS = {
    "None": "None",
    "int": "3",
    "float": "0.5",
    "bool": "True",
    "number": "int(x.max()) + 1",
    "truth": "bool(x.max() > 1)",
    "vector": "x * 2",
    "scalar": "x.max()",
    "integer": "paddle.cast(x.max(), 'int64')",
    "list": "[x * 2]",
    "empty list": "[]",
    "list of ints": "[1, 2]",
    "tuple": "(x * 2, x)",
    "dict": "{'a': x * 2}",
    "object": "Box(x * 2)",
    "kept object": "self.box",
    "another kept object": "self.box0",
    "named tuple": "Pair(x * 2, x)",
    "data class": "Rec(x * 2, [])",
    "text": "'a'",
    "another text": "'bc'",
    "class": "Box",
    "another class": "Pair",
    "function": "abs",
    "another function": "len",
    "range": "range(2)",
}

QUESTIONS = """
isinstance(k, paddle.Tensor)
isinstance(k, type(None))
isinstance(k, bool)
isinstance(k, (int, float))
isinstance(k, (list, tuple))
isinstance(k, dict)
isinstance(k, str)
isinstance(k, Box)
isinstance(x, type(k))
issubclass(type(k), (Box, tuple))
type(k) is paddle.Tensor
type(k) is type(None)
type(k) == list
type(k) in (int, Box)
type(k).__name__ == 'Box'
k.__class__ is Box
paddle.is_tensor(k)
callable(k)
hasattr(k, 'value')
hasattr(k, 'append')
hasattr(k, '__len__')
hasattr(k, 'numpy')
getattr(k, 'value', None) is None
callable(getattr(k, 'sum', None))
k is None
k is not None
k is True
k is k
k is x
k is self.box
k == None
k == k
k == 'a'
k in (None, 'a')
k in {'a': 1, None: 2, 3: 4}
{'a': 1, None: 2, 3: 4}.get(k, 5)
{None: k}.get(None) is None
None in [k]
[v for v in (k, None) if v is not None] == []
len([v for v in (k, None) if v is None])
any(v is None for v in (k, x))
next((v for v in (k,) if v is not None), 7) is None
not k
1 if k else 2
bool(k)
x * 3 if k is None else x
x * 3 if isinstance(k, paddle.Tensor) else x
(k, 1)[0] is None
(lambda v=k: v is None)()
functools.partial(lambda v: v is None, k)()
dict(a=k)['a'] is None
max([1 if k is None else 2])
""".strip().split("\n")

# each leaves its answer in r
STATEMENTS = {
    "match sequence": """
match k:
    case []: r = 1
    case [_]: r = 2
    case [_, *rest]: r = len(rest) + 2
    case _: r = 0
""",
    "match mapping": """
match k:
    case {'a': v, **rest}: r = len(rest) + 1
    case _: r = 0
""",
    "match class": """
match k:
    case Rec(n=v): r = v
    case Box(): r = 2
    case paddle.Tensor(): r = 3
    case str() | tuple(): r = 4
    case _: r = 0
""",
    "match value": """
match k:
    case None: r = 1
    case True: r = 2
    case 3 | 'a': r = 3
    case _: r = 0
""",
    "length": """
try:
    r = len(k)
except TypeError:
    r = -1
""",
    "items": """
r = 0
try:
    for v in k:
        r = r + 1
except TypeError:
    r = -1
""",
    "attribute": """
try:
    r = k.value * 1
except AttributeError:
    r = x
""",
    "chain": """
if isinstance(k, paddle.Tensor):
    r = k + x
elif isinstance(k, (list, tuple)):
    r = x + len(k)
elif k is None or isinstance(k, str):
    r = x * 2
else:
    r = x * 1
""",
    "assertion": """
try:
    assert isinstance(k, (paddle.Tensor, list)), 'no'
    r = 1
except AssertionError:
    r = 2
""",
    "default": """
def h(v=None):
    if v is None:
        v = x
    return v
r = h(k) is None, h() is x
""",
    "set later": """
if x.max() > 1 and k is None:
    k = x
r = k is None
""",
}
