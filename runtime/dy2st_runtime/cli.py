"""The command line of the runtime: what somebody who deploys a model needs to look at it and to try it."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from . import dims
from .errors import AttributeValueError, Dy2stError, FeedError
from .formats import InferenceModel, load_inference_model, program_to_text
from .formats.opening import open_regular
from .formats.replacing import replacing
from .ir.program import Variable
from .ir.visit import all_ops
from .predictor import Predictor


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after an error, which is printed without a traceback."""
    args = _parser().parse_args(argv)
    with ended_by_its_reader():
        return _main(args)


@contextlib.contextmanager
def ended_by_its_reader() -> Iterator[None]:
    """A block that prints. If its reader ends before it, as `| head` does, so does the process, without an error."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        raise SystemExit(1) from None


def _main(args: argparse.Namespace) -> int:
    try:
        for name in args.modules:
            _import(name)
        model = load_inference_model(
            args.model, model_filename=args.model_filename, params_filename=args.params_filename
        )
        args.command(model, args)
    except BrokenPipeError:
        raise
    except (Dy2stError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dy2st_runtime", description="Run and inspect saved models.")
    commands = parser.add_subparsers(title="commands", required=True)
    run = _command(commands, "run", "run the model on arrays from a file and print the results", _run)
    run.add_argument("--feed", metavar="FILE.npz", help="arrays named as the inputs (default: zeros, open sizes are 1)")
    run.add_argument("--out", metavar="FILE.npz", help="where to store the results")
    run.add_argument("--repeat", type=int, default=1, metavar="N", help="run N times and print the time of a run")
    run.add_argument("--seed", type=int, metavar="N", help="where random numbers begin (default: others in each run of the command)")
    show = _command(commands, "show", "print the program", _show)
    show.add_argument("--proto", action="store_true", help="as PaddlePaddle's protobuf text")
    _command(commands, "info", "print inputs, outputs, parameters and ops", _print_info)
    return parser


def _command(commands: argparse._SubParsersAction, name: str, text: str, function: object) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("model", metavar="MODEL", help="prefix of the model's files, or a folder in the 1.x form")
    parser.add_argument("--model-filename", metavar="NAME", help="program file in a folder, if not __model__")
    parser.add_argument("--params-filename", metavar="NAME", help="combined parameter file, if not the usual one")
    parser.add_argument("--import", dest="modules", metavar="MODULE", action="append", default=[],
                        help="import this first: a module that defines the custom ops of the model")  # fmt: skip
    parser.set_defaults(command=function)
    return parser


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise AttributeValueError(f"--import {name}: {error}") from None


def _run(model: InferenceModel, args: argparse.Namespace) -> None:
    predictor = Predictor(model, seed=args.seed)
    block = model.program.global_block()
    feeds = _zeros([block.var(n) for n in model.feed_names]) if args.feed is None else _read(args.feed)
    results = predictor.run(feeds)
    if args.repeat > 1:
        start = time.perf_counter()
        for _ in range(args.repeat):
            results = predictor.run(feeds)
        print(f"{(time.perf_counter() - start) / args.repeat * 1e3:.3f} ms a run")
    for name, value in zip(model.fetch_names, results, strict=True):
        if isinstance(value, np.ndarray):
            print(f"{name}: {value.dtype.name}{dims.show(value.shape)}\n{value}")
        else:
            print(f"{name}: {value}")
    if args.out is not None:
        _write(args.out, dict(zip(model.fetch_names, results, strict=True)))


def _read(path: str) -> dict[str, np.ndarray]:
    try:
        with open_regular(path) as opened, np.load(opened, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, Dy2stError):
        raise
    except Exception as error:  # NumPy and zipfile raise whatever they stumble over
        raise FeedError(f"{path} is no .npz file of arrays, or it is damaged: {error}") from None


def _write(path: str, values: dict[str, object]) -> None:
    """Writes an .npz; not by `np.savez`, to which a result named `file` would be its own argument."""
    with replacing(path) as (file,), zipfile.ZipFile(file, "w") as archive:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, value, allow_pickle=False)


def _zeros(variables: Sequence[Variable]) -> dict[str, np.ndarray]:
    return {v.name: np.zeros([max(d, 1) for d in v.shape], v.dtype) for v in variables}


def _show(model: InferenceModel, args: argparse.Namespace) -> None:
    print(program_to_text(model.program) if args.proto else model.program, end="")


def _print_info(model: InferenceModel, args: argparse.Namespace) -> None:
    block = model.program.global_block()
    print(f"model: {os.fspath(args.model)}")
    for title, names in (("inputs", model.feed_names), ("outputs", model.fetch_names)):
        print(f"{title}:")
        for name in names:
            print(f"  {name}: {block.var(name).type}")
    size = sum(value.nbytes for value in model.params.values())
    count = sum(value.size for value in model.params.values())
    print(f"parameters: {len(model.params)} tensors, {count:,} numbers, {size:,} bytes")
    for name, value in sorted(model.params.items()):
        print(f"  {name}: {value.dtype.name}{dims.show(value.shape)}")
    print("ops:")
    for name, number in sorted(Counter(op.type for op in all_ops(block)).items()):
        print(f"  {name}: {number}")
