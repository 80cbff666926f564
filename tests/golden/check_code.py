"""Runs the code that chapters show beside their formulas, each file with its check, and holds the
shapes in its comments to the tensors.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/check_code.py

`cargo xtask test` runs it where python3, or the Python that UNROLL_PYTHON names, has torch.
"""

import contextlib
import io
import pathlib
import re
import sys
import traceback

import torch

ROOT = pathlib.Path(__file__).parents[2]
# What a line assigns to, and the shapes its comment gives: "q, k = ...  # [T, d_k] each".
ASSIGNED = re.compile(r"\s*(\w+(?:, \w+)*) \+?= .*  # (\[.*|one number)")


def shapes(comment, names):
    """The shape that a comment gives each of the names, as expressions."""
    if comment == "one number":
        return ["[]"] * len(names)
    # "2H" is 2 times H.
    given = [re.sub(r"(\d)([A-Za-z])", r"\1*\2", shape) for shape in re.findall(r"\[.*?\]", comment)]
    return given if len(given) == len(names) else given[:1] * len(names)


def check_shapes(shown, space):
    """Compares what the comments say with `space`, what is there after the shown lines. Names within
    functions are not. Returns how many it compared."""
    compared = 0
    for line in shown.splitlines():
        if not (found := ASSIGNED.match(line)):
            continue
        names = found[1].split(", ")
        for name, shape in zip(names, shapes(found[2], names)):
            if isinstance(tensor := space.get(name), torch.Tensor):
                assert list(tensor.shape) == eval(shape, space), f"{tuple(tensor.shape)}: {line}"
                compared += 1
    return compared


def run(path):
    """Runs one file. Returns how many shapes were compared."""
    # The file before may have set another.
    torch.set_default_dtype(torch.float32)
    # What follows makes a notebook of it: check_notebooks.py runs that.
    setup, shown, check, *_ = re.split(r"^# ---", path.read_text(), flags=re.MULTILINE)
    space = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(f"{setup}#{shown}", path, "exec"), space)
        compared = check_shapes(shown, space)
        exec(compile(f"#{check}", path, "exec"), space)
    return compared


def main():
    files = sorted((ROOT / "app/src/chapters").glob("**/*.py"))
    failed = 0
    compared = 0
    for path in files:
        try:
            compared += run(path)
            print("passed", path.relative_to(ROOT))
        except Exception:
            failed += 1
            print("FAILED", path.relative_to(ROOT))
            traceback.print_exc(file=sys.stdout)
    print(f"{len(files)} files, {failed} failed, {compared} shapes, PyTorch {torch.__version__}")
    return 1 if failed or not files else 0


sys.exit(main())
