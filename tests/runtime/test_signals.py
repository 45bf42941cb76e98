"""Changes that what a signal's handler raises does not leave half done."""

import pytest
from dy2st_runtime import signals


class Stop(BaseException):
    pass


class Counted:
    """A change of two parts, which something is raised between for so many times."""

    def __init__(self, raised):
        self.raised, self.first, self.second = raised, 0, 0

    def __call__(self):
        self.first = 1
        if self.raised:
            self.raised -= 1
            raise Stop
        self.second = 1
        return "result"

    def begun(self):
        return bool(self.first)


def test_a_change_gives_its_result():
    assert signals.whole(Counted(0), lambda: True) == "result"


def test_a_change_that_has_begun_is_made_before_the_exception_is_raised():
    change = Counted(2)
    with pytest.raises(Stop):
        signals.whole(change, change.begun)
    assert (change.first, change.second) == (1, 1)


def test_a_change_that_has_not_begun_is_not_made():
    change = Counted(1)
    with pytest.raises(Stop):
        signals.whole(change, lambda: False)
    assert change.second == 0


def test_an_error_of_the_change_itself_is_raised():
    change = Counted(100)
    with pytest.raises(Stop):
        signals.whole(change, change.begun)
    assert change.raised == 100 - 1 - signals.ATTEMPTS
