"""The memory layout that kernels, driver and executor share. All fields are int64.

Descriptor of a tensor: DATA address of the elements · STATE 1 present, 0 absent · BUFFER address of the buffer it owns ·
LENGTH (arrays: number of entries) · DIMS sizes. Buffer: address of the memory · capacity in bytes (-1: memory that is not ours,
fixed in size).
"""

DATA = 0
STATE = 1
BUFFER = 2
LENGTH = 3
DIMS = 4
MAX_RANK = 8
DESCRIPTOR_WORDS = DIMS + MAX_RANK

BUFFER_ADDRESS = 0
BUFFER_CAPACITY = 1
BUFFER_WORDS = 2

# what a kernel returns
OK = 0
FAILED = 1
NO_MEMORY = 2
OUT_OF_BOUNDS = 3

# what the driver returns in the low byte; the rest is the index of the instruction
DONE = 0
HOST = 16
SUSPENDED = 17
BUDGET = 18

# instructions of the driver: operation and up to four operands
INSTRUCTION_WORDS = 5
HALT, CALL, JUMP, JUMP_IF_FALSE, SHARE, SWAP, MARK_ABSENT, JUMP_IF_ABSENT, FAIL_IF_ABSENT, CALL_HOST, SUSPEND = range(11)
INSTRUCTION_NAMES = ("halt", "call", "jump", "jump_if_false", "share", "swap", "mark_absent", "jump_if_absent",
                     "fail_if_absent", "call_host", "suspend")  # fmt: skip
