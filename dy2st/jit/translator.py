"""`ProgramTranslator`: the older interface to static functions."""

from __future__ import annotations

import os
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from dy2st_runtime.formats import save_inference_folder
from dy2st_runtime.ir import IRBuilder, Program, Variable
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.fill import assign_value_attrs

from ..convert.calls.calls import convert_function
from ..errors import FetchError
from ..tensor import Tensor, dispatch
from . import static_function
from .concrete import ConcreteProgram
from .saving import for_inference
from .signature import Arguments
from .static_function import StaticFunction


class ProgramTranslator:
    """Turns functions static, and saves the last one that was called. There is one in a process.

    >>> ProgramTranslator() is ProgramTranslator()
    True
    """

    _instance: ProgramTranslator | None = None
    _functions: weakref.WeakKeyDictionary[Any, StaticFunction]

    def __new__(cls) -> ProgramTranslator:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance._functions = weakref.WeakKeyDictionary()
        return cls._instance

    @classmethod
    def get_instance(cls) -> ProgramTranslator:
        """The one translator."""
        return cls()

    def enable(self, enable_to_static: bool = True) -> None:
        """False: decorated functions run as they are, in eager mode."""
        static_function.enable_to_static(enable_to_static)

    @property
    def enable_to_static(self) -> bool:
        """Whether decorated functions are traced."""
        return static_function.is_enabled()

    def get_output(self, dygraph_func: Callable, *args: Any, **kwargs: Any) -> Any:
        """Calls the function statically; eagerly, if the translator is disabled."""
        return self._static(dygraph_func)(*args, **kwargs)

    def get_func(self, dygraph_func: Callable) -> Callable:
        """The converted function: called while a program is built or traced, it writes ops."""
        static = self._static(dygraph_func)
        if not static_function.is_enabled():
            return static.original
        converted = convert_function(static.raw).fn
        return converted if static.instance is None else types.MethodType(converted, static.instance)

    def get_program(self, dygraph_func: Callable, *args: Any, **kwargs: Any
                    ) -> tuple[Program, Program, list[Variable], list[Variable | Tensor]]:  # fmt: skip
        """The program for these arguments, without running it.

        Returns:
            the main program, a startup program that sets its parameters to their present values, the inputs and the
            outputs.
        """
        static = self._static(dygraph_func)
        concrete = static.find(Arguments(static.parameters, args, kwargs, static.__name__))
        return concrete.program, startup_program(concrete), concrete.inputs, concrete.outputs

    def get_code(self, dygraph_func: Callable) -> str:
        """The transformed source."""
        return self._static(dygraph_func).code

    def get_program_cache(self) -> list[ConcreteProgram]:
        """All traces of the functions that were given to this translator."""
        return [c for f in self._functions.values() for c in f.concrete_programs]

    def save_inference_model(self, dirname: str | os.PathLike[str], feed: Sequence[int] | None = None,
                             fetch: Sequence[int] | None = None) -> list[str]:  # fmt: skip
        """Writes the program of the static function called last as an inference model: a folder with `__model__` and a
        file for each parameter.

        Args:
            dirname: the folder; it is created.
            feed, fetch: positions of the inputs and outputs to keep; default: all.

        Returns:
            the names of the outputs.

        Raises:
            FetchError: no static function was called yet.
        """
        concrete = static_function.last_called()
        if concrete is None:
            raise FetchError("no static function was called yet", hint="call the model once, then save it")
        program, feeds, fetches, params = for_inference(concrete, feed, fetch)
        save_inference_folder(dirname, program, feeds, fetches, params, draws=fetch is None)
        return fetches

    def reset(self) -> None:
        """Forgets all functions, and enables the translator."""
        self._functions.clear()
        static_function.enable_to_static(True)

    def _static(self, function: Any) -> StaticFunction:
        if isinstance(function, StaticFunction):
            return function
        if isinstance(function, types.MethodType):
            plain = self._functions.get(function.__func__)
            if plain is None:
                plain = self._functions[function.__func__] = StaticFunction(function.__func__)
            return plain.__get__(function.__self__)
        forward = getattr(function, "forward", None)
        if forward is not None:
            return self._static(forward)
        found = self._functions.get(function)
        if found is None:
            found = self._functions[function] = StaticFunction(function)
        return found


def startup_program(concrete: ConcreteProgram) -> Program:
    """A program that gives the persistable variables of a trace the values that its tensors have now."""
    program = Program()
    block = program.global_block()
    with dispatch.eager():
        for c in concrete.captured:
            v = c.variable
            block.create_var(v.name, v.dtype, v.shape, persistable=True, is_parameter=v.is_parameter)
            builder = IRBuilder(block)
            record = registry.get("assign_value")
            builder.apply(record, (), record.complete_attrs(assign_value_attrs(c.now().numpy())), {"Out": [v.name]})
    return program
