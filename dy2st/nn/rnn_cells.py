"""Cells of recurrent networks: one step of time.

A cell can do its step in two halves: `project` is what it makes of the input alone, for all steps at once where they are known, and
`step` the rest. The parameters are `weight_ih` [gates * hidden, input], `weight_hh` [gates * hidden, hidden], `bias_ih` and `bias_hh`
[gates * hidden], all uniform in ±1 / sqrt(hidden) to begin with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..framework import nest
from ..framework.dtype import get_default_dtype
from ..tensor import Tensor, creation, dispatch, linalg, manipulation
from ..tensor.dispatch import ops
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor
from . import functional as F
from .initializer import Uniform
from .layer import Layer


class RNNCellBase(Layer):
    """Base of cells: `cell(inputs, states)` gives the output and the states of the next step, `state_shape` says what states are like."""

    @property
    def state_shape(self) -> Any:
        """The shape of a state without the batch, or a structure of such shapes."""
        raise NotImplementedError(f"{type(self).__name__} defines no state_shape")

    def get_initial_states(self, batch_ref: Any, shape: Any = None, dtype: Any = None, init_value: float = 0.0,
                           batch_dim_idx: int = 0) -> Any:  # fmt: skip
        """States to begin with, all of one value.

        Args:
            batch_ref: a Tensor, or a structure of Tensors, whose axis `batch_dim_idx` is the batch.
            shape: as `state_shape`, which is the default; a -1 in front stands for the batch and may be left out.
            dtype: default: that of `batch_ref` if it is floating-point, else the default dtype.
        """
        reference = as_tensor(nest.flatten(batch_ref)[0])
        if dtype is None:
            dtype = reference.dtype if reference.dtype.startswith("float") else get_default_dtype()
        batch = reference.shape[batch_dim_idx]
        return _filled(self.state_shape if shape is None else shape, batch, dtype, init_value)


def _filled(shape: Any, batch: Any, dtype: Any, value: float) -> Any:
    if all(isinstance(d, int) for d in shape):
        sizes = list(shape)
        return creation.full([batch, *(sizes[1:] if sizes[:1] == [-1] else sizes)], value, dtype)
    return type(shape)(_filled(part, batch, dtype, value) for part in shape)


class _GateCell(RNNCellBase):
    """What the cells share: the parameters, and checks of shapes.

    Args:
        input_size, hidden_size: sizes of inputs and states.
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: see `ParamAttr`; False for a bias: none.

    Raises:
        AttributeValueError: a size is not positive.
    """

    gates = 1

    def __init__(self, input_size: int, hidden_size: int, weight_ih_attr: Any = None, weight_hh_attr: Any = None,
                 bias_ih_attr: Any = None, bias_hh_attr: Any = None, proj_size: int = 0) -> None:  # fmt: skip
        super().__init__()
        if hidden_size <= 0:
            raise AttributeValueError(f"{type(self).__name__}: hidden_size must be positive, got {hidden_size}")
        if not 0 <= proj_size < hidden_size:
            raise AttributeValueError(f"{type(self).__name__}: proj_size must be less than hidden_size, got {proj_size}")
        self.input_size, self.hidden_size, self.proj_size = input_size, hidden_size, proj_size
        bound = 1.0 / math.sqrt(hidden_size)
        rows, uniform = self.gates * hidden_size, Uniform(-bound, bound)
        create = self.create_parameter
        self.weight_ih = create([rows, input_size], weight_ih_attr, default_initializer=uniform)
        self.weight_hh = create([rows, proj_size or hidden_size], weight_hh_attr, default_initializer=uniform)
        self.bias_ih = create([rows], bias_ih_attr, is_bias=True, default_initializer=uniform)
        self.bias_hh = create([rows], bias_hh_attr, is_bias=True, default_initializer=uniform)
        if proj_size:
            self.weight_ho = create([hidden_size, proj_size], weight_hh_attr, default_initializer=uniform)

    @property
    def state_shape(self) -> Any:
        return (self.hidden_size,)

    def project(self, inputs: Any) -> Tensor:
        """What the gates get from the inputs: [..., input_size] → [..., gates * hidden_size].

        Raises:
            ShapeError: the last size is not `input_size`.
        """
        inputs = as_tensor(inputs)
        sizes = list(inputs._form.shape)
        if not sizes or sizes[-1] not in (-1, self.input_size):
            raise ShapeError(f"{type(self).__name__}: the inputs must have {self.input_size} features on the last axis, "
                             f"got the shape {sizes}", location=user_location())  # fmt: skip
        return _affine(inputs, self.weight_ih, self.bias_ih)

    def step(self, projected: Tensor, states: Any) -> tuple[Tensor, Any]:
        """The output and the new states, from what `project` gives for one step of time and the states before."""
        raise NotImplementedError

    def over_time(self, projected: Tensor, states: Any, reverse: bool) -> Any:
        """What `step` gives for all steps of time, where one op does it; else None."""
        return None

    def _from_hidden(self, hidden: Any) -> Tensor:
        hidden = as_tensor(hidden)
        sizes, wanted = list(hidden._form.shape), self.proj_size or self.hidden_size
        if len(sizes) != 2 or sizes[-1] not in (-1, wanted):
            raise ShapeError(f"{type(self).__name__}: a state must have the shape [batch, {wanted}], got {sizes}",
                             location=user_location())  # fmt: skip
        return _affine(hidden, self.weight_hh, self.bias_hh)

    def forward(self, inputs: Any, states: Any = None) -> tuple[Tensor, Any]:
        if states is None:
            states = self.get_initial_states(inputs)
        return self.step(self.project(inputs), states)

    def extra_repr(self) -> str:
        projected = f", proj_size={self.proj_size}" if self.proj_size else ""
        return f"{self.input_size}, {self.hidden_size}{projected}"


def _affine(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out = linalg.matmul(x, weight, transpose_y=True)
    return out if bias is None else out + bias


def _fit_together(projected: Any, hidden: Tensor, state: Any, gates: int) -> bool:
    """Whether one op does what the gates do: in eager mode, where nothing is cast or stretched. Passes make one kernel of the ops of a
    static function, with what is around them."""
    if not dispatch.in_dynamic_mode() or not isinstance(projected, Tensor) or not isinstance(state, Tensor):
        return False
    x, h, s = projected._value, hidden._value, state._value
    if not (isinstance(x, np.ndarray) and isinstance(h, np.ndarray) and isinstance(s, np.ndarray)):
        return False
    if not x.dtype == h.dtype == s.dtype or x.dtype.char not in "fd":
        return False
    return s.ndim == 2 and x.shape == h.shape == (s.shape[0], gates * s.shape[1])


class SimpleRNNCell(_GateCell):
    """h' = activation(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        activation: "tanh" or "relu"; the others are those of the base.

    Returns:
        h' [batch, hidden_size], twice: the output and the state.

    >>> from dy2st import zeros
    >>> y, h = SimpleRNNCell(3, 4)(zeros([2, 3]))
    >>> y.shape
    [2, 4]
    """

    def __init__(self, input_size: int, hidden_size: int, activation: str = "tanh", weight_ih_attr: Any = None,
                 weight_hh_attr: Any = None, bias_ih_attr: Any = None, bias_hh_attr: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        if activation not in ("tanh", "relu"):
            raise AttributeValueError(f"SimpleRNNCell: the activation {activation!r} is unknown", hint="use 'tanh' or 'relu'")
        self.activation = activation

    def step(self, projected: Tensor, states: Any) -> tuple[Tensor, Any]:
        total = projected + self._from_hidden(states)
        h = F.tanh(total) if self.activation == "tanh" else F.relu(total)
        return h, h


class LSTMCell(_GateCell):
    """i, f, g, o = W_ih x + b_ih + W_hh h + b_hh;  c' = sigmoid(f) * c + sigmoid(i) * tanh(g);  h' = sigmoid(o) * tanh(c').

    Args:
        proj_size: if not 0, h' is projected to this size by `weight_ho` [hidden_size, proj_size].

    Returns:
        h', (h', c').

    >>> from dy2st import zeros
    >>> y, (h, c) = LSTMCell(3, 4)(zeros([2, 3]))
    >>> y.shape, c.shape
    ([2, 4], [2, 4])
    """

    gates = 4

    def __init__(self, input_size: int, hidden_size: int, weight_ih_attr: Any = None, weight_hh_attr: Any = None,
                 bias_ih_attr: Any = None, bias_hh_attr: Any = None, proj_size: int = 0,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr, proj_size)

    @property
    def state_shape(self) -> Any:
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def step(self, projected: Tensor, states: Any) -> tuple[Tensor, Any]:
        h, c = _two(states)
        hidden = self._from_hidden(h)
        if _fit_together(projected, hidden, c, self.gates):
            c, h, _ = ops.op("lstm_gates", X=projected, Hidden=hidden, State=c)
        else:
            i, f, g, o = manipulation.split(projected + hidden, 4, -1)
            c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
            h = F.sigmoid(o) * F.tanh(c)
        if self.proj_size:
            h = linalg.matmul(h, self.weight_ho)
        return h, (h, c)


    def over_time(self, projected: Tensor, states: Any, reverse: bool) -> Any:
        """Outputs and last states of all steps, for what `project` gives [time, batch, 4 * hidden_size], by one op; None where that is
        not worth it or would be something else than `step` for each: while a program is built, in a cell of the user's, with sizes that
        do not fit, or where a step alone has enough to do for all threads."""
        if not dispatch.in_dynamic_mode() or self.proj_size or getattr(self.step, "__func__", None) is not LSTMCell.step:
            return None
        h, c = _two(states)
        given = [projected, self.weight_hh, h, c, *([] if self.bias_hh is None else [self.bias_hh])]
        if not all(isinstance(t, Tensor) and isinstance(t._value, np.ndarray) for t in given):
            return None
        x, w, *values = [t._value for t in given]
        if x.dtype.char not in "fd" or any(v.dtype != x.dtype for v in (w, *values)):
            return None
        if any(v.shape != (x.shape[1], self.hidden_size) for v in values[:2]) or not len(x) or x.shape[1] * w.size > LARGE_STEP:
            return None
        x = projected if self.bias_hh is None else projected + self.bias_hh
        x = manipulation.flip(x, 0) if reverse else x
        hs, cs, _ = ops.op("lstm_sequence", X=x, Weight=self.weight_hh, State=h, Cell=c)
        outputs = manipulation.flip(hs[1:], 0) if reverse else hs[1:]
        return outputs, (hs[-1], cs[-1])


LARGE_STEP = 1 << 24
"""Multiplications of a step for which its product is shared by threads."""


def _two(states: Any) -> Any:
    if isinstance(states, Tensor) or len(states) != 2:
        raise ShapeError(f"LSTMCell: the states must be a pair (h, c), got {nest.shape_of(states)}",
                         location=user_location())  # fmt: skip
    return states


class GRUCell(_GateCell):
    """r, z, n = W_ih x + b_ih and r', z', n' = W_hh h + b_hh;  c = tanh(n + sigmoid(r + r') * n');
    h' = sigmoid(z + z') * (h - c) + c.

    Returns:
        h' [batch, hidden_size], twice: the output and the state.

    >>> from dy2st import zeros
    >>> y, h = GRUCell(3, 4)(zeros([2, 3]))
    >>> y.shape
    [2, 4]
    """

    gates = 3

    def __init__(self, input_size: int, hidden_size: int, weight_ih_attr: Any = None, weight_hh_attr: Any = None,
                 bias_ih_attr: Any = None, bias_hh_attr: Any = None, name: str | None = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)

    def step(self, projected: Tensor, states: Any) -> tuple[Tensor, Any]:
        hidden = self._from_hidden(states)
        if _fit_together(projected, hidden, states, self.gates):
            h, _ = ops.op("gru_gates", X=projected, Hidden=hidden, State=states)
            return h, h
        r, z, n = manipulation.split(projected, 3, -1)
        hidden_r, hidden_z, hidden_n = manipulation.split(hidden, 3, -1)
        c = F.tanh(n + F.sigmoid(r + hidden_r) * hidden_n)
        h = F.sigmoid(z + hidden_z) * (states - c) + c
        return h, h
