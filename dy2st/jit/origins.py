"""Which object a value is that branches, loops and lists hand on: computed in the run, beside the value.

A branch gives a variable one of two tensors that there are, a loop one of many. Eager mode has that object itself; of a Program only its
value comes out. Where the difference can be seen the Program also yields the number of the object: a branch that yields the value yields
the number of what that is on its side, and so on up to the ops that make new values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from dy2st_runtime.ir import Block, IRBuilder, Operator, Program, Variable
from dy2st_runtime.ir.program import Function
from dy2st_runtime.ir.visit import called
from dy2st_runtime.ops.registry import TensorType

OWN = -1
"""The number of what is no object that could be anywhere else."""
IN_LOOP = 1 << 16
"""Values that a loop makes have a number for each iteration: this many, counted from 1, are added for each."""
_DEPTH = 3  # of loops in each other that count

# by op: the inputs whose objects, or entries, it hands on
_LISTS = {
    "array_append": ("Array", "X"), "array_insert": ("Array", "X"), "array_set": ("Array", "X"), "array_extend": ("Array", "Other"),
    "array_take": ("X",), "array_pop": ("Array",), "array_remove": ("Array",), "read_from_array": ("X",),
}  # fmt: skip
_CONSTANTS = ("assign_value", "fill_constant")
# a list in a list is a tensor of its entries
_STACK, _UNSTACK = "tensor_array_to_tensor", "tensor_to_array"
# what makes the indices of `xs * n`: the other ones name each entry once
_AROUND = "elementwise_mod"


class Origins:
    """The objects of one Program.

    Args:
        same: the name for which a variable stands that is another one of the same object.

    Attributes:
        numbers: those of the objects that are to be told apart, by the names of their variables; all others are `OWN`.
    """

    def __init__(self, program: Program, same: dict[str, str]):
        self.numbers: dict[str, int] = {}
        self._same = same
        self._makers: dict[str, Operator] = {}
        self._homes: dict[str, Block] = {}
        self._loops: dict[Block, Operator] = {}
        # those that run: what was traced in vain may call others as they were then
        functions = called(program.global_block().ops)
        self._functions = {f.block: f for f in functions}
        # the calls of each function, with the blocks in which these are
        self._calls: dict[Function, list[tuple[Operator, Block]]] = {f: [] for f in functions}
        self._makes: dict[Function, list[bool]] = {}
        self._beside: dict[str, Variable] = {}
        self._counts: dict[Block, Variable] = {}
        self._global = program.global_block()
        for root in (self._global, *self._functions):
            self._look(root)

    def _look(self, block: Block) -> None:
        for op in block.ops:
            self._makers.update(dict.fromkeys(op.output_names, op))
            self._homes.update(dict.fromkeys(op.output_names, block))
            if op.function is not None:
                self._calls[op.function].append((op, block))
            for inner in op.blocks:
                if op.type == "while_loop":
                    self._loops[inner] = op
                self._look(inner)

    def sources(self, v: Variable) -> list[str] | None:
        """The names of all that a value may be, or a list may hold; None if that is not known."""
        found: dict[str, None] = {}
        for v, parts in self._leading_to(v, lambda v, parts: parts):
            if parts is None:
                return None
            if not parts and v.kind == "dense" and self._maker(v) != "absent":
                found[self._same.get(v.name, v.name)] = None
        return list(found)

    def _is_created_by(self, function: Function, i: int) -> bool:
        """Whether a result of a function is a tensor that it has made, and none of its other results: in each call one of its own."""
        if function not in self._makes:
            inside = function.block
            # as long as that is not known, what calls give is followed into the function
            self._makes[function] = [False] * len(inside.results)
            found = [self.sources(inside.var(name)) for name in inside.results]
            times = Counter(name for names in found for name in set(names or ()))
            of_all = None not in found
            self._makes[function] = [
                of_all and bool(names) and all(times[n] == 1 and self._function_of(self._homes.get(n)) is function for n in names or ())
                for names in found
            ]  # fmt: skip
        return self._makes[function][i]

    def _leading_to(self, v: Variable, follow: Callable[[Variable, list[Variable]], list[Variable]],
                    ) -> Iterator[tuple[Variable, list[Variable] | None]]:  # fmt: skip
        """A value and all that it comes from, each once with its `_parts`, of which those are followed that `follow` says."""
        seen = set()
        left = [v]
        while left:
            v = left.pop()
            if v.name not in seen:
                seen.add(v.name)
                parts = self._parts(v)
                yield v, parts
                left += follow(v, parts or [])

    def repeated(self, v: Variable, within: frozenset[str] = frozenset()) -> set[str]:
        """Those of the sources of a list that it may hold more than once; `within` are the lists that are asked already: in a loop a list
        is made of itself."""
        within |= {v.name}
        found: Counter[str] = Counter()

        def changes(v: Variable) -> bool:
            op = self._makers.get(v.name)
            return op is not None and op.type in _LISTS and v.name not in v.block.params

        # of what is made of several lists the first is the one that is changed
        for v, parts in self._leading_to(v, lambda v, parts: parts[:1] if changes(v) else parts):
            if not parts or not changes(v):
                continue
            op = self._makers[v.name]
            if op.type == "array_take" and self._maker(v.block.var(op.input("Index")[0])) == _AROUND:
                found.update(2 * (self.sources(parts[0]) or []))
            for part in parts[1:]:
                if part.kind == "array" and part.name not in within:
                    found.update(2 * list(self.repeated(part, within)))
                for name, again in self._put_by(v.block, part).items():
                    found[name] += 1 + again
                    found[name] += part.kind == "array" and name in (self.sources(parts[0]) or ())
        return {name for name, count in found.items() if count > 1}

    def _put_by(self, block: Block, v: Variable) -> dict[str, bool]:
        """The sources of a value that a block puts into a list, and whether it may be the one that an earlier run of the block, by an
        iteration or by recursion, has put there: it is made outside, or a loop keeps it, or a call hands it on."""
        found: dict[str, bool] = {}
        bodies, function = self._bodies_around(block), self._function_of(block)
        recursive = function is not None
        seen: set[tuple[str, bool]] = set()
        left = [(v, False)]
        while left:
            v, again = left.pop()
            if {(v.name, again), (v.name, True)} & seen:
                continue
            seen.add((v.name, again))
            parts = self._parts(v)
            if not parts and v.kind == "dense" and self._maker(v) != "absent":
                name = self._same.get(v.name, v.name)
                home = self._homes.get(name, self._global)
                outside = not set(bodies) <= set(self._bodies_around(home)) or (recursive and self._function_of(home) is not function)
                found[name] = found.get(name, False) or again or outside
            op = self._makers.get(v.name)
            if v.name in v.block.params:
                again |= recursive if v.block in self._functions else v.block in bodies and self._is_kept(v)
            elif op is not None and op.function is not None:
                again |= recursive
            left += [(part, again) for part in parts or ()]
        return found

    def _is_kept(self, param: Variable) -> bool:
        """Whether a variable of a loop may be the same for more than one iteration."""
        body = param.block
        left, seen = [body.var(body.results[body.params.index(param.name)])], set()
        while left:
            v = left.pop()
            if v.name == param.name:
                return True
            if v.name in seen or body not in self._bodies_around(v.block):
                continue  # what is made outside is told by where that is
            seen.add(v.name)
            left += [body.var(body.results[body.params.index(v.name)])] if v.name in body.params else self._parts(v) or []
        return False

    def inside(self, v: Variable) -> Counter[str] | None:
        """How often, up to 2, an entry of a list in an entry of a list may be each of its sources; None if that is not known."""
        found: Counter[str] = Counter()
        lists = self._stacked(v)
        if lists is None:
            return None
        for items in lists:
            if self.sources(items) is None:
                return None
            found.update(2 * list(self.repeated(items)))
            sources = self._put_by(items.block, items)
            found.update({name: 1 + again for name, again in sources.items()})
        return found

    def is_told(self, v: Variable) -> bool:
        """Whether the run can number what a value may be: not if that was in a list in a list, of which the run has but the elements."""
        return all(self._maker(part) != _UNSTACK for part, _ in self._leading_to(v, lambda v, parts: parts))

    def variable(self, name: str) -> Variable:
        """That of a source."""
        return self._homes.get(name, self._global).var(name)

    def is_countable(self, name: str) -> bool:
        """Whether what a variable of a source is at each time can have a number of its own."""
        home = self._homes.get(name, self._global)
        bodies = self._bodies_around(home)
        return len(bodies) <= _DEPTH and all(self._loops[b].attrs["body_block"] is b for b in bodies) and self._function_of(home) is None

    def _function_of(self, block: Block | None) -> Function | None:
        """The function that a block is of."""
        while block is not None and block not in self._functions:
            block = block.parent
        return None if block is None else self._functions[block]

    def _maker(self, v: Variable) -> str:
        op = self._makers.get(v.name)
        return "" if op is None or v.persistable else op.type

    def _parts(self, v: Variable) -> list[Variable] | None:
        """What a value is one of, or a list is made of; [] for a new value or list, None if it is not known."""
        home = v.block
        if v.name in home.params:
            if home in self._functions:
                i = home.params.index(v.name)
                return [block.var(op.input("X")[i]) for op, block in self._calls[self._functions[home]]]
            op = self._loops.get(home)
            if op is None:
                return None
            i, body = home.params.index(v.name), op.attrs["body_block"]
            return [self._around(home).var(op.input("X")[i]), body.var(body.results[i])]
        op, made_by = self._makers.get(v.name), self._maker(v)
        if op is not None and made_by == "cond":
            return [b.var(b.results[op.output("Out").index(v.name)]) for b in op.blocks]
        if op is not None and op.function is not None:
            i, inside = op.output("Out").index(v.name), op.function.block
            return [] if v.kind == "dense" and self._is_created_by(op.function, i) else [inside.var(inside.results[i])]
        if op is not None and made_by == "while_loop" and v.name in op.output("Out"):
            i, body = op.output("Out").index(v.name), op.attrs["body_block"]
            return [home.var(op.input("X")[i]), body.var(body.results[i])]
        if op is not None and (made_by == "ensure_defined" or (made_by == "assign" and v.kind == "array")):
            return [home.var(op.input("X")[0])]
        if op is not None and made_by in _LISTS:
            return [home.var(op.input(slot)[0]) for slot in _LISTS[made_by]]
        if op is not None and made_by == _UNSTACK:
            return self._stacked(home.var(op.input("X")[0]))
        if v.kind == "array" and made_by not in ("create_array", "absent"):
            return None
        return []

    def _stacked(self, v: Variable) -> list[Variable] | None:
        """The lists of which a value that is an entry of a list holds one, as a list in a list does; None if they are not known."""
        names = self.sources(v)
        if names is None:
            return None
        found = []
        for name in names:
            op = self._makers.get(name)
            while op is not None and op.type == "cast":
                op = self._makers.get(op.input("X")[0])
            if op is not None and op.type in _CONSTANTS:
                continue  # an empty list
            if op is None or op.type != _STACK:
                return None
            found.append(self._homes[op.output_names[0]].var(op.input("X")[0]))
        return found

    def _around(self, block: Block) -> Block:
        assert block.parent is not None
        return block.parent

    def _bodies_around(self, block: Block) -> list[Block]:
        """The blocks of loops around what is made in a block, from the inside out."""
        found: list[Block] = []
        inner: Block | None = block
        while inner is not None:
            if inner in self._loops:
                found.append(inner)
            inner = inner.parent
        return found

    # ---- what goes beside a value ----
    def beside(self, v: Variable) -> Variable:
        """The number of the object that a value is, or a list of those of its entries; of what has `sources`."""
        if v.name not in self._beside:
            self._make(v)
        return self._beside[v.name]

    def _make(self, v: Variable) -> None:
        home = v.block
        op, made_by = self._makers.get(v.name), self._maker(v)
        if v.name in home.params and home in self._functions:
            self._hand_over(self._functions[home], v)
        elif v.name in home.params:
            self._carry(self._loops[home], home.params.index(v.name))
        elif op is not None and op.function is not None and self._parts(v):
            self._return(op.function, op.output("Out").index(v.name))
        elif op is not None and made_by == "while_loop":
            self._carry(op, op.output("Out").index(v.name))
        elif op is not None and made_by == "cond":
            self._choose(op, v)
        elif op is not None and made_by in ("ensure_defined", "assign") and self._parts(v):
            self._beside[v.name] = self.beside(home.var(op.input("X")[0]))
        elif op is not None and made_by in _LISTS:
            self._follow(op, home)
        elif v.kind == "array" or made_by == "absent":
            self._beside[v.name] = self._first(home, lambda b: b.op("create_array", dtype="int64", shape=[]) if v.kind == "array"
                                               else b.constant(OWN, "int64"))  # fmt: skip
        else:
            self._beside[v.name] = self._number(v)

    def _first(self, block: Block, make: Callable[[IRBuilder], Any]) -> Variable:
        """A value that is made where a block begins."""
        v: Variable = make(IRBuilder(block, index=0))
        v.stop_gradient = True
        return v

    def _number(self, v: Variable) -> Variable:
        number = self.numbers.get(self._same.get(v.name, v.name), OWN)
        bodies = self._bodies_around(v.block) if number != OWN else []
        counts = [self._count(self._loops[b]) for b in bodies]

        def make(b: IRBuilder) -> Any:
            total = b.constant(number, "int64")
            weight = IN_LOOP
            for count in counts:
                total = b.add(total, b.mul(count, b.constant(weight, "int64")))
                weight <<= 46 // len(counts)
            return total

        return self._first(v.block, make)

    def _declare(self, like: Variable, block: Block) -> Variable:
        """A variable for a number beside a value, or for the list of numbers beside a list."""
        return block.create_var(None, "int64", (), stem="origin", kind=like.kind, stop_gradient=True)

    def _choose(self, op: Operator, v: Variable) -> None:
        i = op.output("Out").index(v.name)
        chosen = [self.beside(b.var(b.results[i])) for b in op.blocks]
        for block, one in zip(op.blocks, chosen, strict=True):
            block.results.append(one.name)
        new = self._beside[v.name] = self._declare(v, v.block)
        op.outputs["Out"] = [*op.output("Out"), new.name]

    def _add(self, op: Operator, like: Variable, initial: Variable) -> tuple[Variable, Variable, Variable]:
        """A further variable of a loop: what it is in the test, in the body, and after the loop. The body has to yield its next value."""
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        new = self._declare(like, test), self._declare(like, body), self._declare(like, self._around(body))
        for block, v in zip((test, body), new, strict=False):
            block.params.append(v.name)
        op.inputs["X"] = [*op.input("X"), initial.name]
        op.outputs["Out"] = [*op.output("Out"), new[2].name]
        return new

    def _carry(self, op: Operator, i: int) -> None:
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        home = self._around(body)
        param, end, out = body.var(body.params[i]), body.var(body.results[i]), op.output("Out")[i]
        names = [test.params[i], param.name, out]
        initial = self.beside(home.var(op.input("X")[i]))
        self._beside |= zip(names, self._add(op, param, initial), strict=True)
        place = len(body.results)
        body.results.append(param.name)  # others may come behind it before the next value is known
        body.results[place] = self.beside(end).name

    def _hand_over(self, function: Function, param: Variable) -> None:
        """A further param of a function: each call hands over the number of the object that it gives for another one."""
        i = function.block.params.index(param.name)
        new = self._beside[param.name] = self._declare(param, function.block)
        function.block.params.append(new.name)
        place = len(function.block.params) - 1
        for op, _ in self._calls[function]:
            op.inputs["X"] = [*op.input("X"), op.input("X")[i]]  # others may come behind it before the number is known
        for op, block in self._calls[function]:
            op.inputs["X"][place] = self.beside(block.var(op.input("X")[i])).name

    def _return(self, function: Function, i: int) -> None:
        """A further result of a function, of which each call gets the number of the object that another one is."""
        inside = function.block
        result = inside.var(inside.results[i])
        place = len(inside.results)
        inside.results.append(result.name)  # likewise
        for op, block in self._calls[function]:
            new = self._declare(result, block)
            self._beside[op.output("Out")[i]] = new
            op.outputs["Out"] = [*op.output("Out"), new.name]
        function.result_types.append(TensorType("int64", (), result.kind))
        inside.results[place] = self.beside(result).name

    def _count(self, op: Operator) -> Variable:
        """The number of an iteration, in the body of a loop."""
        body = op.attrs["body_block"]
        if body not in self._counts:
            home = self._around(body)
            first = self._first(home, lambda b: b.constant(1, "int64"))
            _, count, _ = self._add(op, first, first)
            self._counts[body] = count
            body.results.append(self._first(body, lambda b: b.add(count, b.constant(1, "int64"))).name)
        return self._counts[body]

    def _follow(self, op: Operator, home: Block) -> None:
        """The same with the numbers of what an op on a list puts into it or takes out."""
        # a list that is there before the call comes of as many ops as it has entries, one behind the other
        chain = [op]
        while (before := self._list_before(chain[-1], home)) is not None:
            chain.append(before)
        for one in reversed(chain):
            self._follow_one(one, home)

    def _list_before(self, op: Operator, home: Block) -> Operator | None:
        """The op on a list that made the one which an op changes, if nothing goes beside that yet."""
        names = (op.input(slot)[0] for slot in _LISTS[op.type])
        name = next((name for name in names if home.var(name).kind == "array"), None)
        if name is None or name in self._beside or self._homes.get(name) is not home or name in home.params:
            return None
        before = self._makers.get(name)
        return before if before is not None and before.type in _LISTS else None

    def _follow_one(self, op: Operator, home: Block) -> None:
        followed = {slot: self.beside(home.var(op.input(slot)[0])) for slot in _LISTS[op.type]}
        kept = {slot: home.var(names[0]) for slot, names in op.inputs.items() if slot not in followed}
        made = IRBuilder(home, op.location, home.ops.index(op) + 1).op(op.type, **followed, **kept)
        made = made if isinstance(made, tuple) else (made,)
        for v in made:
            v.stop_gradient = True
        self._beside |= zip(op.output_names, made, strict=True)
