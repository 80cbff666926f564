"""Continues runs that the page packed with the train.py in them, and compares.

    mkdir /tmp/runs
    UNROLL_RUNS=/tmp/runs cargo test -p unroll-app runs_for_pytorch
    /tmp/golden/bin/python tests/golden/check_train.py /tmp/runs
    UNROLL_RUNS=/tmp/runs cargo test -p unroll-app runs_from_pytorch

One process must reproduce the engine's losses, also those on held-out text, gradient norms and learning rates, where
tokens are characters, bytes or byte pairs. Two processes, and one that takes a row at a time, must reproduce those. A
run stopped after a save and started again must end with the same weights, with dropout too, and each process must drop
other values. A run in bfloat16 must stay near. A run whose numbers run away must stop before they are saved. What one
process wrote is left beside the archives, for the app's test to open. `cargo xtask test` runs all this if python3, or
the Python named by UNROLL_PYTHON, has torch, safetensors and tokenizers.
"""

import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import zipfile

import torch
from safetensors import safe_open
from safetensors.torch import save_file

TWO = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29555")


def unpack(path, out):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        archive.extractall(out)


def start(out, steps, *more, launcher=()):
    """Has the script continue the run in this folder; what it said and its exit code."""
    command = [sys.executable, *launcher, "train.py", "--steps", steps, *more]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=out / "unroll-run")


def run(path, out, steps, *more, launcher=()):
    """The figures of a run, continued from the archive or from where it was."""
    if not out.exists():
        unpack(path, out)
    done = start(out, steps, *more, launcher=launcher)
    # As processes end, gloo's threads abort one now and then (2 of 90 runs, torch 2.15), once all is saved. As the
    # docs say, the same command then continues; there is nothing left to do, and the losses are compared anyway.
    if launcher and done.returncode:
        done = start(out, steps, *more, launcher=launcher)
    assert done.returncode == 0, done.stderr
    with open(out / "unroll-run" / "run" / "losses.csv", newline="") as file:
        return numbers(file, steps)


def numbers(lines, steps):
    rows = list(csv.DictReader(lines))
    assert [int(row["step"]) for row in rows] == list(range(1, steps + 1)), "each step once, in order"
    held_out = [row for row in rows if row["held_out_loss"]]
    assert [int(row["step"]) for row in held_out] == list(range(20, steps + 1, 20)), "measured every 20 steps"
    figures = [[float(row[name]) for row in rows] for name in ("loss", "gradient_norm", "learning_rate")]
    return [*figures, [float(row["held_out_loss"]) for row in held_out]]


def metadata(out, step):
    with safe_open(out / "unroll-run" / "run" / f"unroll-step-{step}.safetensors", "pt") as file:
        return file.metadata()


def tensors(out, step):
    with safe_open(out / "unroll-run" / "run" / f"unroll-step-{step}.safetensors", "pt") as file:
        assert json.loads(file.metadata()["unroll"])["step"] == step
        return {name: file.get_tensor(name) for name in file.keys()}


def change(out, step, settings="", **config):
    """Changes what the model of this step says about itself."""
    path = out / "unroll-run" / "run" / f"unroll-step-{step}.safetensors"
    with safe_open(path, "pt") as file:
        about, all = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}
    unroll = json.loads(about["unroll"])
    about["unroll"] = json.dumps({**unroll, "settings": f"{unroll['settings']}&{settings}"})
    about["config"] = json.dumps({**json.loads(about["config"]), **config})
    save_file(all, path, about)


def drops_other_values(path, folder, step):
    """Dropout is the same after a restart, and another in each process."""
    dropout = {name: 0.5 for name in ("attn_pdrop", "embd_pdrop", "resid_pdrop")}
    outs = {name: folder / f"dropout-{name}" for name in ("whole", "broken", "half", "two")}
    for out in outs.values():
        unpack(path, out)
        change(out, step, **dropout)
    whole = run(path, outs["whole"], step + 6)
    run(path, outs["broken"], step + 3)
    assert apart(run(path, outs["broken"], step + 6), whole) < 1e-6, "dropout differs after a restart"
    # All rows of a batch are the same here. If both processes dropped the same values, their mean loss would be that
    # of one process with half as many rows.
    for name in ("half", "two"):
        text = outs[name] / "unroll-run" / "text.txt"
        text.write_text("a" * len(text.read_text()))
    half = json.loads(metadata(outs["half"], step)["unroll"])["settings"]
    rows = int(dict(urllib.parse.parse_qsl(half))["batch"]) // 2
    change(outs["half"], step, settings=f"batch={rows}")
    losses = [run(path, outs["half"], step + 1)[0][-1], run(path, outs["two"], step + 1, launcher=TWO)[0][-1]]
    assert abs(losses[0] - losses[1]) > 1e-4, f"both processes drop the same values: {losses}"


def is_coarser_in_bfloat16(path, folder, first, one):
    """In bfloat16 the losses are others, but near, and fall."""
    coarse = run(path, folder / "bfloat16", first + 20, "--bf16")[0]
    assert all(math.isfinite(loss) for loss in coarse) and coarse[-1] < coarse[first], coarse
    assert 1e-6 < farthest(coarse, one[0]) < 0.05, f"in bfloat16 the losses differ by {farthest(coarse, one[0])}"


def stops_in_time(path, folder, step):
    """Where a loss is no number, nothing of it is saved, all processes end, and the script says what to try."""
    for name, launcher in {"one": (), "two": TWO}.items():
        out = folder / f"diverged-{name}"
        unpack(path, out)
        done = start(out, step + 20, "--lr", 1e30, launcher=launcher)
        assert done.returncode and done.stderr.count("was not taken: its loss is nan") == 1, done
        assert "Try a lower learning rate: --lr 2.5e+29" in done.stderr, done.stderr
        with open(out / "unroll-run" / "run" / "losses.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert step < len(rows) < step + 20 and all(math.isfinite(float(row["loss"])) for row in rows), rows
        saved = max(int(model.stem[12:]) for model in (out / "unroll-run" / "run").glob("*.safetensors"))
        assert all(tensor.isfinite().all() for tensor in tensors(out, saved).values()), f"step {saved}"
        assert json.loads(metadata(out, saved)["unroll"])["learning_rate"] == 1e30


def farthest(a, b):
    return max((x - y).abs().max().item() if isinstance(x, torch.Tensor) else abs(x - y) for x, y in zip(a, b, strict=True))


def apart(a, b):
    """How far the figures of two runs are from each other at most."""
    return max(farthest(x, y) for x, y in zip(a, b, strict=True))


def main():
    runs = pathlib.Path(sys.argv[1])
    files = sorted(runs.glob("*.zip"))
    assert files, "no run to check"
    for path in files:
        expected = json.loads(path.with_suffix(".json").read_text())
        first = expected["step"]
        last = first + 20
        expected = numbers(expected["rows"].splitlines(), last)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            one = run(path, folder / "one", last)
            difference = apart(one, expected)
            assert difference < 1e-4, f"{path.name}: the losses differ by {difference}"
            after = tensors(folder / "one", last)
            names = [name for name in after if not name.startswith("optimizer.")]
            others = {
                "two processes": run(path, folder / "two", last, launcher=TWO),
                "a row at a time": run(path, folder / "rows", last, "--rows", 1),
            }
            run(path, folder / "broken", last - 7)
            # As if it was stopped after a few more steps, in the middle of a line: of a step that begins with a 1.
            with open(folder / "broken" / "unroll-run" / "run" / "losses.csv", "a") as file:
                file.write(f"{last - 6},9.0,1.0,0.001,\n1")
            # As browsers and file managers name a copy.
            models = folder / "broken" / "unroll-run" / "run"
            shutil.copy(models / f"unroll-step-{last - 7}.safetensors", models / f"unroll-step-{last} (1).safetensors")
            others["broken off"] = run(path, folder / "broken", last)
            for name, losses in others.items():
                assert apart(losses, one) < 1e-5, f"{path.name}, {name}: {apart(losses, one)}"
            again = tensors(folder / "broken", last)
            differs = farthest([after[name] for name in names], [again[name] for name in names])
            assert differs < 1e-6, f"{path.name}, broken off: the weights differ by {differs}"
            done = start(folder / "one", last)
            assert done.returncode == 0 and done.stdout.startswith(f"This run is at step {last}."), done
            assert apart(run(path, folder / "one", last), one) == 0, "nothing was left to do"
            shutil.copytree(folder / "one" / "unroll-run" / "run", runs / path.stem, dirs_exist_ok=True)
            if path == files[-1]:
                is_coarser_in_bfloat16(path, folder, first, one)
                drops_other_values(path, folder, first)
                stops_in_time(path, folder, first)
        print(f"passed {path.name}: losses, norms and rates differ by {difference:.1e} at most")


if __name__ == "__main__":
    main()
