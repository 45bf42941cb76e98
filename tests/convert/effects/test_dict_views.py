"""Views of dicts that are there before the call."""

import pytest

from dy2st import Tensor, jit
from dy2st.errors import StructureError


def test_a_view_is_of_what_is_in_the_dict_at_each_call():
    d = {"a": 1}
    values = d.values()

    @jit.to_static
    def total(x):
        return x * sum(values)

    for n in range(3):
        d["a"] = n
        assert float(total(Tensor(2.0))) == 2.0 * n


def test_a_dict_that_is_changed_with_a_view_of_it_among_the_arguments_is_refused():
    @jit.to_static
    def total(x, d, values):
        d["e"] = 7
        return x * sum(values)

    d = {"a": 1}
    with pytest.raises(StructureError, match="a dict among the arguments is also known"):
        total(Tensor(2.0), d, d.values())
