"""Continues runs saved by the engine with docs/train.py, and compares.

    mkdir /tmp/runs
    UNROLL_RUNS=/tmp/runs cargo test -p unroll-app runs_for_pytorch
    /tmp/golden/bin/python tests/golden/check_train.py /tmp/runs

One process must reproduce the engine's losses. Two processes, and one that takes a row at a time, must
reproduce those. A run stopped after a save and started again must end with the same weights. `cargo xtask test`
runs this if python3, or the Python named by UNROLL_PYTHON, has torch and safetensors.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors import safe_open

SCRIPT = pathlib.Path(__file__).parents[2] / "docs" / "train.py"


def run(path, out, steps, *more, launcher=()):
    command = [sys.executable, *launcher, SCRIPT, path, path.with_suffix(".txt"), "--steps", steps, "--out", out, *more]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    with open(out / "losses.csv", newline="") as file:
        return [float(loss) for _, loss in csv.reader(file)]


def tensors(out, step):
    with safe_open(out / f"unroll-step-{step}.safetensors", "pt") as file:
        assert json.loads(file.metadata()["unroll"])["step"] == step
        return {name: file.get_tensor(name) for name in file.keys()}


def farthest(a, b):
    return max((x - y).abs().max().item() if isinstance(x, torch.Tensor) else abs(x - y) for x, y in zip(a, b, strict=True))


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.safetensors"))
    assert files, "no run to check"
    for path in files:
        expected = json.loads(path.with_suffix(".json").read_text())
        last = expected["step"] + len(expected["losses"])
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            one = run(path, folder / "one", last)
            difference = farthest(one, expected["losses"])
            assert difference < 1e-4, f"{path.name}: the losses differ by {difference}"
            after = tensors(folder / "one", last)
            names = [name for name in after if not name.startswith("optimizer.")]
            two = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29555")
            others = {
                "two processes": run(path, folder / "two", last, launcher=two),
                "a row at a time": run(path, folder / "rows", last, "--rows", 1),
            }
            run(path, folder / "broken", last - 7)
            others["broken off"] = run(path, folder / "broken", last)
            for name, losses in others.items():
                assert farthest(losses, one) < 1e-5, f"{path.name}, {name}: {farthest(losses, one)}"
            again = tensors(folder / "broken", last)
            apart = farthest([after[name] for name in names], [again[name] for name in names])
            assert apart < 1e-6, f"{path.name}, broken off: the weights differ by {apart}"
        print(f"passed {path.name}: the losses differ by {difference:.1e} at most")


if __name__ == "__main__":
    main()
