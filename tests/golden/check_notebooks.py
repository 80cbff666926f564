"""Runs notebooks: every cell of code, one after the other, as Jupyter would.

    mkdir /tmp/notebooks
    UNROLL_NOTEBOOKS=/tmp/notebooks cargo test -p unroll-app notebook
    /tmp/golden/bin/python tests/golden/check_notebooks.py /tmp/notebooks

`cargo xtask test` does so where python3, or the Python that UNROLL_PYTHON names, has torch.
"""

import contextlib
import io
import json
import pathlib
import sys
import traceback

import torch


def run(path):
    # The notebook before may have set another.
    torch.set_default_dtype(torch.float32)
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    space = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"], 1):
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(cell["source"], f"{path.name}, cell {number}", "exec"), space)


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.ipynb"))
    failed = 0
    for path in files:
        try:
            run(path)
            print("passed", path.name)
        except Exception:
            failed += 1
            print("FAILED", path.name)
            traceback.print_exc(file=sys.stdout)
    print(f"{len(files)} notebooks, {failed} failed, PyTorch {torch.__version__}")
    return 1 if failed or not files else 0


sys.exit(main())
