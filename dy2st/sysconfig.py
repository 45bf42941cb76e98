"""Where what C++ is compiled and linked with is: nowhere, as dy2st has neither headers nor a library in C++."""

from __future__ import annotations

from typing import NoReturn

from .errors import DeviceError
from .missing_names import explain_missing as _explain_missing


def get_include() -> NoReturn:
    """The folder of the headers.

    Raises:
        DeviceError: always. Write the operator by `dy2st.custom_op`.
    """
    raise DeviceError("dy2st has no headers: an operator in C++ cannot be compiled for it", hint="write it in Python by dy2st.custom_op")


def get_lib() -> NoReturn:
    """The folder of the library.

    Raises:
        DeviceError: always. Write the operator by `dy2st.custom_op`.
    """
    raise DeviceError("dy2st has no library in C++: an operator cannot be linked to it", hint="write it in Python by dy2st.custom_op")


_explain_missing(__name__)
