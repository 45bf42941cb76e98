"""Recurrent networks over sequences.

The loop over time is a `for` over a tensor; this module is converted where a static function uses it, like users' code. So there is one
`while_loop` in the Program, whatever the length, and a cell of the user's own is converted with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime import dims

from ..errors import AttributeValueError, ShapeError, StructureError
from ..framework import nest
from ..tensor import Tensor, logic, manipulation
from ..tensor.attribute import size_of
from ..tensor.failures import require_sizes
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor
from . import functional as F
from .container import LayerList
from .layer import Layer
from .rnn_cells import GRUCell, LSTMCell, SimpleRNNCell


def _scan(step: Callable[..., Any], inputs: Any, states: Any, valid: Tensor | None, reverse: bool, options: dict) -> Any:
    """Applies a step along time.

    Args:
        step: (input of one step, states) → (output, states).
        inputs: Tensor [time, batch, ...], or a structure of such.
        valid: bool Tensor [time, batch]: where not, the states stay; or None.
        reverse: begin at the end. The outputs are in the order of the inputs.
        options: keyword arguments of each step.

    Returns:
        the outputs, stacked: [time, batch, ...]; the last states.
    """
    leaves = nest.flatten(inputs)
    if valid is not None:
        leaves = [*leaves, valid]
    outputs = []
    for items in zip(*(reversed(x) if reverse else x for x in leaves), strict=False):
        output, new = step(nest.pack(inputs, iter(items)), states, **options)
        states = new if valid is None else _where_valid(items[-1], new, states)
        outputs.append(_one_tensor(output))
    stacked = manipulation.stack(outputs)
    return (manipulation.flip(stacked, 0) if reverse else stacked), states


def _where_valid(valid: Tensor, new: Any, old: Any) -> Any:
    """The new states for the samples that are valid, the old ones for the others."""
    kept = []
    for a, b in zip(nest.flatten(new), nest.flatten(old), strict=True):
        kept.append(logic.where(_over(valid, a.ndim), a, b))
    return nest.pack(new, iter(kept))


def _over(valid: Tensor, rank: int) -> Tensor:
    """[..., batch] with axes behind, so that it broadcasts with states and outputs."""
    return manipulation.reshape(valid, [*valid.shape, *[1] * (rank - valid.ndim)])


def _one_tensor(output: Any) -> Tensor:
    if not isinstance(output, Tensor):
        raise StructureError(f"the output of a recurrent cell must be one tensor, got {nest.shape_of(output)}",
                             location=user_location(), hint="join the parts with concat, or loop over time yourself")  # fmt: skip
    return output


def _swapped(structure: Any) -> Any:
    """The first two axes of each tensor swapped."""
    return nest.pack(structure, (manipulation.swapaxes(as_tensor(x), 0, 1) for x in nest.flatten(structure)))


def _valid(sequence_length: Any, inputs: Tensor) -> Tensor | None:
    """bool [time, batch]: which steps belong to the sequences.

    Raises:
        ShapeError: there is not one length for each sequence.
    """
    if sequence_length is None:
        return None
    lengths = as_tensor(sequence_length)

    def message() -> str:
        return (f"sequence_length must have the shape {dims.show([inputs._form.shape[1]])}, one length for each sequence, "
                f"got {dims.show(lengths._form.shape)}")  # fmt: skip

    require_sizes(lengths.ndim == 1, message)
    require_sizes(size_of(lengths, 0) == size_of(inputs, 1), message)
    return manipulation.swapaxes(F.sequence_mask(lengths, inputs.shape[0], "bool"), 0, 1)


def rnn(cell: Any, inputs: Any, initial_states: Any = None, sequence_length: Any = None, time_major: bool = False,
        is_reverse: bool = False, **kwargs: Any) -> tuple[Tensor, Any]:  # fmt: skip
    """Applies a cell along time; see `RNN`."""
    major = inputs if time_major else _swapped(inputs)
    first = as_tensor(nest.flatten(major)[0])
    if initial_states is None:
        initial_states = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=1 if time_major else 0)
    valid = _valid(sequence_length, first)
    outputs, states = _scan(cell, major, initial_states, valid, is_reverse, kwargs)
    return (outputs if time_major else _swapped(outputs)), states


def birnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_states: Any = None, sequence_length: Any = None,
          time_major: bool = False, **kwargs: Any) -> tuple[Tensor, tuple[Any, Any]]:  # fmt: skip
    """Applies one cell forwards and another backwards along time; see `BiRNN`."""
    states_fw, states_bw = (None, None) if initial_states is None else initial_states
    forwards, final_fw = rnn(cell_fw, inputs, states_fw, sequence_length, time_major, False, **kwargs)
    backwards, final_bw = rnn(cell_bw, inputs, states_bw, sequence_length, time_major, True, **kwargs)
    return manipulation.concat([forwards, backwards], -1), (final_fw, final_bw)


class RNN(Layer):
    """Applies a cell along time: [batch, time, ...] → [batch, time, ...], and the last states.

    Args:
        cell: called as `cell(inputs, states)` for each step; gives one tensor and the new states.
        is_reverse: from the end to the beginning.
        time_major: inputs and outputs are [time, batch, ...].

    Called with the inputs, and optionally initial_states (default: the zeros of `cell.get_initial_states`) and
    sequence_length: integers [batch]; beyond its length the states of a sequence stay. Further keyword arguments go to the cell.

    Raises:
        StructureError: the cell's output is not one tensor.

    >>> from dy2st import nn, zeros
    >>> y, (h, c) = RNN(nn.LSTMCell(3, 4))(zeros([2, 5, 3]))
    >>> y.shape, h.shape
    ([2, 5, 4], [2, 4])
    """

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any) -> Any:
        return rnn(self.cell, inputs, initial_states, sequence_length, self.time_major, self.is_reverse, **kwargs)


class BiRNN(Layer):
    """Applies one cell forwards and one backwards along time; the outputs are joined on the last axis.

    Args:
        cell_fw, cell_bw: see `RNN`.
        time_major: inputs and outputs are [time, batch, ...].

    Called as `RNN`; the states, initial and last, are pairs (forward, backward).

    >>> from dy2st import nn, zeros
    >>> y, (forward, backward) = BiRNN(nn.GRUCell(3, 4), nn.GRUCell(3, 4))(zeros([2, 5, 3]))
    >>> y.shape, backward.shape
    ([2, 5, 8], [2, 4])
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any) -> Any:
        return birnn(self.cell_fw, self.cell_bw, inputs, initial_states, sequence_length, self.time_major, **kwargs)


class _Recurrent(LayerList):
    """Several layers of cells, in one or both directions; what the inputs give to the gates is one product for all steps.

    The parameters are there under two names, as in PaddlePaddle's files: those of the cells (`0.cell.weight_ih`), and `weight_ih_l0`,
    `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, with `_reverse` for the backward direction.
    """

    parts = 1  # tensors in a state

    def __init__(self, make_cell: Callable[[int], Any], input_size: int, hidden_size: int, num_layers: int, direction: str,
                 time_major: bool, dropout: float) -> None:  # fmt: skip
        super().__init__()
        kind = type(self).__name__
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise AttributeValueError(f"{kind}: the direction {direction!r} is unknown", hint="use 'forward' or 'bidirect'")
        if num_layers < 1:
            raise AttributeValueError(f"{kind}: num_layers must be positive, got {num_layers}")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major, self.dropout = time_major, dropout
        size = input_size
        for _ in range(num_layers):
            cells = [make_cell(size) for _ in range(self.num_directions)]
            self.append(RNN(cells[0], False, time_major) if len(cells) == 1 else BiRNN(cells[0], cells[1], time_major))
            size = (cells[0].proj_size or hidden_size) * self.num_directions
        for i in range(num_layers):
            for cell, suffix in zip(self._cells(i), ("", "_reverse"), strict=False):
                for name, parameter in cell._parameters.items():
                    if parameter is not None:
                        setattr(self, f"{name}_l{i}{suffix}", parameter)

    def _cells(self, i: int) -> list[Any]:
        layer = self[i]
        return [layer.cell] if isinstance(layer, RNN) else [layer.cell_fw, layer.cell_bw]

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None) -> Any:
        x = as_tensor(inputs)
        if x.ndim != 3 or x._form.shape[2] not in (-1, self.input_size):
            order = "time, batch" if self.time_major else "batch, time"
            raise ShapeError(f"{type(self).__name__} takes inputs of shape [{order}, {self.input_size}], got "
                             f"{dims.show(x._form.shape)}", location=user_location())  # fmt: skip
        if not self.time_major:
            x = manipulation.swapaxes(x, 0, 1)
        valid = _valid(sequence_length, x)
        initial = self._split(initial_states, x)
        last: list[Any] = []
        for i in range(self.num_layers):
            if i > 0:
                x = F.dropout(x, self.dropout, training=self.training)
            outputs: list[Tensor] = []
            for cell in self._cells(i):
                projected, states, reverse = cell.project(x), initial[len(last)], len(outputs) == 1
                whole = cell.over_time(projected, states, reverse) if valid is None else None
                if whole is None:
                    whole = _scan(cell.step, projected, states, valid, reverse, {})
                output, states = whole
                outputs.append(output)
                last.append(states)
            x = outputs[0] if len(outputs) == 1 else manipulation.concat(outputs, -1)
        if valid is not None:
            x = logic.where(_over(valid, 3), x, 0.0)
        return (x if self.time_major else manipulation.swapaxes(x, 0, 1)), self._joined(last)

    def _split(self, initial_states: Any, x: Tensor) -> list[Any]:
        """The states of each cell: from [layers * directions, batch, hidden] (for an LSTM a pair of such), or zeros.

        Raises:
            ShapeError: the states have another shape.
        """
        count = self.num_layers * self.num_directions
        if initial_states is None:
            return [self._cells(0)[0].get_initial_states(x, batch_dim_idx=1)] * count
        given = [initial_states] if isinstance(initial_states, Tensor) else list(initial_states)
        if len(given) != self.parts:
            raise ShapeError(f"{type(self).__name__} takes {self.parts} initial states, got {len(given)}",
                             location=user_location())  # fmt: skip
        for state in given:

            def message(state: Tensor = state) -> str:
                wanted = dims.show([count, x._form.shape[1]])[:-1]
                return (f"{type(self).__name__}: the initial states must have the shape {wanted}, hidden], "
                        f"got {dims.show(state._form.shape)}")  # fmt: skip

            require_sizes(state.ndim == 3, message)
            require_sizes(size_of(state, 0) == count, message)
            require_sizes(size_of(state, 1) == size_of(x, 1), message)
        split = [manipulation.unstack(state, 0, count) for state in given]
        return [each[0] if self.parts == 1 else each for each in zip(*split, strict=True)]

    def _joined(self, last: list[Any]) -> Any:
        if self.parts == 1:
            return manipulation.stack(last)
        return tuple(manipulation.stack([states[k] for states in last]) for k in range(self.parts))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, default in (("num_layers", 1), ("time_major", False), ("dropout", 0)):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


class SimpleRNN(_Recurrent):
    """Layers of `SimpleRNNCell`: [batch, time, input_size] → [batch, time, directions * hidden_size].

    Args:
        input_size, hidden_size, num_layers: sizes.
        direction: "forward" or "bidirect": forwards and backwards, the outputs joined.
        time_major: inputs and outputs are [time, batch, ...].
        dropout: the probability of zero between layers, in training.
        activation: "tanh" or "relu".
        weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr: see `ParamAttr`; False for a bias: none.

    Called with the inputs, and optionally initial_states [layers * directions, batch, hidden_size] and
    sequence_length: integers [batch]. Beyond its length the outputs of a sequence are 0 and its states stay.

    Returns:
        the outputs and the last states [layers * directions, batch, hidden_size].

    Raises:
        ShapeError: inputs, states or lengths do not fit.

    >>> from dy2st import zeros
    >>> y, h = SimpleRNN(3, 4, num_layers=2)(zeros([2, 5, 3]))
    >>> y.shape, h.shape
    ([2, 5, 4], [2, 2, 4])
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, direction: str = "forward",
                 time_major: bool = False, dropout: float = 0.0, activation: str = "tanh", weight_ih_attr: Any = None,
                 weight_hh_attr: Any = None, bias_ih_attr: Any = None, bias_hh_attr: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(lambda size: SimpleRNNCell(size, hidden_size, activation, *attrs), input_size, hidden_size,
                         num_layers, direction, time_major, dropout)  # fmt: skip


class LSTM(_Recurrent):
    """Layers of `LSTMCell`; arguments as for `SimpleRNN`. The states are pairs (h, c), each [layers * directions, batch, hidden_size].

    Args:
        proj_size: if not 0, the outputs are projected to this size.

    >>> from dy2st import zeros
    >>> y, (h, c) = LSTM(3, 4, direction="bidirect")(zeros([2, 5, 3]))
    >>> y.shape, c.shape
    ([2, 5, 8], [2, 2, 4])
    """

    parts = 2

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, direction: str = "forward",
                 time_major: bool = False, dropout: float = 0.0, weight_ih_attr: Any = None, weight_hh_attr: Any = None,
                 bias_ih_attr: Any = None, bias_hh_attr: Any = None, proj_size: int = 0,
                 name: str | None = None) -> None:  # fmt: skip
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(lambda size: LSTMCell(size, hidden_size, *attrs, proj_size), input_size, hidden_size,
                         num_layers, direction, time_major, dropout)  # fmt: skip


class GRU(_Recurrent):
    """Layers of `GRUCell`; arguments as for `SimpleRNN`.

    >>> from dy2st import zeros
    >>> y, h = GRU(3, 4, time_major=True)(zeros([5, 2, 3]))
    >>> y.shape, h.shape
    ([5, 2, 4], [1, 2, 4])
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, direction: str = "forward",
                 time_major: bool = False, dropout: float = 0.0, weight_ih_attr: Any = None, weight_hh_attr: Any = None,
                 bias_ih_attr: Any = None, bias_hh_attr: Any = None, name: str | None = None) -> None:  # fmt: skip
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(lambda size: GRUCell(size, hidden_size, *attrs), input_size, hidden_size,
                         num_layers, direction, time_major, dropout)  # fmt: skip
