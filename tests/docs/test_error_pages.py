"""The examples of docs/reference/errors.md fail with the code that they stand for, their cures do not, and no code is left out."""

import linecache
import re
from pathlib import Path

import pytest

from dy2st import errors
from dy2st.errors import Dy2stError

TEXT = (Path(__file__).parent.parent.parent / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
SETUP = re.search(r"```python setup\n(.*?)```", TEXT, re.S).group(1)
PAGES = {m.group(1): (m.group(2), m.group(3)) for m in re.finditer(r"^## (D2S\d+) (\w+)\n(.*?)(?=^## |\Z)", TEXT, re.S | re.M)}


def blocks(kind):
    return [(code, block) for code, (_, body) in PAGES.items() for block in re.findall(rf"```python {kind}\n(.*?)```", body, re.S)]


def run(source, name):
    text = SETUP + source
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as a notebook does it
    exec(compile(text, name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(("code", "source"), blocks("fails"), ids=lambda v: v if len(v) < 9 else "")
def test_example_fails(code, source):
    with pytest.raises(Dy2stError) as caught:
        run(source, f"<{code} fails>")
    assert caught.value.code == code, str(caught.value)
    assert type(caught.value).__name__ == PAGES[code][0]


@pytest.mark.parametrize(("code", "source"), blocks("cure"), ids=lambda v: v if len(v) < 9 else "")
def test_cure_works(code, source):
    run(source, f"<{code} cure>")


def test_every_page_has_an_example_and_a_cure():
    assert {code for code, _ in blocks("fails")} == {code for code, _ in blocks("cure")} == set(PAGES)


def test_every_code_has_a_page():
    classes = {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Dy2stError)}
    from dy2st.transpiler import ConversionError

    codes = {c.code for c in (*classes, ConversionError)}
    assert codes - set(PAGES) == {"D2S000", "D2S010", "D2S015"}
    assert all(code in TEXT for code in codes)
