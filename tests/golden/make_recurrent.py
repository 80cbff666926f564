"""Golden values of recurrent networks, from PyTorch.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/make_recurrent.py

Writes recurrent_modules.json (nn.RNN, nn.LSTM and nn.GRU as they are, stacked and in both
directions) and recurrent_steps.json (written out step by step with autograd: what PyTorch has no
module for, and the gradients of inner activations) beside itself. Matrices are stored as
[in, out], the transpose of torch's; b_ih and b_hh as the one bias they amount to.
"""

import json
import pathlib

import torch
from torch import nn


def numbers(tensor):
    # 9 significant digits tell any two f32 apart.
    return [float(f"{x:.9g}") for x in tensor.detach().to(torch.float64).flatten().tolist()]


def write(name, cases):
    target = pathlib.Path(__file__).with_name(f"recurrent_{name}.json")
    target.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print(target, target.stat().st_size)


def drawn(*shape, deviation=0.4):
    return torch.randn(*shape) * deviation


def parameter(name, value, gradient):
    if value.dim() == 2:
        value, gradient = value.t(), gradient.t()
    return {"name": name, "value": numbers(value), "gradient": numbers(gradient)}


def module_case(kind, seed, batch, length, inputs, hidden, layers=1, both=False, projection=0):
    torch.manual_seed(seed)
    options = {"proj_size": projection} if kind == "lstm" else {}
    network = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[kind](
        inputs, hidden, layers, batch_first=True, bidirectional=both, **options
    )
    parameters = dict(network.named_parameters())
    for value in parameters.values():
        with torch.no_grad():
            value.copy_(drawn(*value.shape))
    x = drawn(batch, length, inputs, deviation=1.0).requires_grad_()
    directions = 2 if both else 1
    output = projection or hidden
    h = drawn(layers * directions, batch, output).requires_grad_()
    c = drawn(layers * directions, batch, hidden).requires_grad_()
    y, finals = network(x, (h, c) if kind == "lstm" else h)
    finals = finals if kind == "lstm" else (finals,)
    # Every output and every final state gets a weight of its own in the loss.
    weights = [drawn(*part.shape, deviation=1.0) for part in (y, *finals)]
    loss = sum((part * weight).sum() for part, weight in zip((y, *finals), weights))
    loss.backward()
    stored = []
    for layer in range(layers):
        for direction in ["forward", "backward"][:directions]:
            torch_name = f"_l{layer}" + ("_reverse" if direction == "backward" else "")
            part = lambda name: parameters[name + torch_name]
            add = lambda name, value, gradient: stored.append(
                parameter(f"layers.{layer}.{direction}.{name}", value, gradient)
            )
            for name, torch_part in [("input_weight", "weight_ih"), ("recurrent_weight", "weight_hh")]:
                add(name, part(torch_part), part(torch_part).grad)
            if projection:
                add("projection", part("weight_hr"), part("weight_hr").grad)
            bias, extra = part("bias_ih").detach().clone(), part("bias_hh").detach().clone()
            if kind == "gru":
                # The candidate's b_hn stands inside what the reset gate multiplies.
                add("candidate_bias", extra[2 * hidden :], part("bias_hh").grad[2 * hidden :])
                extra[2 * hidden :] = 0
            add("bias", bias + extra, part("bias_ih").grad)
    return {
        "kind": kind, "batch": batch, "length": length, "inputs": inputs, "hidden": hidden,
        "layers": layers, "both": both, "projection": projection or None,
        "input": numbers(x), "input_gradient": numbers(x.grad),
        "initial_hidden": numbers(h), "initial_hidden_gradient": numbers(h.grad),
        "initial_cell": numbers(c) if kind == "lstm" else [],
        "initial_cell_gradient": numbers(c.grad) if kind == "lstm" else [],
        "loss_weights": [numbers(weight) for weight in weights],
        "outputs": numbers(y), "finals": [numbers(final) for final in finals],
        "parameters": stored,
    }


def step_case(kind, seed, batch, length, inputs, hidden, projection=0):
    torch.manual_seed(seed)
    blocks = {"lstm": 4, "gru": 3, "cho": 3}.get(kind, 1)
    output = projection or hidden
    names = {"input_weight": (blocks * hidden, inputs), "recurrent_weight": (blocks * hidden, output)}
    if kind != "mikolov":
        names["bias"] = (blocks * hidden,)
    if kind == "gru":
        names["candidate_bias"] = (hidden,)
    if projection:
        names["projection"] = (projection, hidden)
    p = {name: drawn(*shape).requires_grad_() for name, shape in names.items()}
    x = drawn(batch, length, inputs, deviation=1.0).requires_grad_()
    initial = drawn(batch, output).requires_grad_()
    initial_cell = drawn(batch, hidden).requires_grad_()
    h, c = initial, initial_cell
    hs, cs, sums = [], [], []
    for t in range(length):
        wx = x[:, t] @ p["input_weight"].t()
        if "bias" in p:
            wx = wx + p["bias"]
        if kind == "cho":
            u = p["recurrent_weight"]
            opening = wx[:, : 2 * hidden] + h @ u[: 2 * hidden].t()
            r, z = opening.sigmoid().chunk(2, 1)
            n_sum = wx[:, 2 * hidden :] + (r * h) @ u[2 * hidden :].t()
            parts = [opening, n_sum]
            h = (1 - z) * n_sum.tanh() + z * h
        elif kind == "gru":
            uh = h @ p["recurrent_weight"].t()
            opening = wx[:, : 2 * hidden] + uh[:, : 2 * hidden]
            r, z = opening.sigmoid().chunk(2, 1)
            n_sum = wx[:, 2 * hidden :] + r * (uh[:, 2 * hidden :] + p["candidate_bias"])
            parts = [opening, n_sum]
            h = (1 - z) * n_sum.tanh() + z * h
        else:
            total = wx + h @ p["recurrent_weight"].t()
            parts = [total]
            if kind == "lstm":
                i, f, g, o = total.chunk(4, 1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
                if projection:
                    h = h @ p["projection"].t()
                cs.append(c)
            else:
                h = total.tanh() if kind == "rnn" else total.sigmoid()
        hs.append(h)
        sums.append(parts)
    y = torch.stack(hs, 1)
    weight = drawn(*y.shape, deviation=1.0)
    # The last outputs only: what reaches the earlier steps has come through the recurrence.
    weight[:, : length - length // 2] = 0
    loss = (y * weight).sum()
    gradients = torch.autograd.grad(
        loss, [*p.values(), x, initial, *hs, *cs, *[part for parts in sums for part in parts]]
    )
    take = iter(gradients)
    parameter_gradients = [next(take) for _ in p]
    x_gradient, initial_gradient = next(take), next(take)
    h_gradients = [next(take) for _ in hs]
    c_gradients = [next(take) for _ in cs]
    sum_gradients = [torch.cat([next(take) for _ in parts], 1) for parts in sums]
    return {
        "kind": kind, "batch": batch, "length": length, "inputs": inputs, "hidden": hidden,
        "layers": 1, "both": False, "projection": projection or None,
        "input": numbers(x), "input_gradient": numbers(x_gradient),
        "initial_hidden": numbers(initial), "initial_hidden_gradient": numbers(initial_gradient),
        "initial_cell": numbers(initial_cell) if cs else [], "initial_cell_gradient": [],
        "loss_weights": [numbers(weight)],
        "outputs": numbers(y), "finals": [],
        "sums": numbers(torch.stack([torch.cat(parts, 1) for parts in sums], 1)),
        "hidden_gradients": numbers(torch.stack(h_gradients, 1)),
        "cell_gradients": numbers(torch.stack(c_gradients, 1)) if cs else [],
        "sum_gradients": numbers(torch.stack(sum_gradients, 1)),
        "parameters": [
            parameter(f"layers.0.forward.{name}", value, gradient)
            for (name, value), gradient in zip(p.items(), parameter_gradients)
        ],
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    write("modules", [
        module_case("rnn", 1, batch=2, length=40, inputs=3, hidden=5),
        module_case("rnn", 2, batch=3, length=7, inputs=4, hidden=3, layers=2, both=True),
        module_case("lstm", 3, batch=2, length=40, inputs=3, hidden=4),
        module_case("lstm", 4, batch=3, length=6, inputs=5, hidden=4, layers=2, both=True),
        module_case("lstm", 5, batch=2, length=12, inputs=4, hidden=6, projection=3),
        module_case("lstm", 6, batch=2, length=5, inputs=3, hidden=4, layers=2, both=True, projection=2),
        module_case("gru", 7, batch=2, length=40, inputs=3, hidden=5),
        module_case("gru", 8, batch=3, length=7, inputs=2, hidden=4, layers=3, both=True),
        module_case("gru", 9, batch=1, length=1, inputs=2, hidden=3),
    ])
    write("steps", [
        step_case("rnn", 11, batch=2, length=20, inputs=3, hidden=5),
        step_case("mikolov", 12, batch=3, length=8, inputs=4, hidden=6),
        step_case("mikolov", 13, batch=2, length=40, inputs=3, hidden=3),
        step_case("lstm", 14, batch=2, length=20, inputs=3, hidden=4),
        step_case("lstm", 15, batch=3, length=9, inputs=4, hidden=5, projection=3),
        step_case("gru", 16, batch=2, length=20, inputs=3, hidden=4),
        step_case("cho", 17, batch=2, length=40, inputs=3, hidden=4),
        step_case("cho", 18, batch=3, length=6, inputs=5, hidden=8),
    ])
