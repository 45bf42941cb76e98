"""The grammar of random programs: templates of expressions and statements, by type.

In a template `<vec>` is an expression of that type, `<vec0>` one without parts, `<a|b>` one of these texts, `<cmp>` a comparison;
`<$vec>` is a variable that there is, `<=vec>` one that is assigned (a new one too), `<@c>` a new name, `<@c:vec>` a new variable of that
type, `<^sca>` one of the function around. A line `<block>` is some statements, `<body>` those of a loop, `<function>` those of a
function that is defined here.

Types: `vec` a float32 vector as long as `x`, `free` one of any length, `mat` float32 rows of 3, `ivec` an int64 vector, `mask` a bool
vector, `sca` and `int` 0-d tensors; `num`, `flt`, `bool` numbers of Python; `kind` a number or 0-d tensor that changes its kind; `optv`,
`optn` a vector or a number, or None; `vecs`, `scas`, `nums` lists; `box` an object; `text` a text; `fn` a function from a vector to one.
"""

from __future__ import annotations

# what an expression without parts can be, besides a variable; programs that are methods have those of `self` too
LEAVES = {
    "vec": ["x", "x"],
    "free": ["x[1:]", "m.astype('float32')"],
    "mat": ["a", "a"],
    "ivec": ["m", "m"],
    "mask": ["(x > 0)"],
    "sca": ["x.sum()", "x[0]", "x[-1]", "a.mean()", "paddle.to_tensor(0.5)"],
    "int": ["n", "n", "m[0]", "m.max()"],
    "num": ["0", "1", "2", "3", "-1", "int(n)", "x.shape[0]", "len(m)", "a.shape[0]"],
    "flt": ["0.5", "1.0", "-0.25", "float(x[0])"],
    "bool": ["True", "False", "bool(n > 1)"],
    "kind": ["1", "0.5", "s0"],
    "optv": ["None", "x"],
    "optn": ["None", "2"],
    "vecs": ["[x]", "[x, x * 2]"],
    "scas": ["[x[0]]", "[]"],
    "nums": ["[1, 2]", "[3]", "list(range(3))"],
    "box": ["Box(x)", "Record(x, 1)"],
    "text": ["'t'", "str(int(n))"],
    "fn": ["Net.twice", "abs"],
    "cond": ["x.sum() > 0", "n > 1"],
}  # fmt: skip

OF_SELF = {
    "sca": ["self.h", "self.total", "self.scale", "self.half", "self.cache['a']"],
    "num": ["self.k", "self.count()", "self.cache['n']", "len(self.items)", "self.count(by=<num>)", "self.push(<sca>)"],
    "flt": ["self.rate"],
    "scas": ["self.items"],
    "mat": [
        "self.fc(<mat>)", "self.norm(<mat>)", "self.table(<ivec> % 6)[:1] + <mat>", "self.run(<mat>, <num>)", "self.drop(<mat>)",
        "self.step(<mat>, <mat>, <mat>)[0]", "self.blocks[<0|1|-1>](<mat>)",
    ],
    "vec": ["(<vec> * self.scale)", "self.conv(<vec>.reshape([1, 1, -1])).reshape([-1])", "self.twice(<vec>)"],
    "cond": ["self.training", "self.h <cmp> <sca0>", "self.last is None", "hasattr(self, '<k|missing>')"],
}  # fmt: skip

ATTRIBUTES = {
    "sca": ["self.h", "self.cache['a']"],
    "num": ["self.k", "self.cache['n']"],
    "flt": ["self.rate"],
}  # fmt: skip

EXPRESSIONS = {
    "vec": [
        "(<vec> <+|-|*> <vec>)", "(<vec> <+|-|*> <vec>)", "(<vec> <+|-|*> <num>)", "(<vec> <+|-|*> <flt>)", "(<num> - <vec>)",
        "(<vec> / <2|(abs(<flt>) + 1)|(<sca> ** 2 + 1)|(<int> * <int> + 1)>)", "<vec>.tanh()", "(<vec> if <cond> else <vec>)",
        "(<vec> * <sca>)", "(<vec> + <int>)", "(<vec> * <mask>)", "paddle.where(<mask>, <vec>, <vec>)",
        "halved(<vec>, <1.0|<sca0>|<flt>>)[0]",
        "scaled(<vec>, <2|<flt>|<sca>>, <shift=1|shift=<sca>|more=<flt>|more=<num>, other=<sca>>)",
        "(lambda v: v * <sca0> if <cond> else v)(<vec>)", "max(<vec>, <vec>, key=lambda v: v.sum())", "concat([<vec>[1:], <vec>[:1]])",
        "<vec>[::-1]", "(<vec> ** 2)", "abs(<vec>)", "F.relu(<vec>)", "F.softmax(<vec>)", "<vec>.cumsum()", "paddle.flip(<vec>, [0])",
        "<vec>.clip(-0.5, <1.0|0.5>)", "paddle.maximum(<vec>, <vec>)", "(<vec> * <kind>)", "(<vec> + <kind>)", "<fn>(<vec>)",
        "paddle.zeros_like(<vec>)", "<vec>.clone()", "<vec>.detach()", "paddle.sort(<vec>)", "(<vec> @ <vec>) * <vec>",
        "stack([<vec>, <vec>]).<sum|mean|max>(0)", "Box(<vec>).add(<sca0>).value", "(Box(<vec>, 1) + <vec0>).value",
        "Box(<flt>)(<vec>)", "(<vec>, <vec>)[<0|1|-1>]", "{'a': <vec>, 'b': <vec>}['<a|b>']", "Pair(<vec>, <sca0>).left",
        "paddle.ones([x.shape[0]]) * <sca>", "<vec>.reshape([-1, 1]).sum(1)", "<vec>.unsqueeze(0).squeeze(0)", "sum([<vec>, <vec>])",
        "functools.partial(scaled, shift=<num0>)(<vec>)", "functools.reduce(lambda p, q: p * q, [<vec>, <vec>])",
        "(lambda: v + <vec0> if (v := <vec>).sum() > 0 else v)()",
    ],
    "free": [
        "<free>[<num0>:]", "<free>[:<num>]", "concat([<free>, <free>])[:5]", "<vec>[<num0>:<num>]", "(<free> * <sca>).tanh()",
        "(<free> if <cond> else <free>)", "concat(<vecs>)[:4]", "<vec>[<mask>]", "<free>[::2]",
        "paddle.arange(<num> % 4).astype('float32')", "concat([<free>, <free>])[-4:]", "stack([*<scas>, <sca0>])[:4]",
        "paddle.zeros([<num> % 3])", "paddle.full([abs(<num>) % 4], <flt>)",
    ],
    "mat": [
        "(<mat> <+|-|*> <mat>)", "(<mat> * <sca>)", "(<mat> if <cond> else <mat>)", "<mat>.tanh()", "(<mat> - <mat>.mean(0))",
        "F.softmax(<mat>)", "(<mat> @ paddle.eye(3))", "<mat>[::-1]", "(<mat> + <mat>[<0|-1>])",
        "(<mat> * <mat>.sum(1, keepdim=True))", "paddle.where(<mat> > 0, <mat>, <mat>)", "(<mat> @ <mat>.t() @ <mat>).tanh()",
        "F.normalize(<mat>)", "(<mat> * <flt>)", "stack([row * <sca0> for row in <mat0>])",
    ],
    "ivec": [
        "(<ivec> + <num>)", "(<ivec> % <3|-4|5>)", "(<ivec> // <2|-3>)", "(<ivec> if <cond> else <ivec>)", "(<ivec> * <int>)",
        "(<ivec> & <3|<num0>>)", "paddle.maximum(<ivec>, <ivec>)", "<ivec>[::-1]", "(<ivec> > 1).astype('int64')", "(-<ivec>)",
    ],
    "mask": [
        "(<vec> <cmp> <vec>)", "(<vec> <cmp> <sca>)", "(<mask> & <mask>)", "(<mask> | <mask>)", "(~<mask>)", "(<vec> <cmp> <num>)",
    ],
    "sca": [
        "<vec>.<sum|mean|max|min>()", "<vec>.<sum|mean>()", "<$vec>[<index>]", "(<sca> <+|-|*> <sca>)", "(<sca> <+|-|*> <num>)",
        "(<sca> <+|-|*> <flt>)", "(<sca> if <cond> else <sca>)", "<max|min>(<sca>, <sca>)", "<max|min>(<vec>)", "sum(<vec>)",
        "(<sca> or <sca>)", "(<sca> and <sca>)", "(<sca> // <2|0.5|-3>)", "(<sca> % <2|0.5|-3>)",
        "first_above(<vec>, <0|<flt>|<sca0>>, <sca0>)[0]", "sum([p * q for p, q in zip((<sca>, <sca>), (<num0>, 2.0))])",
        "<mat>.<sum|mean|max>()", "<mat>[<0|-1>].mean()", "<sca>.tanh()", "abs(<sca>)", "(<sca> * <kind>)", "(-<sca>)",
        "(<int> * <flt>)", "paddle.norm(<vec>)", "<free>.sum()", "(<optv> if <$optv> is not None else <vec>).mean()",
        "(<vec> @ <vec>)", "F.mse_loss(<vec>, <vec>)", "<vec>.std()", "checked(<sca>, <0.5|2>)", "(math.pi * <sca>)",
        "[v for v in <vec0>][<-1|0>]", "next(iter(<vec0>))", "<scas>[<-1|0>]", "paddle.to_tensor(<flt>)",
        "paddle.to_tensor([<num>, <num>]).sum().astype('float32')", "(<sca> ** 2)", "(<num> ** <sca>)", "<vec>[<int> % len(x)]",
        "<int>.astype('float32')", "(len(<free>) * <sca>)", "Pair(<sca>, <sca>).right", "paddle.log(<sca> ** 2 + 1)",
        "paddle.sqrt(abs(<sca>))",
    ],
    "int": [
        "((<int> <+|-|*> <1|2|<num>|<int>>) % <5|-4|7>)", "(<int> // <2|-2|3>)", "(<int> if <cond> else <int>)",
        "(<int> <&|^> <3|<num>|<int>>)", "(<int> | 1)", "(-<int>)", "(<ivec>.sum() % 7)", "<ivec>[<index of m>]", "<mask>.sum()",
        "max(<int>, <int>)", "<vec>.argmax()", "paddle.to_tensor(<num>)", "abs(<int>)", "(<int> or <int>)",
        "paddle.count_nonzero(<vec>)", "(sum(<ivec>) % 9)", "<ivec>.max()",
    ],
    "num": [
        "int(<int>)", "int(<sca>.tanh() * 3)", "((<num> <+|-|*> <num>) % <5|7|-6>)", "(<num> // <2|-3>)",
        "(<num> if <cond> else <num>)", "abs(<num>)", "<max|min>(<num>, <num>)", "round(<flt> % 8)", "math.<floor|ceil>(<flt> % 9)",
        "((<num> <&|^> <num>) % 8)", "len(<vec>)", "(<num> <and|or> <num>)", "divmod(<num>, <3|-4>)[<0|1>]",
        "first_above(<vec>, 0.5)[1]", "halved(<vec>, <0.5|<flt>>)[1]", "<int>.item()", "(sum([<num>, <num>]) % 6)",
        "(bool(<sca0> > 0) * <num>)", "len(<vecs>)", "len(<scas>)", "(<optn> if <$optn> is not None else <num>)", "<free>.shape[0]",
        "len(<free>)", "<nums>[<0|-1>]", "(sum(<nums>) % 7)", "sum(evens(<1|3|4>))", "(<num> % <num>)", "int(<bool>)",
        "len([v for v in <vec0> if v > <flt>])", "<free>.size", "<mat>.ndim", "(found(<vec>, 0) or <num>)", "(-<num>)", "(~<num>)",
        "(any(<mask>) + <num>)", "int('<1|2>') + <num>", "(lambda p, q=<num0>: p - q)(<num>)", "max(<nums>, default=<num0>)",
        "sorted([<num>, <num>])[0]", "dict(p=<num>)['p']", "((<num> << 1) % 16)", "(<num> // <num>)",
    ],
    "flt": [
        "float(<sca>.tanh())", "<sca>.tanh().item()", "math.<tanh|sin|atan>(<flt>)", "((<flt> * <flt>) % <2|1.5|-3>)",
        "(<num> / <2|3.0|(<num> ** 2 + 1)>)", "((<flt> + <num>) / 4)", "(<flt> if <cond> else <flt>)", "round(<flt>, 2)",
        "<max|min>(<flt>, <flt>)", "abs(<flt>)", "(<flt> // <0.5|-2>)", "math.sqrt(abs(<flt>))", "(<flt> or <flt>)", "float(<num>)",
        "(-<flt>)", "(<flt> / <num>)", "float(<int>)", "math.exp(-abs(<flt>))", "sum([<flt>, <flt>])", "(<flt> % <flt>)",
    ],
    "bool": [
        "bool(<cond>)", "not <bool>", "(<bool> <and|or> <bool>)", "isinstance(<$kind>, float)", "<num> in <nums>",
        "(<num> <cmp> <num>)", "all(<mask>)", "any([<cond>, <cond>])",
    ],
    "kind": [
        "max(<sca>, <sca>, <flt>)", "sum([v * v for v in <vec0> if v > <sca0>])", "sum(collected(<vec>, <0|<sca0>>))",
        "sum(v.mean() for v in <vecs>)", "(<kind> * <0.5|2>)", "(<kind> + 1)", "<sca0>", "(-<kind>)", "(<kind> if <cond> else <kind>)",
        "<num>", "<flt>",
    ],
    "optv": ["None", "<vec>", "(<vec> if <cond> else None)", "<optv>"],
    "optn": ["None", "<num>", "(<num> if <cond> else None)", "found(<vec>, <0|0.5|<sca0>>)"],
    "vecs": [
        "[<vec>, <vec>]", "[<vec>]", "(<vecs> + [<vec>])[:3]", "[v * <sca0> for v in <vecs>]", "(<vecs> if <cond> else <vecs>)",
        "<vecs>[:<1|2|-1>]", "<vecs>[::-1]", "list(<vecs>)", "[<vec> for _ in range(<num> % 3)]",
        "[v for v in <vecs> if v.sum() > <sca0>]", "list(map(<fn>, <vecs>))", "[*<vecs>, <vec>][:3]",
    ],
    "scas": [
        "[<sca>, <sca>]", "collected(<vec>, <0|<sca0>|<flt>>)", "[v * v for v in <vec>]", "[v for v in <vec> if v > <sca0>]",
        "<scas>[1:]", "(<scas> + [<sca>])[-3:]", "list(<vec>)", "list(reversed(<scas>))", "[p + q for p, q in zip(<vec>, <scas>)]",
    ],
    "nums": [
        "[<num>, <num>]", "[<num> for _ in range(<2|<num> % 4>)]", "(<nums> + [<num>])[-4:]", "[p * 2 % 7 for p in <nums>]",
        "<nums>[1:]", "[p for p in <nums> if p <cmp> <num0>]", "list(range(<num> % 4))",
        "[i for i, v in enumerate(<vec>) if v > <flt>]", "[int(v) for v in <ivec>]", "sorted([<num>, <num>, 1])",
        "[p for p, q in zip(<nums>, <vec>) if q > 0]",
    ],
    "box": ["Box(<vec>)", "Box(<vec>, <num>)", "Record(<vec>, <num>)"],
    "text": [
        'f"{<num>}|{<flt>:.3f}"', "str(<num>)", "'%d %5.2f' % (<num>, <flt>)", 'f"{<sca>.item():8.2f}"', "', '.join([<text>, <text>])",
        'f"{<bool>!r:>6}"', "<text> + <text>", "'{} {p}'.format(<num>, p=<flt0>)", 'f"{len(<vecs>)}"',
    ],
    "fn": [
        "(lambda v: v * <sca0>)", "(lambda v: v.tanh() if <cond> else v)", "functools.partial(scaled, shift=<num>)",
        "(<fn> if <bool0> else <fn>)", "F.relu",
    ],
}  # fmt: skip

CONDITIONS = [
    "<sca> <cmp> <0|0.5|<flt>|<sca>>", "<sca> <cmp> <0|0.5|<flt>|<sca>>", "<int> <cmp> <1|<num>|n>", "<num> <cmp> <1|<num>|n>",
    "<flt> <cmp> <0|<flt>|<sca0>>", "<bool0>", "<int>", "<num>", "n > 1", "<mask>.<all|any>()", "any(<mask>)",
    "<$optv> is <None|not None>", "<$optn> is <None|not None>", "isinstance(<$kind>, <int|float>)", "<num> <in|not in> (1, <num>, 3)",
    "<$kind> > 1", "x.shape[0] > 1", "len(<vecs>) > <1|<num0>>", "len(<scas>)", "<num> == <num>", "not <cond>",
    "(<cond> <and|or> <cond>)", "(<-1|<num>> <cmp> <sca> <cmp> <1|<sca0>>)", "(0 <= <num> <cmp> <3|n>)",
    "(<cond> if <cond> else <cond>)", "<sca> and <sca>", "<optn>", "<nums>", "<$optn> == <num>", "found(<vec>, <sca0>) is None",
    "callable(<fn>)",
]  # fmt: skip

# by feature; a program uses some of them
STATEMENTS = {
    "plain": [
        "<=vec> = (<vec>).tanh()", "<=vec> = (<vec>).tanh()", "<=sca> = (<sca>).tanh()", "<=sca> = (<sca>).tanh()",
        "<=int> = (<int>) % 6", "<=num> = (<num>) % 7", "<=flt> = (<flt>) % 3.0", "<=bool> = <bool>", "<=mat> = (<mat>).tanh()",
        "<=free> = <free>", "<=ivec> = (<ivec>) % 5",
    ],
    "assignments": [
        "<$vec> <+=|-=|*=> <vec>.tanh()", "<$num> = (<$num> + 1) % 6", "<=vec>, <=sca> = <vec>.tanh(), <sca0>",
        "(<=sca>, *_), <=vec> = (<sca0>, <num>, <sca0>), <vec>.tanh()", "<$sca> = <$sca> + (y := <sca>.tanh()) * y",
        "<=vec> = <=vec> = <vec>.tanh()", "<=sca>, <=num> = first_above(<vec>, <flt>, <sca0>)", "<=mask> = <mask>",
        "<$sca> += <sca>.tanh()", "<=kind> = <kind>", "<=num>, <=num> = divmod(<num>, <3|-2>)", "<$flt> = <$flt> * 0.5",
        "[<=num>, <=flt>] = [<num> % 5, <flt> % 2]", "del <$num>",
    ],
    "branches": [
        "if <cond>:\n    <block>", "if <cond>:\n    <block>", "if <cond>:\n    <block>\nelse:\n    <block>",
        "if <cond>:\n    <block>\nelif <cond>:\n    <block>\nelse:\n    <block>", "<=kind> = <kind>\nif <cond>:\n    <$kind> = <kind>",
        "if <cond>:\n    <=vec> = <vec>.tanh()\nelse:\n    <block>",
    ],
    "while": [
        "<@c> = <0|<num0> * 0|<int0> * 0>\nwhile <@c> < 3 and (<cond>):\n    <@c> = <@c> + 1\n    <body>",
        "<@c> = <0|n * 0>\nwhile (<@c> := <@c> + 1) < 4 and (<cond>):\n    <body>",
        "<@c> = 3\nwhile <@c>:\n    <@c> = <@c> - 1\n    <body>",
        "<@c> = 0\nwhile True:\n    <@c> = <@c> + 1\n    if <@c> > 3 or <cond>:\n        break\n    <body>",
        "<@c> = n\nwhile <@c> > 0:\n    <@c> -= 1\n    <body>\nelse:\n    <block>",
    ],
    "for": [
        "for <@c:int> in range(<n|n + 1>):\n    <body>", "for <@c:num> in range(<2|<num> % 4|len(x)|x.shape[0]>):\n    <body>",
        "for <@c:num> in range(<int(n)|3|<num>>, <-1|0|1>, -1):\n    <body>",
        "for <@c:int> in range(0, <n|4|<num>>, <2|<int0> % 2 + 1>):\n    <body>", "for <@c:sca> in <vec>:\n    <body>",
        "for <@c:sca> in reversed(<vec0>):\n    <body>", "for <@c:num>, <@d:sca> in enumerate(<vec>):\n    <body>",
        "for <@c:sca>, <@d:int> in zip(<vec>, <ivec>):\n    <body>", "for <@c:vec> in (<vec>, <vec0>):\n    <body>",
        "for <@c:vec> in <vecs>:\n    <body>", "for <@c:num> in (1, <num>):\n    <body>", "for <@c:int> in <ivec>:\n    <body>",
        "for <@c:num> in <nums>:\n    <body>", "for <@c:sca> in <scas>:\n    <body>",
        "for <@c:num>, (<@d:vec>, <@e:sca>) in enumerate([(<vec>, <sca0>), (<vec0>, <sca>)], <0|2>):\n    <body>",
        "for _ in range(n):\n    <body>", "for <@c:sca> in <vec>:\n    <body>\nelse:\n    <block>",
        "for <@c:num> in evens(4):\n    <body>", "for <@c:num>, <@d:num> in {1: <num>, 2: <num>}.items():\n    <body>",
        "for <@r> in <mat>:\n    <=sca> = <@r>.<sum|max>().tanh()\n    <body>",
        "for <@c:num>, <@d:num> in zip(range(5), <nums>):\n    <body>",
    ],
    "lists": [
        "<=vecs> = <vecs>\n<$vecs>.append(<vec>)", "<$vecs>.append(<vec>)", "<$scas>.append(<sca>)", "<$nums>.append(<num>)",
        "<=scas> = <scas>", "<=nums> = <nums>", "<=vec> = <$vecs>.pop().tanh()", "<=sca> = <$scas>.pop(<0|-1|>)",
        "<$vecs>[<0|-1>] = <vec>", "<$vecs>.insert(<0|1|-1|<num0>>, <vec>)", "<$nums>[<num>] = <num>", "<$nums>[<0|-1>] += 1",
        "<$scas>.extend([<sca>, <sca0>])", "del <$scas>[<0|-1|1:>]", "<$nums>[1:] = [<num>]", "<$vecs> += [<vec>]",
        "if len(<$vecs>) > 1:\n    <=vec> = (<$vecs>[-1] * <$vecs>[0]).tanh()", "<$scas>.clear()",
        "if <cond>:\n    <$vecs>.append(<vec>)", "if <cond>:\n    <$scas>.append(<sca>)",
        "for <@c:sca> in <vec>:\n    if <@c> > <sca0>:\n        <$scas>.append(<@c> * <sca0>)",
        "while len(<$scas>) > <1|2>:\n    <=sca> = (<$scas>.pop() * <sca0>).tanh()", "<=scas> = <$scas>", "<=vecs> = <vecs>",
    ],
    "in place": [
        "<=vec> = <vec> * 1\n<$vec>[<index>] = <sca>.tanh()", "<=vec> = <vec> + 0\n<$vec>[<index>] = <0.5|<flt>|<num>>",
        "<$vec>[<1:|:1|::2|:<num0>>] <*=|=> 0.5", "<$vec>.scale_(0.5)", "<$vec>.add_(<sca0>)", "<$ivec>[<index of m>] = <num>",
        "<$vec>[<mask>] = <0.0|<flt>>", "<=vec> = <vec> * 1\n<$vec>[1:] += <sca0>", "<$mat>[<0|-1>] = <mat>[0] * <sca0>",
        "<$sca>.add_(<sca0>)", "<=vec> = <$vec>", "<=free> = <vec>[<num0>:]", "<$vec>[<index>] += <sca>", "<$vec>.clip_(-0.5, 0.5)",
        "<=mat> = <mat> * 1\n<$mat>[:, <0|1>] = <0.0|<sca0>>", "<$vec>.set_value(<vec>)",
    ],
    "optional": [
        "<=optv> = <optv>", "<=optn> = <optn>", "<=optn> = None\nif <cond>:\n    <$optn> = <num>",
        "<=optv> = None\nif <cond>:\n    <$optv> = <vec>",
        "if <$optv> is None:\n    <$optv> = <vec>\nelse:\n    <$optv> = (<$optv> * <sca0>).tanh()",
        "<$optn> = 1 if <$optn> is None else <$optn> + 1", "<=vec> = (<$optv> * 2 if <$optv> is not None else <vec>).tanh()",
        "<=num> = <$optn> or <num>", "<=vec> = <$optv> if <$optv> is not None else <vec>",
    ],
    "functions": [
        "def <@f:fn>(v, by=<num0>):\n    <function>\n    return v * by + <vec0>",
        "def <@f:fn>(v):\n    if <cond>:\n        return <vec>.tanh()\n    <function>\n    return v * <sca0>",
        "def <@f:fn>(v):\n    nonlocal <^sca>\n    <^sca> = (<^sca> + v.sum()).tanh()\n    return v * <^sca>",
        "def <@f:fn>(v):\n    nonlocal <^num>\n    if <cond>:\n        <^num> = (<^num> + 1) % 5\n    return v * <^num>",
        "def <@f:fn>(v):\n    for w in v:\n        if w > <sca0>:\n            return v * w\n    return v.tanh()",
        "<=vec> = <fn>(<vec>).tanh()", "<=vec> = <$fn>(<vec>).tanh()", "<=fn> = <fn>",
        "def <@f:fn>(v):\n    <$vecs>.append(v)\n    return v + len(<$vecs>)",
    ],
    "objects": [
        "<=box> = <box>", "<$box>.value = <vec>.tanh()", "<$box>.count += 1", "<$box>.count = <num> % 5",
        "<=vec> = <$box>.value.tanh()", "<=num> = <$box>.count", "if <cond>:\n    <$box>.value = <vec>.tanh()",
        "<$box>.value = <$box>.value * <sca0>", "setattr(<$box>, 'count', <num>)",
        "for <@c> in range(n):\n    <$box>.count = (<$box>.count + <@c>) % 5", "<=box> = Box(<vec>).add(<sca0>)",
    ],
    "dicts": [
        "<@d> = {'a': <vec>, 'n': <num>}\nif <cond>:\n    <@d>['a'] = <vec>\n<=vec> = <@d>['a'].tanh()",
        "<@d> = {'s': <sca>}\nfor <@k> in range(n):\n    <@d>['s'] = (<@d>['s'] * <sca0> + <@k>).tanh()\n<=sca> = <@d>['s']",
        "<@d> = dict(p=<sca>, q=<sca>)\n<=sca> = sum(<@d>.values()).tanh()",
        "<@d> = {}\nfor <@k>, <@v> in zip('ab', (<sca>, <sca>)):\n    <@d>[<@k>] = <@v>\n<=sca> = <@d>.get('<a|c>', <sca0>)",
        "<@d> = {'n': <num>}\nwhile <@d>['n'] > 0 and <cond>:\n    <@d>['n'] -= 2\n<=num> = <@d>['n'] % 5",
        "<@d> = {'a': <vec>} | {'b': <vec0>}\n<=vec> = <@d>.pop('<a|b>').tanh()",
    ],
    "match": [
        "match <num>:\n    case 0:\n        <block>\n    case 1 | 2:\n        <block>\n    case _:\n        <block>",
        "match (<sca0>, <num>):\n    case (p, 1) if p > <sca0>:\n        <block>\n    case (p, q):\n        <=sca> = (p * q).tanh()",
        "match <nums>:\n    case [p, *_] if p > 1:\n        <=num> = p\n    case []:\n        <block>\n    case _:\n        <block>",
        "match <$optn>:\n    case None:\n        <block>\n    case p:\n        <=num> = p % 5",
        "match <int>:\n    case 1:\n        <block>\n    case p if p > <num>:\n        <block>",
    ],
    "output": ["print(<text>)", "print(<num>, <flt>, <bool>, sep='|')", "print(<num>, <n|x.shape[0]|m>, end=';')", "print(<$optn>)"],
    "modes": [
        "with paddle.no_grad():\n    <block>", "<=vec> = <vec>.detach() * <sca0>",
        "with paddle.no_grad():\n    <=sca> = (<sca> + <sca0>).tanh()", "try:\n    <block>\nfinally:\n    <block>",
        "with contextlib.nullcontext(<num>) as <@c:num>:\n    <block>",
    ],
    "caught": [
        "try:\n    <block>\nexcept (ValueError, IndexError):\n    <block>",
        "try:\n    <=num> = int('<3|x>')\nexcept ValueError as error:\n    <=num> = len(str(error))\nelse:\n    <block>",
        "try:\n    <=num> = [1, 2][<0|4>]\nexcept IndexError:\n    <block>",
        "try:\n    if <bool0>:\n        raise KeyError('k')\n    <block>\nexcept KeyError:\n    <block>",
        "try:\n    <=num> = <num> // <num>\nexcept ZeroDivisionError:\n    <block>",
    ],
}  # fmt: skip

# in programs that may raise
RAISING = [
    'assert <cond>, f"no: {<num>} {<sca0>.item():.2f}"', "assert <cond>",
    'if <cond>:\n    raise ValueError(f"no: {<num0>} {<sca0>.item():.1f}")', "if <cond>:\n    raise IndexError('none')",
    "<=sca> = checked(<sca>, <0.5|<flt0>>)", "<=num> = <num> // <num>", "<=sca> = <$vec>[<num>]", "<=vec> = <$vecs>[<num>].tanh()",
    "if <cond>:\n    raise KeyError('k')", "<=vec> = <vec> + <free>", "<=vec> = <$optv>.tanh()", "<=num> = (<$optn> + 1) % 5",
    "<=num> = <nums>[<num>] % 7", "<=flt> = <flt> / <flt>", "<=flt> = math.sqrt(<flt>)", "<=int> = <int> // <int>",
]  # fmt: skip

METHODS = [
    "self.h = (<sca>).tanh()", "self.k = (self.k + <num>) % 5", "self.update(<sca>)", "self.items.append(<sca>)", "self.push(<sca>)",
    "self.count(<num>)", "self.last = <sca>.tanh()", "self.total.add_(<sca0>.detach())",
    "self.cache['a'] = (self.cache['a'] * <sca0>).tanh()", "self.cache['n'] = <num> % 5", "<=mat> = self.fc(<mat>)",
    "<=mat> = self.norm(<mat>)", "<=mat> = self.run(<mat>, <num>).tanh()", "<=mat>, <=mat> = self.step(<mat>, <mat>, <mat0>)",
    "for <@b> in self.blocks:\n    <=mat> = <@b>(<mat>)\n    if <cond>:\n        break",
    "if self.last is not None:\n    <=sca> = self.last * <sca0>", "self.total.set_value(<sca0>)", "self.last = None",
    "with paddle.no_grad():\n    self.h = (self.h + <sca0>).tanh()", "if len(self.items) > 1:\n    <=sca> = self.items.pop(<0|>)",
    "self.rate = <flt> % 1.0", "<=mat> = self.drop(<mat>)", "self.total = self.total * 0.5", "if <cond>:\n    self.k += 1",
    "self.items = self.items[-2:]",
]  # fmt: skip

LEAVING = ["break", "continue", "break", "continue"]
