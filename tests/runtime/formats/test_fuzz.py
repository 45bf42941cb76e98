"""Hostile bytes: a damaged file is a FormatError or a valid model, never anything else."""

import pathlib
import shutil

import numpy as np
import pytest
from dy2st_runtime.errors import FormatError
from dy2st_runtime.formats import load_inference_model, program_from_bytes
from dy2st_runtime.formats.framework_proto import ProgramDesc
from dy2st_runtime.ir import verify
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MODELS = pathlib.Path(__file__).parents[2] / "data" / "paddle-models"
ORIGINALS = [(MODELS / f"{name}.pdmodel").read_bytes() for name in ("mlp", "control")]


def survives(data):
    """Whether the bytes load; anything but FormatError fails the test."""
    try:
        loaded = program_from_bytes(data)
    except FormatError:
        return False
    verify(loaded.program)
    return True


def test_the_originals_survive():
    assert all(map(survives, ORIGINALS))


@given(st.binary(max_size=200))
def test_random_bytes(data):
    survives(data)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_bytes(data):
    original = bytearray(data.draw(st.sampled_from(ORIGINALS)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(original) - 1))
        if data.draw(st.booleans()):
            original[at] = data.draw(st.integers(0, 255))
        else:
            del original[at : at + data.draw(st.integers(1, 40))]
    survives(bytes(original))


@pytest.mark.parametrize("name", [b"relu", b"Out", b"axis", b"linear_0.w_0"])
def test_a_name_that_is_not_utf8(name):
    """The type of an op (beside another that is unknown, which the error lists too), a slot, an attribute, a variable."""
    data = ORIGINALS[0].replace(b"softmax", b"softmay").replace(name, b"\xff" + name[1:])
    with pytest.raises(FormatError, match="not UTF-8"):
        program_from_bytes(data)


def test_a_huge_attribute_is_not_believed():
    """The axis at which the operands of a sum meet, which is the number of sizes that the smaller one gets."""
    desc = ProgramDesc.FromString(ORIGINALS[0])
    for op in desc.blocks[0].ops:
        for attr in op.attrs:
            if op.type == "elementwise_add" and attr.name == "axis":
                attr.i = -(2**31)
    with pytest.raises(FormatError, match="axis must be -1 or from 0 to 1"):
        program_from_bytes(desc.SerializeToString())


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(ORIGINALS), st.floats(0, 1))
def test_truncated(original, part):
    survives(original[: int(part * len(original))])


VALUES = st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from([-1, 0, 1, 2]))


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_valid_messages_with_wrong_content(data):
    """The protobuf stays well-formed; names, types, indices, attributes and the order of ops change."""
    desc = ProgramDesc.FromString(data.draw(st.sampled_from(ORIGINALS)))
    for _ in range(data.draw(st.integers(1, 3))):
        block = data.draw(st.sampled_from(list(desc.blocks)))
        op = data.draw(st.sampled_from(list(block.ops)))
        names = [name for slot in (*op.inputs, *op.outputs) for name in slot.arguments]
        what = data.draw(st.sampled_from(["attr", "argument", "type", "drop", "move", "dims", "parent"]))
        if what == "attr" and op.attrs:
            attr = data.draw(st.sampled_from(list(op.attrs)))
            for field, value in attr.ListFields():
                if field.name in ("i", "l", "block_idx"):
                    setattr(attr, field.name, data.draw(VALUES))
                elif field.name in ("ints", "longs"):
                    value[:] = data.draw(st.lists(VALUES, max_size=70))
                elif field.name == "f":
                    attr.f = data.draw(st.floats(width=32))
                elif field.name == "s":
                    attr.s = data.draw(st.text(max_size=5))
                elif field.name == "name":
                    attr.name = data.draw(st.sampled_from(["axis", "dy2st.op", "shape", "sub_block", value]))
        elif what == "argument" and names:
            slot = data.draw(st.sampled_from([s for s in (*op.inputs, *op.outputs) if s.arguments]))
            slot.arguments[0] = data.draw(st.sampled_from(names + [v.name for v in block.vars]))
        elif what == "type":
            op.type = data.draw(
                st.sampled_from(["scale", "cond", "while", "absent", "assign", "concat", "cast", "fused_elementwise"])
            )
        elif what == "drop":
            block.ops.remove(op)
        elif what == "move":
            copy = type(op).FromString(op.SerializeToString())
            block.ops.insert(data.draw(st.integers(0, len(block.ops))), copy)
        elif what == "dims" and block.vars:
            v = data.draw(st.sampled_from(list(block.vars)))
            if v.type.HasField("lod_tensor"):
                v.type.lod_tensor.tensor.dims[:] = data.draw(st.lists(VALUES, max_size=5))
        elif what == "parent":
            block.parent_idx = data.draw(st.integers(-2, 4))
        if not any(b.ops for b in desc.blocks) or not all(b.ops for b in desc.blocks):
            break
    survives(desc.SerializeToString())


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_parameters(tmp_path, data):
    shutil.copy(MODELS / "mlp.pdmodel", tmp_path / "m.pdmodel")
    original = bytearray((MODELS / "mlp.pdiparams").read_bytes())
    at = data.draw(st.integers(0, len(original) - 1))
    if data.draw(st.booleans()):
        original[at] = data.draw(st.integers(0, 255))
    else:
        del original[at : at + data.draw(st.integers(1, 40))]
    (tmp_path / "m.pdiparams").write_bytes(original)
    try:
        model = load_inference_model(tmp_path / "m")
    except FormatError:
        return
    block = model.program.global_block()
    for name, value in model.params.items():
        assert (value.dtype.name, value.shape) == (block.var(name).dtype, block.var(name).shape)


@pytest.mark.parametrize("size", [2**31 - 1, 2**40])
def test_announced_sizes_are_not_allocated(tmp_path, size):
    """A tensor said to be huge in a small file is refused before any memory is taken."""
    from dy2st_runtime.formats.paddle_params import TensorDesc, read_params

    desc = TensorDesc(data_type=5, dims=[size]).SerializeToString()
    path = tmp_path / "p"
    path.write_bytes(np.array([0, 0, 0, 0, len(desc)], np.uint32).tobytes() + desc)
    with pytest.raises(FormatError, match="bytes early"):
        read_params(str(path), ["w"])
