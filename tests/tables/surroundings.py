"""Where the programs of the first table make and change a thing: `{make}`, `{c1}` and `{c2}` stand on lines of their own, `{read}` in an
expression; the result is `r`."""

from .tries import TRIES

BRANCHES = {
    "elif": """
{make}
if n > 1:
    {c1}
elif n > 0:
    {c2}
else:
    {c1}
    {c2}
r = {read}
""",
    "if in if": """
{make}
if n > 0:
    {c1}
    if n > 1:
        {c2}
r = {read}
""",
    "match": """
{make}
match n:
    case 1:
        {c1}
    case 2:
        {c2}
    case _:
        pass
r = {read}
""",
    "made in both": """
if n > 0:
    {make}
    {c1}
else:
    {make}
    {c2}
r = {read}
""",
    "made in both, changed behind": """
if n > 0:
    {make}
else:
    {make}
    {c2}
{c1}
if n > 1:
    {c2}
r = {read}
""",
    "made in one": """
t = u = None
if n > 0:
    {make}
    {c1}
if n > 1:
    {c2}
r = x.mean() if t is None else {read}
""",
    "kept by a name": """
{make}
keep = t
if n > 0:
    {c1}
    keep = t
{c2}
r = {read}
t = keep
r = r + {read} * 10
""",
    "kept by the layer": """
{make}
self.f = t
if n > 0:
    {c1}
{c2}
r = {read}
t = self.f
r = r + {read} * 10
self.f = None
""",
    "in a list": """
{make}
items = [t]
if n > 0:
    {c1}
t = items[0]
{c2}
r = {read}
""",
    "in a dict": """
{make}
items = {'t': t}
if n > 0:
    {c1}
    items['t'] = t
t = items['t']
{c2}
r = {read}
""",
    "made anew": """
{make}
if n > 0:
    {c1}
r = {read}
if n > 0:
    {make}
r = r + {read}
""",
    "a scope": """
{make}
with Scope() as scope:
    {c1}
    if n > 0:
        with self.scope:
            {c2}
r = {read} + scope.entered
""",
    "two conditions": """
{make}
if n > 0 and x.sum() > 2:
    {c1}
if n > 1 or x.max() > 2:
    {c2}
r = {read}
""",
}

LOOPS = {
    "while with break": """
{make}
i = 0
while i < n:
    {c1}
    if x.sum() > i * 2:
        {c2}
        break
    i += 1
else:
    {c2}
r = {read}
""",
    "continue": """
{make}
for v in x:
    if v > n:
        {c1}
        continue
    {c2}
r = {read}
""",
    "loop in a loop": """
{make}
for v in x:
    for w in x:
        if w > v:
            {c1}
            break
    {c2}
r = {read}
""",
    "two loops": """
{make}
for v in x:
    {c1}
while n > 0:
    {c2}
    n = n - 1
r = {read}
""",
    "made in a loop": """
r = x.min()
for v in x:
    {make}
    {c1}
    if v > n:
        {c2}
    r = r + {read}
""",
    "appended in a loop": """
items = []
for v in x:
    {make}
    items.append(t)
    {c1}
t = items[-1]
r = {read}
""",
    "range of Python": """
{make}
for i in range(3):
    if i > n:
        {c1}
        break
    {c2}
r = {read}
""",
    "left by return": """
def h(t):
    for v in x:
        {c1}
        if v > n:
            {c2}
            return {read}
    return {read} * 2
{make}
r = h(t) + 1
""",
}

FUNCTIONS = {
    "recursion": """
{make}
def h(k, t):
    if k <= 0:
        return x.min()
    {c1}
    found = h(k - 1, t) + 1
    {c2}
    return found
r = h(n % 4, t) + {read}
""",
    "closure": """
{make}
def h():
    {c1}
    return x
x = h() if n > 0 else x + 0
if n > 1:
    {c2}
r = {read}
""",
    "argument": """
def h(t, flag):
    if flag:
        {c1}
    return t
{make}
t = h(t, n > 0)
t = h(t, n > 1)
{c2}
r = {read}
""",
    "default argument": """
{make}
def h(flag, t=t):
    if flag:
        {c1}
    return {read}
r = h(n > 0)
{c2}
r = r + h(n > 1) * 10
""",
    "called by and": """
{make}
def h():
    {c1}
    return n < 2
if n > 0 and h():
    {c2}
r = {read}
""",
    "mapped": """
{make}
def h(v):
    if v > n:
        {c1}
    return v * 2
r = sum(map(h, x), x.min())
{c2}
r = r + {read}
""",
    "comprehension": """
{make}
def h(v):
    {c1}
    return v * 2
r = sum([h(v) for v in x if v > n], x.min())
{c2}
r = r + {read}
""",
    "generator": """
def g():
    yield 1
    {c1}
    yield 2
{make}
r = x.min()
for i in g():
    if i > n:
        break
    {c2}
r = r + {read}
""",
    "made by a function": """
def h():
    {make}
    if n > 0:
        {c1}
    return t
t = u = h()
{c2}
r = {read}
""",
    "one of two functions": """
{make}
def h():
    {c1}
def g():
    {c2}
(h if n > 0 else g)()
r = {read}
""",
    "no_grad": """
{make}
with paddle.no_grad():
    {c1}
if n > 0:
    with paddle.no_grad():
        {c2}
r = {read}
""",
}

# of one method of two that share a thing: only `{c1}`
SHARED = {
    "nothing": """
{make}
{c1}
r = {read}
""",
    "if": """
{make}
if n > 0:
    {c1}
r = {read}
""",
    "for": """
{make}
for v in x:
    if v > n:
        break
    {c1}
r = {read}
""",
    "try": """
{make}
try:
    if n > 1:
        raise ValueError
    {c1}
    if n > 0:
        raise KeyError
    r = {read}
except (ValueError, KeyError):
    r = {read} * 10
""",
    "function": """
{make}
def h():
    {c1}
    return {read}
r = h() if n > 0 else x.mean()
""",
}

SURROUNDINGS = {**TRIES, **BRANCHES, **LOOPS, **FUNCTIONS}
