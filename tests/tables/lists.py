"""Two lists that paths change and hand to each other: the programs of the fourth table.

`L` and `G` are the lists, `V` a new entry.
"""

# what the entries are, from what a list has on: an expression with a number of its own for `#`
ENTRIES = {
    "tensor": "x.sum() * #",
    "tuple": "(x.sum() * #, #)",
    "text": "'t#'",
    "object": "Box(x.sum() * #)",
}

STEPS = [
    "L.append(V)",
    "G.append(V)",
    "G = L",
    "L = G",
    "G = [V]",
    "G = L; L.append(V)",
    "L.append(V); G = L",
    "G = list(L)",
    "L.pop()",
    "L[0] = V",
    "L = L + [V]",
    "L, G = G, L",
    "L.extend(G[:2])",
    "G = L; L = [V]",
]

PATHS = {
    "if": """
if n > 0:
    {one}
else:
    {two}
""",
    "behind if": """
if n > 0:
    {one}
{two}
""",
    "while": """
k = n * 1
while k > 0:
    {one}
    k = k - 1
{two}
""",
    "in turn": """
k = n * 1
while k > 0:
    if k > 2:
        {one}
    else:
        {two}
    k = k - 1
""",
    "for": """
for v in x:
    {one}
    if v > n:
        break
else:
    {two}
""",
    "try": """
try:
    {one}
    if n > 0:
        raise KeyError
except KeyError:
    {two}
""",
    "function": """
def f():
    {one}
if n > 0:
    f()
else:
    {two}
    f()
""",
}

AFTER = ["", "L.append(V)"]
