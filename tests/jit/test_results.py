"""Which objects a call returns."""

from dy2st import jit, to_tensor

TABLE, OTHER = [1.0], [2.0]


def table(x):
    return TABLE


def one_or_the_other(x, given):
    return TABLE if x.sum() > 0 else given


def test_a_list_of_the_outside_is_returned_itself():
    assert jit.to_static(table)(to_tensor([1.0])) is TABLE


def test_what_is_one_list_of_the_outside_or_another_is_returned_as_a_new_one():
    static = jit.to_static(one_or_the_other)
    for value, expected in ((1.0, TABLE), (-1.0, OTHER)):
        found = static(to_tensor([value]), OTHER)
        assert found == expected
        assert found is not expected  # docs/language.md
