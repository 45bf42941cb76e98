"""The machine that objects are made for: the processor of this process."""

from __future__ import annotations

import functools

from llvmlite import binding as llvm


def new_machine() -> llvm.TargetMachine:
    """A machine of one's own: LLVM's linker takes possession of the one it is given."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # static: position-independent objects share one global offset table in MCJIT, and all but the first would use a wrong one
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=_features(),
        opt=3,
        reloc="static",
        codemodel="jitdefault",
        jit=True,
    )


def _features() -> str:
    """What the processor has. Where it has vectors of 512 bits, loops use them, as the register tiles between them do: for some processors
    LLVM takes half of that, as such vectors may slow a core down, but beside tiles it is slowed down already."""
    found = llvm.get_host_cpu_features()
    return found.flatten() + (",-prefer-256-bit" if found.get("avx512f") else "")


@functools.cache
def machine() -> llvm.TargetMachine:
    """The machine that emits objects."""
    return new_machine()
