"""The memory layout that kernels, driver and executor share. All fields are int64.

Descriptor of a tensor: DATA address of the elements · STATE 1 present, 0 absent · BUFFER address of the buffer it owns · DIMS sizes,
1 beyond its rank.

Descriptor of a TensorArray: DATA address of the entries' bytes, one entry after the other · ENTRIES address of the table
with, for each entry, its offset in bytes and its sizes · LENGTH number of entries · USED bytes in use · BUFFER and TABLE the
buffers that it owns for data and table. An array whose DATA is not the address of its own buffer shows another's entries
and copies them before it changes.

Buffer: address of the memory · capacity in bytes (-1: memory that is not ours, fixed in size).
"""

DATA = 0
STATE = 1
BUFFER = 2
TABLE = 3
DIMS = 4
MAX_RANK = 8
FEW_DIMS = 4  # what most tensors have at most; kernels of any of these ranks are one where the rank does not matter
DESCRIPTOR_WORDS = DIMS + MAX_RANK

# of an array, in the place of the sizes
LENGTH = DIMS
USED = DIMS + 1
ENTRIES = DIMS + 2

# before the argument record of a kernel, at negative places: the verdict of bounds checks; of a kernel that returned DIVIDE the number
# of iterations, the work of one, 1 if they are neighbours in memory, and how many chunks there should be for each thread; the address of
# what is known of signals (`signals`)
VERDICT, ITERATIONS, WORK, FLAT, CHUNKS, SIGNALS = -1, -2, -3, -4, -5, -6
RECORD_HEAD = 6

BUFFER_ADDRESS = 0
BUFFER_CAPACITY = 1
BUFFER_WORDS = 2

# rows or columns of a part of a matrix product
PRODUCT_PART = 32

# what a kernel returns; DIVIDE: nothing is done yet but the shapes, call it again for parts of its iterations; INTERRUPTED: the handler of
# a signal has raised something
OK = 0
FAILED = 1
NO_MEMORY = 2
OUT_OF_BOUNDS = 3
TOO_DEEP = 4
DIVIDE = 5
INTERRUPTED = 6

# how the driver ended: this, or what a kernel returned. READY: it has not begun. THREADS: there is work to share and no thread yet
DONE = 0
HOST = 16
SUSPENDED = 17
READY = 18
THREADS = 19

# instructions of the driver: operation and up to four operands
INSTRUCTION_WORDS = 5
HALT, CALL, JUMP, JUMP_IF_FALSE, SHARE, MOVE, MARK_ABSENT, JUMP_IF_ABSENT, FAIL_IF_ABSENT, CALL_HOST, SUSPEND, ENTER, LEAVE = range(
    13
)
INSTRUCTION_NAMES = ("halt", "call", "jump", "jump_if_false", "share", "move", "mark_absent", "jump_if_absent",
                     "fail_if_absent", "call_host", "suspend", "enter", "leave")  # fmt: skip

# argument record of the driver: address of the code; the instruction to start at, then the one that it has come to, and how it ended;
# calls of functions inside each other now and at most; the stack of words, a buffer, and the words in use; the stack of slots, each a
# buffer; the address of the notes of a profiled run; the addresses of the threads' state (`threads`) and of what is known of signals;
# when it looked last
CODE, START, STATUS, DEPTH, DEPTH_LIMIT, WORDS, WORDS_USED, SLOTS, SLOTS_USED, NOTES, POOL, SIGNAL_WORDS, SEEN = (
    0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 13, 14)  # fmt: skip
DRIVER_WORDS = 15

# notes: address of two words for each instruction, how often it launched and the nanoseconds; address of three words for each launch,
# its instruction, begin and end; how many launches are noted there, and how many there is room for
NOTE_TOTALS, NOTE_EVENTS, NOTE_COUNT, NOTE_ROOM = range(4)
NOTE_WORDS = 4
