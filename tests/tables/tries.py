"""Where the programs of the first table make and change a thing: the kinds of `try` (see `surroundings`)."""

TRIES = {
    "one raise": """
try:
    {make}
    if n > 0:
        {c1}
        raise ValueError
    {c2}
except ValueError:
    r = {read}
else:
    r = {read} * 2
""",
    "behind a raise": """
try:
    if n > 5:
        raise KeyError
    {make}
    if n > 0:
        {c1}
        raise ValueError
    {c2}
except ValueError:
    r = {read}
except KeyError:
    r = x.mean()
else:
    r = {read} * 2
""",
    "made before": """
{make}
try:
    if n > 5:
        raise KeyError
    {c1}
    if n > 0:
        {c2}
        raise ValueError
    {c1}
except ValueError:
    r = {read}
except KeyError:
    r = {read} * 3
else:
    r = {read} * 2
""",
    "two raises": """
try:
    {make}
    if n > 1:
        raise ValueError
    {c1}
    if n > 0:
        raise ValueError
    {c2}
except ValueError:
    r = {read}
else:
    r = {read} * 2
""",
    "finally": """
r = x.mean()
{make}
try:
    try:
        if n > 1:
            raise ValueError
        {c1}
        if n > 0:
            raise KeyError
        {c2}
    finally:
        r = {read}
except (ValueError, KeyError):
    r = r + {read} * 10
""",
    "changed by finally": """
{make}
try:
    try:
        if n > 1:
            raise ValueError
        {c1}
    finally:
        {c2}
    r = {read}
except ValueError:
    r = {read} * 10
""",
    "raised again": """
{make}
try:
    try:
        if n > 1:
            {c1}
            raise ValueError
        {c2}
        if n > 0:
            raise KeyError
    except ValueError:
        {c2}
        raise
    r = {read}
except (ValueError, KeyError) as e:
    r = {read} * 10
""",
    "raised in a loop": """
{make}
try:
    for v in x:
        {c1}
        if v > n:
            {c2}
            raise ValueError
    r = {read}
except ValueError:
    r = {read} * 10
""",
    "made in a loop that raises": """
try:
    for v in x:
        {make}
        if v > n:
            {c1}
            raise ValueError
        {c2}
    r = {read}
except ValueError:
    r = {read} * 10
""",
    "try in a loop": """
{make}
for v in x:
    try:
        {c1}
        if v > n:
            raise ValueError
    except ValueError:
        {c2}
        continue
r = {read}
""",
    "raised by a function": """
def h(t):
    if n > 1:
        raise ValueError
    {c1}
    if n > 0:
        raise KeyError
    return t
{make}
try:
    t = h(t)
    {c2}
    r = {read}
except (ValueError, KeyError):
    r = {read} * 10
""",
    "held by an exception": """
try:
    {make}
    if n > 1:
        raise Carrier(t)
    {c1}
    if n > 0:
        {c2}
        raise Carrier(t)
    r = {read}
except Carrier as e:
    t = e.items
    r = {read} * 10
""",
    "held and changed": """
try:
    if n > 5:
        raise KeyError
    {make}
    if n > 1:
        raise Carrier(t)
    {c1}
    if n > 0:
        raise Carrier(t)
    r = {read}
except Carrier as e:
    {c2}
    r = {read} * 10
    t = e.items
    r = r + {read}
except KeyError:
    r = x.mean()
""",
    "arguments of an exception": """
try:
    {make}
    if n > 1:
        {c1}
        raise ValueError(t, 'a')
    {c2}
    r = {read}
except ValueError as e:
    t = e.args[0]
    {c2}
    r = {read} * 10
""",
    "raised by an index": """
{make}
items = [x.sum(), x.max()]
try:
    r = items[n]
    {c1}
    r = r + items[n + 1]
    {c2}
except IndexError:
    r = {read} * 10
r = r + {read}
""",
    "None before": """
t = None
try:
    if n > 1:
        raise ValueError
    {make}
    {c1}
    if n > 0:
        raise ValueError
    {c2}
    r = {read}
except ValueError:
    r = x.mean() if t is None else {read} * 10
""",
}
