"""The plan of a convolution: int64 words that `ops.conv_routines` reserves and `executor.conv_plans` fills, then a record for each phase.

A phase is a set of output pixels that see the same taps: all of them, or for the gradient in an image those with one remainder of the
strides. Its record ends with three tables of offsets, with an entry for each tap: into the filter, the frame and a packed panel.
"""

# images of the batch; groups of channels; channels of a group that are summed over; channels of an image in the frame; channels of a
# group that are produced
IMAGES, GROUPS, DEPTH, CHANNELS, ROWS = range(5)
# sizes of an image that goes into the frame; of a plane of the frame; elements of all planes of a channel
SOURCE_H, SOURCE_W, FRAME_H, FRAME_W, FRAME_AREA = range(5, 10)
# remainders of the strides that the frame keeps apart, down and across; strides of the frame in the image; zeros before the image
PHASE_H, PHASE_W, STEP_H, STEP_W, TOP, LEFT = range(10, 16)
# 0: the images are their own frame
FRAMED = 16
# steps in the filter: to the next row, channel of the sum, group
A_ROW, A_CHANNEL, A_GROUP = range(17, 20)
# steps in the output: channel, row, pixel
OUT_PLANE, OUT_ROW, OUT_COLUMN = range(20, 23)
# phases, and taps at most of each
PHASES, TAPS = 23, 24
# the windows over the image: its sizes, the width of the filter, strides, dilations, zeros before the image
HEIGHT, WIDTH, KERNEL_W, STRIDE_H, STRIDE_W, DILATION_H, DILATION_W, BEFORE_H, BEFORE_W = range(25, 34)

# what follows from these, see `executor.conv_plans`
# 1: the gradient is spread over the image (`executor.conv_spread`); 1: the columns of a task are packed
SPREAD, PACKED = 34, 35
# how the work of an image and group is cut: pixels that are summed one by one behind the others, panels of those (of vectors of LANES),
# spans of panels, blocks of rows
SINGLE, PANELS, LANES, SPANS, BLOCKS, BLOCK_ROWS = range(36, 42)
# tasks that fill the frame, elements of the frame, work of such a task in the unit of `parallel`
FRAME_TASKS, FRAME_ELEMENTS, FRAME_WORK = range(42, 45)
# tasks that multiply, work of one
TASKS, TASK_WORK = 45, 46
# 1: what is packed comes from the images themselves, and the zeros around them from nowhere
UNFRAMED = 47
# channels that one task copies into the frame, of the rows of one remainder
FRAME_PLANES = 48
# images of a task by the transforms of `executor.winograd`; 0: by plain sums
WINOGRAD = 49
# what plain sums cost for an image and group, in products of a vector
COST = 50
# 1: rows of the output are whole vectors, and panels end where they do: pixels are counted along them, not along those of the frame
ALIGNED = 51
# 1: a panel of columns that lie in the image as they are is copied before it is multiplied
COPIED = 52
# 1: neighbouring tasks have the same rows and other pixels; 0: the same pixels and other rows
BY_ROWS = 53
HEADER = 54

# record of a phase: rows and columns of its pixels, offset of the first in the output, its taps
PHASE_HEIGHT, PHASE_WIDTH, PHASE_BASE, PHASE_TAPS, PHASE_WORDS = range(5)

PLANES = 8
"""Channels that one task copies into the frame at most, or planes of a depthwise convolution."""

WINOGRAD_ROWS, WINOGRAD_VECTORS, WINOGRAD_CHANNELS = 64, 8, 64
"""Sums that `executor.winograd` has at a time, at most: of filters, of vectors of tiles; and channels between two visits of them."""

DIRECT_KERNELS, DIRECT_STRIDES = (3, 5), (1, 2)
"""Depthwise filters of these heights and widths, with these strides, need no plan (`executor.conv_direct`)."""
MAXIMA_KERNELS = (3,)
"""Maxima of windows of these heights and widths, with these strides, come straight from the image, too. Smaller ones do not
overlap, and are as fast by a loop for each row."""
