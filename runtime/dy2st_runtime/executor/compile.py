"""Generated source → machine code in memory, by way of the cache.

Every kernel has the signature `int64(int64, int64, int64)`. It becomes an object file that refers to the outside by symbols only, so
that it can be kept on disk and linked into any process (`link`). Routines, the driver among them, are compiled in the same way.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np
from llvmlite import binding as llvm

from .. import forks
from ..errors import CompileError, CustomOpError
from . import machine
from .cache import ObjectCache
from .engines import Engine, current, require_for_custom
from .objects import OWN, ROUTINE, UncompiledCustom, compile_object
from .symbols import LINKING, provide
from .worker import Worker, is_possible, worthwhile

USUAL = ("differing_items", "driver", "product_float32", "dots_float32", "run_tiles_float32", "tiles_float32", "reserve", "serve")
"""Routines that nearly every model needs, in the order in which they are asked for. They are named, as a process with a filled cache does
not import `routines`."""
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
"""A routine on one address."""


def fingerprint(engine: Engine) -> str:
    """What a compiled object depends on besides its source: versions, CPU, flags, and who compiles it."""
    features = ",".join(k for k, v in sorted(llvm.get_host_cpu_features().items()) if v)
    parts = (llvmlite.__version__, np.__version__, llvm.get_host_cpu_name(), features,
             llvm.get_default_triple(), _library_hash(), engine.name, engine.depends_on())  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()


INLINED = (
    "array_entries", "arrays", "calls", "clock", "compile", "conv_depthwise", "conv_direct", "conv_pack", "conv_plans", "conv_spread",
    "convolution", "dots", "driver", "lines", "llvm_engine", "looking", "machine", "mathlib", "memory", "namespace", "native", "objects",
    "products", "routines", "runs", "scalars", "sharing", "symbols", "tiles", "values", "winograd", "words",
    "../codegen/layout", "../dtype", "../loopir/conv_plan", "../signals", "../threads",
)  # fmt: skip
"""The modules whose text counts in what is compiled. They are named, as who compiles nothing does not import them."""


def _library_hash() -> str:
    """The source of what kernels inline."""
    digest = hashlib.sha256()
    for name in INLINED:
        digest.update(Path(__file__).parent.joinpath(f"{name}.py").read_bytes())
    return digest.hexdigest()


def llvm_lock() -> Any:
    """What llvmlite holds during each call of LLVM."""
    return llvm.ffi.lib._lock


class Linker:
    """One LLVM engine for all kernels of the process."""

    def __init__(self) -> None:
        backing = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"')
        self.engine = llvm.create_mcjit_compiler(backing, machine.new_machine())

    def link(self, objects: dict[str, bytes]) -> dict[str, int]:
        """Adds object files, each defining the symbol of its key; returns the addresses."""
        for data in objects.values():
            self.engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self.engine.finalize_object()
        addresses = {symbol: self.engine.get_function_address(symbol) for symbol in objects}
        missing = [symbol for symbol, address in addresses.items() if not address]
        if missing:
            raise CompileError(f"the compiled object does not define {missing[0]}")
        return addresses


class KernelCompiler:
    """Compiles sources, each once per process; thread-safe.

    Attributes:
        compiled: how many sources were compiled in this process; loaded: how many came from the cache.
        took: the seconds of each of the former, by its symbol; 0 for one that its second process has compiled.
    """

    def __init__(self, cache: ObjectCache | None = None):
        self.cache = ObjectCache() if cache is None else cache
        self.compiled = 0
        self.loaded = 0
        self.seconds = 0.0
        self.took: dict[str, float] = {}
        self._addresses: dict[str, int] = {}
        self._lock = forks.reentrant_lock()
        self._linker: Linker | None = None
        self._worker: Worker | None = None
        self._ahead: set[str] = set()  # the kernels that it has been given before they were asked for
        self._routines: dict[str, int] = {}
        self._fingerprints: dict[str, str] = {}

    def symbol(self, source: str, engine: Engine | None = None) -> str:
        """What the machine code of a source is called: another name for each compiler."""
        return "k_" + hashlib.sha256((self.fingerprint(engine or current()) + source).encode()).hexdigest()[:32]

    def fingerprint(self, engine: Engine) -> str:
        """See `fingerprint`; computed once."""
        if engine.name not in self._fingerprints:
            self._fingerprints[engine.name] = fingerprint(engine)
        return self._fingerprints[engine.name]

    @contextlib.contextmanager
    def beginning(self, names: Sequence[str]) -> Iterator[None]:
        """Inside, a second process compiles these routines where they are not in the cache, as for the first program on a machine. It goes
        on with those that a block inside names, and with what `addresses` is asked for."""
        symbols = [(self.symbol(ROUTINE + name, OWN), ROUTINE + name) for name in names if name not in self._routines]
        missing = [one for one in symbols if self.cache.get(one[0]) is None]
        if self._worker is not None:
            self._worker.give(missing, OWN)  # it passes over what it has compiled before
        if self._worker is not None or not missing or not is_possible(self.cache):
            yield
            return
        assert self.cache.folder is not None
        OWN.load()  # so that a fork has it too
        with Worker(self.cache.folder.parent) as worker:
            worker.give(missing, OWN)
            self._worker = worker
            try:
                yield
            finally:
                self._worker = None
                self._ahead.clear()

    @property
    def takes_ahead(self) -> bool:
        """Whether a second process takes kernels that nobody has asked for yet."""
        return self._worker is not None

    def ahead(self, source: str, engine: Engine) -> None:
        """A kernel that `addresses` will be asked for: the second process begins with it, if there is one."""
        symbol, worker = self.symbol(source, engine), self._worker  # which another thread may end meanwhile
        if worker is not None and symbol not in self._ahead and symbol not in self._addresses:
            self._ahead.add(symbol)
            worker.give([(symbol, source)], engine)

    def addresses(self, sources: list[str], names: Sequence[str] = (), engine: Engine | None = None) -> list[int]:
        """The entry points of kernels given as source text with the function name `kernel`, then those of the routines named.

        Args:
            engine: who compiles the kernels; None: whom the switch names. Routines are in the language of our own compiler.

        Raises:
            UncompiledKernel, UncompiledCustom: something does not compile.
        """
        if not sources and (found := self.linked([], [], names)) is not None:
            return found
        from . import routines

        engine = engine or current()
        with self._lock:
            if self._linker is None:
                self._linker = Linker()
            symbols = [self.symbol(source, engine) for source in sources]
            wanted = {y: s for y, s in zip(symbols, sources, strict=True) if y not in self._addresses}
            called = routines.called(list(wanted.values()))
            custom = routines.custom(called)
            # what puts the results of custom kernels into buffers calls it
            called = [*(["reserve"] if custom else []), *(name for name in called if name not in custom)]
            needed = {name: self.symbol(ROUTINE + name, OWN) for name in [*called, *names] if name not in self._routines}
            # routines take long: they come first, while a second process starts
            tasks = {**{symbol: ROUTINE + name for name, symbol in needed.items()}, **wanted}
            objects = {symbol: data for symbol in tasks if (data := self.cache.get(symbol)) is not None}
            self.loaded += len(objects.keys() & wanted.keys())
            objects.update(self._compile([(y, s) for y, s in tasks.items() if y not in objects], engine))
            self._link(objects, called, needed, custom, list(wanted))
            return [*(self._addresses[y] for y in symbols), *(self._routines[name] for name in names)]

    def linked(self, symbols: Sequence[str], called: Sequence[str], names: Sequence[str]) -> list[int] | None:
        """As `addresses` of kernels that are known by their symbols, and call these routines; None if not all of that has been compiled."""
        with self._lock:
            if self._linker is None:
                self._linker = Linker()
            wanted = [symbol for symbol in dict.fromkeys(symbols) if symbol not in self._addresses]
            needed = {name: self.symbol(ROUTINE + name, OWN) for name in [*called, *names] if name not in self._routines}
            objects = {symbol: data for symbol in [*needed.values(), *wanted] if (data := self.cache.get(symbol)) is not None}
            if len(objects) < len(needed) + len(wanted):
                return None
            self.loaded += len(wanted)
            self._link(objects, called, needed, [], wanted)
            return [*(self._addresses[y] for y in symbols), *(self._routines[name] for name in names)]

    def _link(self, objects: dict[str, bytes], called: Sequence[str], needed: dict[str, str], custom: Sequence[str],
              wanted: Sequence[str]) -> None:  # fmt: skip
        """Adds kernels to the process, after the routines and custom kernels that they call."""
        assert self._linker is not None
        with LINKING:
            # the table of symbols is the process's, which may have several compilers, so addresses are given again, of what a routine
            # calls before it is linked itself
            for name in [*called, *needed]:
                if name not in self._routines:
                    self._routines[name] = self._linker.link({needed[name]: objects[needed[name]]})[needed[name]]
                provide(name, self._routines[name])
            if custom:
                # the ops and Numba take a second to import, which neither the second process nor who has no custom ops needs
                from ..ops.custom import SPECIALIZATIONS

                try:
                    require_for_custom(SPECIALIZATIONS[custom[0]].definition.name)
                except CustomOpError as error:
                    raise UncompiledCustom(custom[0], error) from None
                from .custom_kernels import address

                for name in custom:
                    provide(name, address(name))
            if wanted:
                self._addresses.update(self._linker.link({symbol: objects[symbol] for symbol in wanted}))

    def serving(self) -> Callable[[int], None]:
        """What a thread of the pool does (`threads`)."""
        (address,) = self.addresses([], ["serve"])
        return ENTRY(address)

    def _compile(self, kernels: list[tuple[str, str]], engine: Engine) -> dict[str, bytes]:
        """Compiles sources, with a second process at the other end of the list where that pays."""
        start = time.perf_counter()
        objects: dict[str, bytes] = {}
        with contextlib.ExitStack() as stack:
            routine = sum(source.startswith(ROUTINE) for _, source in kernels)
            worker = self._worker
            if worker is not None:
                # it is at the routines, and then at the kernels that it was given ahead, from the first one on: what it has in hand would
                # be done twice, so this process begins with the last one, and with the last of the routines when no kernel is left
                new = [*kernels[:routine], *(one for one in kernels[routine:] if one[0] not in self._ahead)]
                worker.give(new, engine)
                kernels = kernels[::-1]
            elif worthwhile(len(kernels) - routine, routine, self.cache, engine):
                assert self.cache.folder is not None
                engine.load()
                worker = stack.enter_context(Worker(self.cache.folder.parent))
                worker.give(kernels[::-1], engine)
            for symbol, source in kernels:
                data = self.cache.get(symbol)
                if data is None:
                    begun = time.perf_counter()
                    data = compile_object(source, symbol, engine)
                    self.took[symbol] = time.perf_counter() - begun
                    self.cache.put(symbol, data)
                else:
                    self.took[symbol] = 0.0
                objects[symbol] = data
        self.compiled += len(kernels) - routine
        self.seconds += time.perf_counter() - start
        return objects


_making = forks.lock()


@functools.cache
def _compiler() -> KernelCompiler:
    forks.between_calls(llvm_lock())
    return KernelCompiler()


def compiler() -> KernelCompiler:
    """The compiler of this process."""
    # threads that call a cached function for the first time at once would make one each; the code of all but one would be
    # unmapped with the compiler that nobody keeps
    with _making:
        return _compiler()
