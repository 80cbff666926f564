"""Golden values of batch and layer normalization, from PyTorch.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/make_norm.py

Writes norm.json beside itself. PyTorch computes in f64 here, from inputs that are exact in f32: so
the values are those that rounding in f32 should come close to, not another f32's rounding.
"""

import json
import pathlib

import torch
from torch import nn


def numbers(tensor):
    # 9 significant digits tell any two f32 apart.
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def drawn(*shape, scale=1.0, shift=0.0):
    """Normal draws that f32 holds exactly."""
    return (torch.randn(*shape) * scale + shift).to(torch.float32).to(torch.float64)


def with_gradients(module, inputs, upstream):
    """The output, and the gradients of sum(output * upstream)."""
    module.zero_grad()
    inputs = inputs.clone().requires_grad_()
    output = module(inputs)
    (output * upstream).sum().backward()
    return {
        "input": numbers(inputs),
        "upstream": numbers(upstream),
        "output": numbers(output),
        "input_gradient": numbers(inputs.grad),
        "gamma_gradient": numbers(module.weight.grad),
        "beta_gradient": numbers(module.bias.grad),
    }


def initialised(module, width):
    module = module.double()
    with torch.no_grad():
        module.weight.copy_(drawn(width, scale=0.5, shift=1.0))
        module.bias.copy_(drawn(width, scale=0.5))
    return module


def batch_norm(rows, width, batches, scale, shift):
    module = initialised(nn.BatchNorm1d(width), width)
    case = {
        "rows": rows,
        "width": width,
        "gamma": numbers(module.weight),
        "beta": numbers(module.bias),
        "train": [],
    }
    draw = lambda: drawn(rows, width, scale=scale, shift=shift)
    for _ in range(batches):
        step = with_gradients(module, draw(), drawn(rows, width))
        step["running_mean"] = numbers(module.running_mean)
        step["running_variance"] = numbers(module.running_var)
        case["train"].append(step)
    module.eval()
    case["eval"] = with_gradients(module, draw(), drawn(rows, width))
    return case


def layer_norm(rows, width, scale, shift):
    module = initialised(nn.LayerNorm(width), width)
    case = {
        "rows": rows,
        "width": width,
        "gamma": numbers(module.weight),
        "beta": numbers(module.bias),
    }
    inputs = drawn(rows, width, scale=scale, shift=shift)
    return case | with_gradients(module, inputs, drawn(rows, width))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(1)
    golden = {
        "batch": [
            batch_norm(3, 5, 1, scale=1.0, shift=0.0),
            batch_norm(4, 3, 4, scale=0.3, shift=0.2),
            batch_norm(16, 8, 3, scale=3.0, shift=-2.0),
            batch_norm(33, 1, 2, scale=1.0, shift=1.0),
        ],
        "layer": [
            layer_norm(1, 6, scale=1.0, shift=0.0),
            layer_norm(5, 3, scale=0.3, shift=0.2),
            layer_norm(16, 24, scale=3.0, shift=-2.0),
        ],
    }
    target = pathlib.Path(__file__).with_name("norm.json")
    target.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(target, target.stat().st_size)
