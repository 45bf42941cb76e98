"""Programs in PaddlePaddle's form → IR: assignments to outer variables, loops, branches, malformed files."""

import numpy as np
import pytest
from dy2st_runtime.errors import FormatError
from dy2st_runtime.formats import paddle_attrs, program_from_bytes, program_to_bytes
from dy2st_runtime.formats.framework_proto import VAR, ProgramDesc
from dy2st_runtime.ir.visit import all_ops
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.reference import run_program

KINDS = {bool: "BOOLEAN", int: "INT", float: "FLOAT", str: "STRING"}


def op(op_type, inputs, outputs, **attrs):
    """An op for `desc`; slots are "X=a Y=b,c"."""
    return op_type, inputs, outputs, attrs


def add_var(block, name, kind="FP32", dims=(), array=False, **flags):
    v = block.vars.add(name=name, **flags)
    v.type.type = VAR["LOD_TENSOR_ARRAY" if array else "LOD_TENSOR"]
    tensor = (v.type.tensor_array if array else v.type.lod_tensor).tensor
    tensor.data_type = VAR[kind]
    tensor.dims.extend(dims)


def desc(*blocks):
    """A ProgramDesc from (parent, variables, ops); a variable is a name or (name, type, dims, flags)."""
    program = ProgramDesc()
    for index, (parent, variables, ops) in enumerate(blocks):
        block = program.blocks.add(idx=index, parent_idx=parent)
        for v in variables:
            if isinstance(v, str):
                add_var(block, v, need_check_feed=v in ("x", "n", "p"))
            else:
                add_var(block, *v[:3], **(v[3] if len(v) > 3 else {}))
        for op_type, inputs, outputs, attrs in ops:
            o = block.ops.add(type=op_type)
            for text, where in ((inputs, o.inputs), (outputs, o.outputs)):
                for slot in text.split():
                    name, _, names = slot.partition("=")
                    where.add(parameter=name, arguments=names.split(",") if names else [])
            for name, value in attrs.items():
                attr = o.attrs.add()
                if name == "sub_block":
                    paddle_attrs.encode(attr, name, "BLOCK", value)
                elif isinstance(value, list):
                    paddle_attrs.encode(attr, name, "INTS", value)
                else:
                    paddle_attrs.encode(attr, name, KINDS[type(value)], value)
    return program


def load(*blocks):
    return program_from_bytes(desc(*blocks).SerializeToString()).program


def run(program, *names, **feeds):
    """The values of variables, and the same after writing and reading the program once more."""
    arrays = {name: np.asarray(value, np.float32) for name, value in feeds.items()}
    values = run_program(program, arrays, {})
    again = run_program(program_from_bytes(program_to_bytes(program)).program, arrays, {})
    for name in names:
        assert repr(again[name]) == repr(values[name])
    return values[names[0]] if len(names) == 1 else [values[name] for name in names]


def while_(body, **slots):
    return op("while", "Condition=go X=x", "Out=x StepScopes=", sub_block=body, is_test=True)


TEST = op("less_than", "X=i Y=n", "Out=go")
START = [op("fill_constant", "", "Out=i", value=0.0, dtype=5, shape=[]), TEST]
NEXT = op("increment", "X=i", "Out=i", step=1.0)
STATE = ["x", "n", "i", ("go", "BOOL", ())]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_body_that_writes_its_condition_directly(count):
    """The 1.x form: no `assign`; ops of the body write outer variables."""
    ops = [*START, while_(1), op("scale", "X=x", "Out=out")]
    program = load((-1, [*STATE, "out"], ops), (0, [], [op("scale", "X=x", "Out=x", scale=2.0), NEXT, TEST]))
    assert run(program, "i", "out", x=1.5, n=count) == [count, 1.5 * 2**count]


def test_locals_of_a_body_shadow_outer_names():
    blocks = (
        (-1, [*STATE, "t", "out"], [op("scale", "X=x", "Out=t", scale=5.0), *START, while_(1),
                                    op("assign", "X=t", "Out=out")]),
        (0, ["t"], [op("scale", "X=x", "Out=t", scale=2.0), op("assign", "X=t", "Out=x"), NEXT, TEST]),
    )  # fmt: skip
    assert run(load(*blocks), "out", x=1.0, n=3) == 5.0


def test_swap_and_use_of_the_old_value():
    blocks = (
        (
            -1,
            [*STATE, "a", "b"],
            [op("scale", "X=x", "Out=a"), op("scale", "X=x", "Out=b", bias=1.0), *START, while_(1)],
        ),
        (
            0,
            ["old"],
            [op("assign", "X=a", "Out=old"), op("assign", "X=b", "Out=a"), op("assign", "X=old", "Out=b"), NEXT, TEST],
        ),
    )
    program = load(*blocks)
    for count in range(4):
        want = (10.0, 11.0) if count % 2 == 0 else (11.0, 10.0)
        assert tuple(map(float, run(program, "a", "b", x=10.0, n=count))) == want


def test_nested_loops():
    """for i in range(n): for j in range(i): x += 1"""
    blocks = (
        (-1, [*STATE, "j", ("more", "BOOL", ()), "total"], [*START, while_(1), op("scale", "X=x", "Out=total")]),
        (0, [], [op("fill_constant", "", "Out=j", value=0.0, dtype=5), op("less_than", "X=j Y=i", "Out=more"),
                 op("while", "Condition=more X=x", "Out=x", sub_block=2), NEXT, TEST]),
        (1, [], [op("increment", "X=x", "Out=x", step=1.0), op("increment", "X=j", "Out=j", step=1.0),
                 op("less_than", "X=j Y=i", "Out=more")]),
    )  # fmt: skip
    program = load(*blocks)
    for count in range(5):
        assert run(program, "total", x=0.0, n=count) == count * (count - 1) / 2


def test_a_conditional_block_alone_keeps_the_value_from_before():
    blocks = (
        (-1, ["x", "p", "y", "z", ("c", "BOOL", ())],
         [op("assign", "X=x", "Out=y"), op("less_than", "X=x Y=p", "Out=c"),
         op("conditional_block", "Cond=c Input=x", "Out=y Scope=", sub_block=1, is_scalar_condition=True),
         op("scale", "X=y", "Out=z", scale=10.0)]),
        (0, [], [op("scale", "X=x", "Out=y", scale=-1.0)]),
    )  # fmt: skip
    program = load(*blocks)
    assert run(program, "z", x=2.0, p=3.0) == -20.0
    assert run(program, "z", x=2.0, p=1.0) == 20.0


def test_a_conditional_block_alone_without_a_value_before():
    blocks = (
        (-1, ["x", "p", "y", ("c", "BOOL", ())], [op("less_than", "X=x Y=p", "Out=c"),
         op("conditional_block", "Cond=c", "Out=y", sub_block=1, is_scalar_condition=True)]),
        (0, [], [op("scale", "X=x", "Out=y", scale=-1.0)]),
    )  # fmt: skip
    program = load(*blocks)
    assert run(program, "y", x=2.0, p=3.0) == -2.0
    assert run(program, "y", x=2.0, p=1.0) is ABSENT


def two_branches(*between):
    cond = "conditional_block"
    return (
        (-1, ["x", "p", "y", "t", "f", "z", "u", ("c", "BOOL", ()), ("nc", "BOOL", ()), ("m", "INT32", ())],
         [op("less_than", "X=x Y=p", "Out=c"), op(cond, "Cond=c", "Out=t,y", sub_block=1, is_scalar_condition=True),
          op("logical_not", "X=c", "Out=nc"), *between,
          op(cond, "Cond=nc", "Out=f,y", sub_block=2, is_scalar_condition=True),
          op("cast", "X=c", "Out=m", in_dtype=0, out_dtype=2), op("select_input", "X=f,t Mask=m", "Out=z")]),
        (0, [], [op("scale", "X=x", "Out=t", scale=2.0), op("scale", "X=x", "Out=y", scale=3.0)]),
        (0, [], [op("scale", "X=x", "Out=f", scale=-2.0), op("scale", "X=x", "Out=y", scale=-3.0)]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("between", "conds"),
    [((), 1), ((op("fill_constant", "", "Out=u", value=1.0, dtype=5),), 1), ((op("scale", "X=t", "Out=u"),), 3)],
    ids=["adjacent", "something harmless between", "the first half is read between"],
)
def test_two_way_branch(between, conds):
    """Both halves assign `y`; each has a value of its own; select_input takes one."""
    program = load(*two_branches(*between))
    assert [o.type for o in all_ops(program.global_block())].count("cond") == conds
    assert tuple(map(float, run(program, "z", "y", x=1.0, p=2.0))) == (2.0, 3.0)
    assert tuple(map(float, run(program, "z", "y", x=1.0, p=0.0))) == (-2.0, -3.0)


def test_arrays_grow_in_a_loop():
    blocks = (
        (-1, [*STATE, ("arr", "FP32", (), {"array": True}), ("k", "INT64", ()), ("len", "INT64", ())],
         [*START, while_(1), op("lod_array_length", "X=arr", "Out=len")]),
        (0, [], [op("lod_array_length", "X=arr", "Out=k"), op("write_to_array", "X=i I=k", "Out=arr"), NEXT, TEST]),
    )  # fmt: skip
    program = load(*blocks)
    for count in range(3):
        arr, length = run(program, "arr", "len", x=0.0, n=count)
        assert [float(v) for v in arr] == list(range(count))
        assert length == count


def test_open_dims_of_a_loop_variable_are_found():
    """The value doubles its length each iteration: its first dim is open whatever the file says."""
    blocks = (
        (-1, [("x", "FP32", (2, 3), {"need_check_feed": True}), "n", "i", ("go", "BOOL", ())], [*START, while_(1)]),
        (
            0,
            [("t", "FP32", (2, 3))],
            [op("concat", "X=x,x", "Out=t", axis=0), op("assign", "X=t", "Out=x"), NEXT, TEST],
        ),
    )
    program = load(*blocks)
    loop = next(o for o in program.global_block().ops if o.type == "while_loop")
    shapes = {name: program.global_block().var(name).shape for name in loop.output("Out")}
    assert (-1, 3) in shapes.values()


def test_types_of_intermediate_values_are_not_believed():
    program = load((-1, ["x", ("y", "INT64", (7, 7))], [op("scale", "X=x", "Out=y", scale=2.0)]))
    v = program.global_block().var("y")
    assert (v.dtype, v.shape) == ("float32", ())


def test_older_ops_and_hints():
    blocks = ((-1, [("x", "FP32", (2, 3), {"need_check_feed": True}), ("y", "FP32", ()), ("z", "FP32", ())],
               [op("reshape", "X=x", "Out=y", shape=[3, 2], op_role=0, op_callstack="x", use_mkldnn=True),
                op("mean", "X=y", "Out=z")]),)  # fmt: skip
    assert run(load(*blocks), "z", x=[[1, 2, 3], [4, 5, 6]]) == 3.5


@pytest.mark.parametrize(
    "name", ["", "a b", "__import__('os')", '"""', "../../etc/passwd", "é\U0001f600", "x\n\0", "%s{0}"]
)
def test_any_name_is_data(name):
    variables = [(name, "FP32", (), {"need_check_feed": True}), (name + "!", "FP32", ())]
    made = desc((-1, variables, []))
    o = made.blocks[0].ops.add(type="scale")
    o.inputs.add(parameter="X", arguments=[name])
    o.outputs.add(parameter="Out", arguments=[name + "!"])
    program = program_from_bytes(made.SerializeToString()).program
    assert run_program(program, {name: np.float32(2)}, {})[name + "!"] == 2.0
    assert program_to_bytes(program) == program_to_bytes(program_from_bytes(program_to_bytes(program)).program)


def scale(**attrs):
    return (-1, ["x", "y"], [op("scale", "X=x", "Out=y", **attrs)])


def nested(depth):
    blocks = [(-1, STATE, [*START, while_(1)])]
    blocks += [(i, [], [while_(i + 2), NEXT, TEST]) for i in range(depth - 1)]
    return [*blocks, (depth - 1, [], [NEXT, TEST])]


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "no blocks"),
        ([(0, [], [])], "block 0 with parent 0"),
        ([(-1, [], []), (-1, [], [])], "block 1 with parent -1"),
        ([(-1, [], []), (1, [], [])], "block 1 with parent 1"),
        ([(-1, ["x", "x"], [])], "'x' is declared twice"),
        ([(-1, ["x"], [op("scale", "X=x", "Out=y")])], "'y', used in block 0, is not declared"),
        ([(-1, ["x", "y"], [op("scale", "X=x X=x", "Out=y")])], "slot 'X' is given twice"),
        ([(-1, ["x", "y"], [op("scale", "X=x,x", "Out=y")])], "slot X takes one variable, got 2"),
        ([(-1, ["x", "y"], [op("scale", "", "Out=y")])], "malformed"),
        ([(-1, ["x", "y"], [op("scale", "X=x Y=x", "Out=y")])], "input 'Y'"),
        ([scale(scale="a")], "malformed attribute"),
        ([scale(scale=True, unheard_of=3)], "attribute 'unheard_of' = 3"),
        ([scale(**{"dy2st.op": "while_loop"})],  "'cond_block' is required"),
        ([scale(**{"dy2st.op": "nothing"})], "'nothing'"),
        ([(-1, ["x", "y"], [op("magic", "X=x", "Out=y"), op("wand", "", ""), op("magic", "X=x", "Out=y")])],
         "2 ops that are not supported: 'magic' \\(2 times\\), 'wand'"),
        ([(-1, STATE, [*START, while_(2)]), (0, [], [])], "cannot own block 2"),
        ([(-1, STATE, [*START, while_(0)])], "cannot own block 0"),
        ([(-1, STATE, [*START, while_(1), while_(1)]), (0, [], [NEXT, TEST])], "cannot own block 1"),
        ([(-1, STATE, [*START, while_(1)]), (0, [], []), (0, [], [while_(1)])], "cannot own block 1"),
        ([(-1, STATE, [*START, op("while", "Condition=go", "")])], "needs one attribute sub_block"),
        ([(-1, STATE, [op("feed", "X=feed", "Out=x", col=0), TEST])], "'i' is read before it has a value"),
        ([(-1, ["x"], [op("feed", "X=feed", "Out=x", col=0), op("feed", "X=feed", "Out=x", col=0)])], "with column 0"),
        ([(-1, ["x"], [op("feed", "X=feed", "Out=x", col=0), op("feed", "X=feed", "Out=x", col=1)])], "fed twice"),
        ([(-1, [("x", "BF16", (), {"need_check_feed": True})], [])], "BF16, which is not supported"),
        ([(-1, [("x", "FP32", (-2,), {"need_check_feed": True})], [])], "malformed shape"),
        ([(-1, [("x", "FP32", (1,) * 65, {"need_check_feed": True})], [])], "malformed shape"),
        ([(-1, ["x", ("c", "BOOL", ()), "z"], [op("select_input", "X=x Mask=c", "Out=z")])], "between 1 variables"),
        (nested(65), "deeper than 64"),
    ],
)  # fmt: skip
def test_malformed(blocks, message):
    with pytest.raises(FormatError, match=message):
        program_from_bytes(desc(*blocks).SerializeToString())


def test_deepest_nesting_is_read():
    program = load(*nested(64))
    assert run_program(program, {"x": np.float32(1), "n": np.float32(3)}, {})["i"] >= 3


def test_types_that_change_in_a_loop():
    blocks = (
        (-1, STATE, [*START, while_(1)]),
        (
            0,
            [("t", "INT64", ())],
            [op("cast", "X=x", "Out=t", in_dtype=5, out_dtype=3), op("assign", "X=t", "Out=x"), NEXT, TEST],
        ),
    )
    with pytest.raises(
        FormatError, match=r"loop variable \d has type float32\[\] on one path and int64\[\] on the other"
    ):
        load(*blocks)
