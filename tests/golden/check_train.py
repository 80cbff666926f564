"""Continues runs that the page packed with the train.py in them, and compares.

    mkdir /tmp/runs
    UNROLL_RUNS=/tmp/runs cargo test -p unroll-app runs_for_pytorch
    /tmp/golden/bin/python tests/golden/check_train.py /tmp/runs
    UNROLL_RUNS=/tmp/runs cargo test -p unroll-app runs_from_pytorch

One process must reproduce the engine's losses, gradient norms and learning rates. Two processes, and one that takes
a row at a time, must reproduce those. A run stopped after a save and started again must end with the same weights.
What one process wrote is left beside the archives, for the app's test to open. `cargo xtask test` runs all this if
python3, or the Python named by UNROLL_PYTHON, has torch and safetensors.
"""

import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import torch
from safetensors import safe_open


def run(path, out, steps, *more, launcher=()):
    """The losses, gradient norms and learning rates of a run, continued from the archive or from where it was."""
    if not out.exists():
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            archive.extractall(out)
    command = [sys.executable, *launcher, "train.py", "--steps", steps, *more]
    start = lambda: subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, cwd=out / "unroll-run")
    done = start()
    # As processes end, gloo's threads abort one now and then (2 of 90 runs, torch 2.15), once all is saved. As the
    # docs say, the same command then continues; there is nothing left to do, and the losses are compared anyway.
    if launcher and done.returncode:
        done = start()
    done.check_returncode()
    with open(out / "unroll-run" / "run" / "losses.csv", newline="") as file:
        return numbers(file, steps)


def numbers(lines, steps):
    rows = list(csv.DictReader(lines))
    assert [int(row["step"]) for row in rows] == list(range(1, steps + 1)), "each step once, in order"
    return [[float(row[name]) for row in rows] for name in ("loss", "gradient_norm", "learning_rate")]


def tensors(out, step):
    with safe_open(out / "unroll-run" / "run" / f"unroll-step-{step}.safetensors", "pt") as file:
        assert json.loads(file.metadata()["unroll"])["step"] == step
        return {name: file.get_tensor(name) for name in file.keys()}


def farthest(a, b):
    return max((x - y).abs().max().item() if isinstance(x, torch.Tensor) else abs(x - y) for x, y in zip(a, b, strict=True))


def apart(a, b):
    """How far the losses, gradient norms and learning rates of two runs are from each other at most."""
    return max(farthest(x, y) for x, y in zip(a, b, strict=True))


def main():
    runs = pathlib.Path(sys.argv[1])
    files = sorted(runs.glob("*.zip"))
    assert files, "no run to check"
    for path in files:
        expected = json.loads(path.with_suffix(".json").read_text())
        last = expected["step"] + 20
        expected = numbers(expected["rows"].splitlines(), last)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            one = run(path, folder / "one", last)
            difference = apart(one, expected)
            assert difference < 1e-4, f"{path.name}: the losses differ by {difference}"
            after = tensors(folder / "one", last)
            names = [name for name in after if not name.startswith("optimizer.")]
            two = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29555")
            others = {
                "two processes": run(path, folder / "two", last, launcher=two),
                "a row at a time": run(path, folder / "rows", last, "--rows", 1),
            }
            run(path, folder / "broken", last - 7)
            # As if it was stopped after a few more steps, in the middle of a line.
            with open(folder / "broken" / "unroll-run" / "run" / "losses.csv", "a") as file:
                file.write(f"{last - 6},9.0,1.0,0.001,\n{last - 5},9")
            others["broken off"] = run(path, folder / "broken", last)
            for name, losses in others.items():
                assert apart(losses, one) < 1e-5, f"{path.name}, {name}: {apart(losses, one)}"
            again = tensors(folder / "broken", last)
            differs = farthest([after[name] for name in names], [again[name] for name in names])
            assert differs < 1e-6, f"{path.name}, broken off: the weights differ by {differs}"
            shutil.copytree(folder / "one" / "unroll-run" / "run", runs / path.stem, dirs_exist_ok=True)
        print(f"passed {path.name}: losses, norms and rates differ by {difference:.1e} at most")


if __name__ == "__main__":
    main()
