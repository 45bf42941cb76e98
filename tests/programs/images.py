"""Sizes of images that only the run knows: resized, pooled as a whole, padded."""

import dy2st as paddle
import dy2st.nn.functional as F


def image_of(x):
    return x.reshape([1, 1, x.shape[0], x.shape[1]])


def resized_to_a_tensor(x, n):
    image = image_of(x)
    return (
        F.interpolate(image, size=paddle.shape(image)[2:] * n),
        F.interpolate(image, size=[paddle.shape(image)[2] + n, 5], mode="bilinear"),
        F.interpolate(image, size=n, mode="nearest", align_corners=True),
    )


def resized_by_a_factor(x, factor):
    image = image_of(x)
    smooth = F.interpolate(image, scale_factor=factor, mode="bilinear", align_mode=1)
    return smooth, F.upsample(image, scale_factor=[2, factor]), smooth.shape[2]


def resized_to_each_other(x, y):
    a, b = image_of(x), image_of(y)
    merged = F.interpolate(a, size=b.shape[2:], mode="bilinear") * b
    return merged, F.interpolate(b, size=a.shape[2:], mode="bilinear", align_corners=True) + a


def resized_until_it_is_small(x, limit):
    image = image_of(x)
    while image.shape[3] > limit:
        image = F.interpolate(image, size=[image.shape[2] // 2 + 1, image.shape[3] // 2], mode="bilinear")
    return image


def resized_in_other_layouts(x, n):
    line = x.reshape([1, x.shape[0], x.shape[1]])
    volume = x.reshape([1, 1, 1, x.shape[0], x.shape[1]])
    last = x.reshape([1, x.shape[0], x.shape[1], 1])
    return (
        F.interpolate(line, size=n, mode="linear", data_format="NCL"),
        F.interpolate(volume, size=[2, n, n], mode="trilinear", data_format="NCDHW"),
        F.interpolate(last, size=[n, n], data_format="NHWC"),
    )


def pooled_as_a_whole(x, n):
    image = image_of(x)
    wide = F.interpolate(image, size=[image.shape[2] * n, image.shape[3]])
    return (
        F.avg_pool2d(image, image.shape[2:]),
        F.max_pool2d(wide, kernel_size=wide.shape[2:]),
        F.avg_pool2d(wide, (wide.shape[2], 1)),
        F.avg_pool2d(wide, [2, wide.shape[3]], stride=1),
        F.avg_pool2d(wide, wide.shape[2:], divisor_override=2),
    )


def padded_to_a_multiple(x, n):
    image = image_of(x)
    rows, cols = image.shape[2:]
    padded = F.pad(image, [0, (n - cols % n) % n, 0, (n - rows % n) % n])
    return padded, padded.shape[3], F.pad(image, [1, 0, n, 2], value=1.5)


def padded_by_a_tensor(x, n):
    image = image_of(x)
    return F.pad(image, paddle.stack([n, n * 0, n + 1, n]), value=-1.0)


def sampled_on_a_grid(x, y, n):
    image = image_of(x)
    turn = paddle.to_tensor([[[0.8, -0.3, 0.1], [0.2, 0.9, 0.0]]])
    wide = [1, 1, y.shape[0] * n, y.shape[1]]
    return (
        F.grid_sample(image, F.affine_grid(turn, image.shape)),
        F.grid_sample(image, F.affine_grid(turn, paddle.shape(image), align_corners=False), align_corners=False),
        F.grid_sample(image, F.affine_grid(turn, wide), mode="nearest", padding_mode="border"),
    )


def with_channels_last(x, n):
    """Computed on with channels first, and given back as they are written."""
    image = paddle.stack([x, x * 0.5, x - 1.0], axis=-1).unsqueeze(0)
    weight = paddle.full([3, 3, 3, 3], 0.1) * F.sigmoid(image.mean(axis=[1, 2])).reshape([3, 1, 1, 1])
    total = paddle.zeros([3])
    while n > 0:
        deeper = F.relu(F.conv2d(image, weight, weight[:, 0, 0, 0], padding=1, data_format="NHWC") + image)
        if deeper.mean() > 1.0:
            deeper = F.max_pool2d(deeper, 3, stride=1, padding=1, data_format="NHWC") * deeper.mean(axis=[1, 2], keepdim=True)
        elif deeper.max() < 0.5:
            return image, total
        total = total + deeper.sum(axis=[0, 1, 2])
        image = paddle.concat([deeper[..., :1], deeper[..., 1:] * 0.5], axis=-1)
        n = n - 1
    return image, total


SMALL = [[1.0, 2.0, -1.0], [0.5, 4.0, 3.0]]
WIDE = [[1.0, -2.0, 0.25, 5.0, 2.0], [3.0, 1.0, 0.5, -4.0, 1.5], [0.1, 0.2, 0.3, 0.4, 0.5]]

CASES = [
    (resized_to_a_tensor, [(SMALL, 2), (SMALL, 3), (WIDE, 1)], 2),
    (resized_by_a_factor, [(SMALL, 2), (WIDE, 3)], 2),
    (resized_to_each_other, [(SMALL, WIDE), (WIDE, SMALL), (WIDE, WIDE)], 2),
    (resized_until_it_is_small, [(WIDE, 2), (SMALL, 1), (SMALL, 5)], 2),
    (resized_in_other_layouts, [(SMALL, 2), (WIDE, 4)], 2),
    (pooled_as_a_whole, [(SMALL, 2), (WIDE, 1)], 2),
    (sampled_on_a_grid, [(SMALL, WIDE, 1), (WIDE, SMALL, 2), (SMALL, [[1.0]], 1)], 2),
    (padded_to_a_multiple, [(SMALL, 4), (WIDE, 2), (WIDE, 1)], 2),
    (padded_by_a_tensor, [(SMALL, 2), (WIDE, 0)], 2),
    (with_channels_last, [(SMALL, 2), (WIDE, 3), (SMALL, 0)], 2),
]
