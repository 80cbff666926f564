"""Runs the code that chapters show beside their formulas, each file with its check.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/check_code.py

`cargo xtask test` runs it where python3, or the Python that UNROLL_PYTHON names, has torch.
"""

import contextlib
import io
import pathlib
import sys
import traceback

import torch

ROOT = pathlib.Path(__file__).parents[2]


def run(path):
    """Runs one file; what went wrong, or None."""
    # The file before may have set another.
    torch.set_default_dtype(torch.float32)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(path.read_text(), path, "exec"), {"__name__": "__main__"})
    except Exception:
        return traceback.format_exc()
    return None


def main():
    files = sorted((ROOT / "app/src/chapters").glob("**/*.py"))
    failed = 0
    for path in files:
        trouble = run(path)
        failed += trouble is not None
        print("FAILED" if trouble else "passed", path.relative_to(ROOT))
        if trouble:
            print(trouble)
    print(f"{len(files)} files, {failed} failed, PyTorch {torch.__version__}")
    return 1 if failed or not files else 0


sys.exit(main())
