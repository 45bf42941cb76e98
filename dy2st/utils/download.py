"""Files that PaddlePaddle downloads. dy2st does not use the network: it takes those that are there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import urlsplit

from ..errors import AttributeValueError
from ..missing_names import explain_missing as _explain_missing

WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")
"""Where PaddlePaddle keeps weights."""


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The path of weights that are in PaddlePaddle's cache folder (`~/.cache/paddle/hapi/weights`).

    Args:
        url: where they come from; the end of it is the name of the file.
        md5sum: of the file; None: it is not checked.

    Raises:
        FileNotFoundError: the file is not there. Download it yourself, and put it there.
        AttributeValueError: it is another file, by its checksum.

    Example:
        >>> get_weights_path_from_url("https://example.com/net.pdparams")  # doctest: +SKIP
        '/home/me/.cache/paddle/hapi/weights/net.pdparams'
    """
    path = Path(WEIGHTS_HOME) / Path(urlsplit(url).path).name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there, and dy2st does not use the network; download it from {url}")
    if md5sum is not None:
        found = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
        if found != md5sum:
            raise AttributeValueError(f"{path} has the MD5 sum {found}, not {md5sum}", hint=f"download it again from {url}")
    return str(path)


_explain_missing(__name__)
