import doctest
import random
import sys

import numpy as np
import pytest
from PIL import Image, ImageEnhance

import dy2st as paddle
from dy2st.errors import AttributeValueError, DTypeError
from dy2st.vision import transforms as T
from dy2st.vision.transforms import images

PIXELS = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


def three_kinds():
    """The same pixels as a PIL image, an array and a tensor."""
    return Image.fromarray(PIXELS), PIXELS.copy(), paddle.to_tensor(PIXELS.transpose(2, 0, 1).astype("float32"))


def pixels(image):
    """Those of any kind, (H, W, C)."""
    return image.numpy().transpose(1, 2, 0) if isinstance(image, paddle.Tensor) else np.asarray(image)


@pytest.mark.parametrize("image", three_kinds(), ids=["pil", "array", "tensor"])
@pytest.mark.parametrize(("transform", "expected"), [
    (T.hflip, PIXELS[:, ::-1]),
    (T.vflip, PIXELS[::-1]),
    (lambda image: T.crop(image, 1, 2, 2, 3), PIXELS[1:3, 2:5]),
    (T.CenterCrop((2, 4)), PIXELS[1:3, 1:5]),
    (T.RandomCrop((4, 6)), PIXELS),
    (T.RandomHorizontalFlip(1.0), PIXELS[:, ::-1]),
    (T.RandomVerticalFlip(0.0), PIXELS),
    (T.Resize(4), PIXELS),
    (T.Resize((2, 3), "nearest"), {"pil": PIXELS[1::2, 1::2], "array": PIXELS[::2, ::2], "tensor": PIXELS[::2, ::2]}),
    (T.Pad((1, 2)), np.pad(PIXELS, [(2, 2), (1, 1), (0, 0)])),
    (T.Pad([1, 2, 0, 1], padding_mode="reflect"), np.pad(PIXELS, [(2, 1), (1, 0), (0, 0)], "reflect")),
    (T.Pad(1, padding_mode="edge"), np.pad(PIXELS, [(1, 1), (1, 1), (0, 0)], "edge")),
])  # fmt: skip
def test_all_kinds_are_alike(request, image, transform, expected):
    if isinstance(expected, dict):
        expected = expected[request.node.callspec.id.split("-")[-1]]
    out = transform(image)
    assert type(out) is type(image) or (isinstance(image, Image.Image) and isinstance(out, Image.Image))
    np.testing.assert_array_equal(pixels(out), expected)


def test_tensors():
    for image in three_kinds()[:2]:
        out = T.ToTensor()(image)
        assert out.dtype == paddle.float32
        np.testing.assert_array_equal(out.numpy(), PIXELS.transpose(2, 0, 1) / np.float32(255))
    assert T.to_tensor(PIXELS[:, :, 0], "HWC").shape == [4, 6, 1]
    assert T.to_tensor(Image.fromarray(PIXELS).convert("1")).numpy().max() <= 1
    assert T.to_tensor(PIXELS.astype("float64")).numpy().max() == 71


def test_normalize():
    expected = (PIXELS.astype("float32") - np.float32([1, 2, 3])) / np.float32([4, 5, 6])
    pil, array, tensor = three_kinds()
    for image in (pil, array):
        np.testing.assert_array_equal(T.Normalize([1, 2, 3], [4, 5, 6], "HWC")(image), expected)
    np.testing.assert_allclose(pixels(T.normalize(tensor, [1, 2, 3], [4, 5, 6])), expected, rtol=1e-6)
    np.testing.assert_array_equal(T.normalize(array, [0.0] * 3, [1.0] * 3, "HWC", to_rgb=True), PIXELS[:, :, ::-1])


def test_static_and_gradients():
    tensor = three_kinds()[2]
    transform = T.Compose([T.CenterCrop(4), T.Pad(1), T.Normalize(1.0, 2.0), T.hflip])
    np.testing.assert_array_equal(paddle.jit.to_static(lambda x: transform(x))(tensor).numpy(), transform(tensor).numpy())
    tensor.stop_gradient = False
    transform(tensor).sum().backward()
    assert tensor.grad.numpy().sum() == 3 * 4 * 4 / 2


# of OpenCV 5.0
@pytest.mark.parametrize(("interpolation", "expected"), [
    ("nearest", [[0, 0, 0, 40, 40], [80, 80, 80, 200, 200]]),
    ("bilinear", [[0, 4, 20, 36, 40], [80, 92, 140, 188, 200]]),
    ("bicubic", [[-4.41, 3.28, 20, 36.72, 44.41], [66.77, 89.84, 140, 190.16, 213.23]]),
])  # fmt: skip
def test_resized_arrays(interpolation, expected):
    array = np.array([[0, 40], [80, 200]], "float32")
    np.testing.assert_allclose(T.resize(array, (2, 5), interpolation), expected, rtol=1e-5)
    assert T.resize(PIXELS, (3, 5), interpolation).dtype == np.uint8


def test_gray():
    pil, array, tensor = three_kinds()
    gray = np.asarray(pil.convert("L"))
    np.testing.assert_array_equal(T.Grayscale()(pil), gray)
    np.testing.assert_array_equal(T.to_grayscale(array, 3), np.repeat(gray[:, :, None], 3, 2))
    np.testing.assert_allclose(T.to_grayscale(tensor).numpy()[0], gray, atol=1)


def test_colors_of_pil_images_are_those_of_pillow():
    image = Image.fromarray(PIXELS)
    for function, enhance in ((T.adjust_brightness, ImageEnhance.Brightness), (T.adjust_contrast, ImageEnhance.Contrast),
                              (T.functional.adjust_saturation, ImageEnhance.Color)):  # fmt: skip
        assert function(image, 1.5) == enhance(image).enhance(1.5)
    red = Image.new("RGB", (1, 1), (255, 0, 0))
    assert T.adjust_hue(red, 0.335).getpixel((0, 0)) == (0, 255, 0)
    assert T.adjust_hue(red.convert("L"), 0.3).mode == "L"


def test_colors_of_arrays_and_tensors():
    np.testing.assert_array_equal(T.adjust_brightness(PIXELS, 5.0), np.minimum(PIXELS.astype(int) * 5, 255))
    np.testing.assert_array_equal(T.adjust_contrast(PIXELS, 0.5), ((PIXELS.astype(int) - 74) * 0.5 + 74).astype(np.uint8))
    values = np.float32([0.1, 0.5, 0.9]).reshape(3, 1, 1)
    tensor = paddle.to_tensor(values)
    gray = 0.2989 * 0.1 + 0.587 * 0.5 + 0.114 * 0.9
    np.testing.assert_allclose(T.adjust_brightness(tensor, 1.5).numpy(), np.minimum(values * 1.5, 1), rtol=1e-6)
    for function in (T.adjust_contrast, T.functional.adjust_saturation):
        np.testing.assert_allclose(function(tensor, 0.5).numpy(), 0.5 * values + 0.5 * gray, rtol=1e-6)


# by PaddlePaddle 3.3.1 from the seed
def test_jitter():
    random.seed(1)
    out = [T.ColorJitter(0.4, 0.4, 0.4, 0.3)(Image.new("RGB", (1, 1), (200, 100, 50))).getpixel((0, 0)) for _ in range(3)]
    assert out == [(206, 44, 128), (109, 166, 58), (157, 21, 85)]
    assert T.ColorJitter()(PIXELS) is PIXELS


# drawn by PaddlePaddle 3.3.1 from these seeds
def test_random_numbers_are_those_of_paddle():
    image = np.arange(100, dtype=np.uint8).reshape(10, 10, 1)
    random.seed(1)
    np.random.seed(1)
    drawn = [
        T.RandomCrop(3)(image)[0, 0, 0],
        T.RandomResizedCrop(2, interpolation="nearest")(image)[:, :, 0].tolist(),
        np.flatnonzero(T.RandomErasing(1.0, value=255)(image) == 255)[[0, -1]].tolist(),
    ]
    assert drawn == [21, [[20, 23], [50, 53]], [0, 1]]


def test_tuples_and_classes_of_yours():
    class Shift(T.BaseTransform):
        def _get_params(self, inputs):
            return len(inputs)

        def _apply_image(self, image):
            return image + self.params

        def _apply_mask(self, mask):
            return -mask

    assert Shift()(1) == 2
    assert Shift(["image", "mask"])((1, 2, "label")) == (4, -2, "label")
    with pytest.raises(NotImplementedError, match="no key 'depth'"):
        Shift(["depth"])


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: T.ToTensor()([1]), TypeError, "not list"),
    (lambda: T.to_tensor(np.zeros(3)), TypeError, "an array of 1 dimensions"),
    (lambda: T.resize(PIXELS, 2, "lanczos"), AttributeValueError, "interpolation='lanczos' of arrays"),
    (lambda: T.resize(PIXELS.astype("int64"), 2), DTypeError, "int64 are not resized"),
    (lambda: T.Resize("large"), TypeError, "the size is a number"),
    (lambda: T.RandomCrop(9)(PIXELS), AttributeValueError, "pad_if_needed"),
    (lambda: T.pad(PIXELS, (1, 2, 3)), AttributeValueError, "1, 2 or 4"),
    (lambda: T.RandomErasing(value=(1, 2)), AttributeValueError, "1 or 3"),
    (lambda: T.adjust_hue(PIXELS, 0.1), AttributeValueError, "hues of PIL images"),
    (lambda: T.HueTransform(0.7)(PIXELS), AttributeValueError, "between -0.5 and 0.5"),
    (lambda: T.adjust_brightness(paddle.ones([3, 2, 2], "int32"), 2), DTypeError, "has floats"),
    (lambda: T.BrightnessTransform((2, 1)), AttributeValueError, "the least and the largest"),
    (lambda: T.erase(Image.fromarray(PIXELS).convert("L"), 0, 0, 1, 1, 0), AttributeValueError, "the mode L"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert T.hflip(PIXELS).shape == (4, 6, 3)
    with pytest.raises(ImportError, match=r"dy2st\[vision\]"):
        images.pillow()


@pytest.mark.parametrize("name", ["geometry", "transforms"])
def test_examples(name):
    assert doctest.testmod(sys.modules[f"dy2st.vision.transforms.{name}"]).failed == 0
