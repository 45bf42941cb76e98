"""The places of instructions, looked up in tables that are made once."""

import dis

import dy2st as paddle
from dy2st.transpiler import positions


def several(x):
    y = [x + 1, (x
                 * 2)]  # fmt: skip
    for v in y:
        if v > 1:
            x = x - v
    return x


def test_a_table_says_what_python_says():
    code = several.__code__
    found = positions.table(code)
    for instruction in dis.get_instructions(code):
        at = instruction.offset
        assert found.line(at) == next(line for start, stop, line in code.co_lines() if start <= at < stop)
        if hasattr(code, "co_positions"):
            assert found.positions[at // 2] == list(code.co_positions())[at // 2]
    assert found.line(-1) is None
    assert positions.position(code, -1) is None
    assert positions.table(code) is found


def test_a_trace_makes_one_table_for_each_code_object(monkeypatch):
    def long(x):
        x = x + 1.0; x = x * 2.0; x = x - 1.0; x = x + 1.0; x = x * 2.0; x = x - 1.0  # noqa: E702
        x = x + 1.0; x = x * 2.0; x = x - 1.0; x = x + 1.0; x = x * 2.0; x = x - 1.0  # noqa: E702
        return x

    made = []
    monkeypatch.setattr(positions, "_tables", {})
    monkeypatch.setattr(positions, "Table", lambda *args, table=positions.Table: made.append(args) or table(*args))
    paddle.jit.to_static(long)(paddle.to_tensor([1.0]))
    assert 0 < len(made) == len(positions._tables) <= 40
