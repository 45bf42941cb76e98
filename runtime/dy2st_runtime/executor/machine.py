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
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="static",
        codemodel="jitdefault",
        jit=True,
    )


@functools.cache
def machine() -> llvm.TargetMachine:
    """The machine that emits objects."""
    return new_machine()
