"""What is around a program: objects of the outside, its own object if it is a method, and functions beside it."""

from __future__ import annotations

# objects of the outside: globals, variables of a function around, arguments that the caller holds
OUTSIDE = {
    "scas": "[paddle.to_tensor(0.5), paddle.to_tensor(-1.0)]",
    "nums": "[1, 2]",
    "table": "{'a': paddle.to_tensor(0.5), 'b': paddle.to_tensor(-0.25)}",
    "groups": "{'a': [paddle.to_tensor(1.5)], 'b': []}",
    "rows": "[[paddle.to_tensor(0.75)], [paddle.to_tensor(-0.5), paddle.to_tensor(0.25)]]",
    "holder": "Record(paddle.to_tensor(0.5), 1)",
    "holders": "[Record(paddle.to_tensor(0.5)), Record(paddle.to_tensor(-2.0), 2)]",
    "tables": "[{'a': paddle.to_tensor(0.5), 'b': paddle.to_tensor(1.0)}]",
    "vecs": "[]",
    "box": "Record(None)",
    "optv": "None",
    "sca": "paddle.to_tensor(0.5)",
    "int": "paddle.to_tensor(2)",
    "num": "2",
    "flt": "0.5",
    "kind": "1",
    "optn": "None",
    "opts": "None",
}

# vectors are of another size in each call: a program begins by
STARTS = {"vecs": "{}[:] = [<vec0>, <vec0> * 2]", "box": "{}.value = <vec0>", "optv": "{} = None"}

# parameters of functions beside the program, with default values
PARAMETERS = {
    "num": "1", "flt": "0.5", "optn": "None", "optv": "None", "opts": "None", "sca": "", "vec": "", "scas": "", "vecs": "", "table": "",
    "groups": "", "rows": "", "holder": "", "box": "", "kind": "", "fn": "", "bool": "False",
}  # fmt: skip

OF_SELF = {
    "sca": [
        "self.total", "self.scale", "self.half", "self.gains[<0|1|-1>]", "self.gains[<num0> % 2]", "self.params['<p|q|free>']",
        "self.gains[<int0> % 2]", "sum(self.params.values())", "sum(g * <sca0> for g in self.gains)",
    ],
    "int": ["self.steps", "self.counters[0]"],
    "num": ["self.count()", "len(self.items)", "self.count(by=<num>)", "self.push(<sca>)"],
    "mat": [
        "self.fc(<mat>)", "self.norm(<mat>)", "self.words(<ivec> % 6)[:1] + <mat>", "self.run(<mat>, <num>)", "self.drop(<mat>)",
        "self.step(<mat>, <mat>, <mat>)[0]", "self.blocks[<0|1|-1>](<mat>)", "self.heads['<p|q>'](<mat>)", "self.blocks[<num> % 2](<mat>)",
        "self.heads['p' if <cond> else 'q'](<mat>)",
    ],
    "vec": ["(<vec> * self.scale)", "self.conv(<vec>.reshape([1, 1, -1])).reshape([-1])", "self.twice(<vec>)"],
    "cond": ["self.training", "self.h <cmp> <sca0>", "self.last is None", "hasattr(self, '<k|missing>')", "self.steps > <num0>"],
}  # fmt: skip

# the attributes that a program may assign and change
ATTRIBUTES = {
    "sca": ["self.h", "self.cache['a']"],
    "num": ["self.k", "self.cache['n']"],
    "flt": ["self.rate"],
    "opts": ["self.last", "self.best"],
    "scas": ["self.items"],
    "vecs": ["self.seen"],
    "table": ["self.table"],
    "groups": ["self.groups"],
    "rows": ["self.rows"],
    "holder": ["self.holder"],
    "holders": ["self.holders"],
}

METHODS = [
    "self.h = (<sca>).tanh()", "self.k = (self.k + <num>) % 5", "self.update(<sca>)", "self.items.append(<sca>)", "self.push(<sca>)",
    "self.count(<num>)", "self.last = <sca>.tanh()", "self.total.add_(<sca0>.detach())",
    "self.cache['a'] = (self.cache['a'] * <sca0>).tanh()", "self.cache['n'] = <num> % 5", "<=mat> = self.fc(<mat>)",
    "<=mat> = self.norm(<mat>)", "<=mat> = self.run(<mat>, <num>).tanh()", "<=mat>, <=mat> = self.step(<mat>, <mat>, <mat0>)",
    "for <@b> in self.blocks:\n    <=mat> = <@b>(<mat>)\n    if <cond>:\n        break",
    "if self.last is not None:\n    <=sca> = self.last * <sca0>", "self.total.set_value(<sca0>)", "self.last = None",
    "with paddle.no_grad():\n    self.h = (self.h + <sca0>).tanh()", "if len(self.items) > 1:\n    <=sca> = self.items.pop(<0|>)",
    "self.rate = <flt> % 1.0", "<=mat> = self.drop(<mat>)", "self.total = self.total * 0.5", "if <cond>:\n    self.k += 1",
    "self.items = self.items[-2:]", "self.steps.add_(1)", "if <cond>:\n    self.steps.add_(<1|self.k>)", "self.steps[:] = <int> % 5",
    "if <cond>:\n    self.total = self.total * <0.5|self.half>\nelse:\n    self.total.add_(<sca0>.detach())",
    "for <@c> in range(<n|2>):\n    self.total = (self.total + <@c>) * 0.5", "for <@b> in self.counters:\n    <@b>.add_(1)",
    "for <@k>, <@b> in self.heads.items():\n    <=mat> = <@b>(<mat>).tanh()", "if <cond>:\n    self.best = <sca>",
    "if self.best is None or <sca0> > self.best:\n    self.best = <sca0>\n    <block>", "self.seen = [*self.seen, <vec>][-2:]",
    "for <@p:sca> in self.gains:\n    <body>", "self.items = []", "if <cond>:\n    self.holder = self.holders[<0|-1>]",
    "self.holder, self.holders[0] = self.holders[0], self.holder", "self.counters[0].add_(<1|<num0>>)", "self.groups['<a|b>'] = self.items",
    "for <@b> in self.blocks:\n    if <cond>:\n        continue\n    <=mat> = <@b>(<mat>)", "self.last = self.best",
]  # fmt: skip
