"""Golden values of attention and transformer blocks, from PyTorch.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/make_transformer.py

Writes transformer.json beside itself. Everything is computed in f64 from inputs that f32 holds
exactly, so that what f32 may differ by is the model crate's own rounding. Inputs and parameters are
not stored but drawn by a generator that both sides have (`drawn`). Matrices are [in, out], the
transpose of torch's.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

torch.set_default_dtype(torch.float64)
ACTIVATIONS = {
    "Relu": F.relu,
    "Gelu": F.gelu,
    "GeluTanh": lambda x: F.gelu(x, approximate="tanh"),
    "Solu": lambda x: x * x.softmax(-1),
}


def drawn(seed, shape, scale, offset=0.0):
    """Multiples of 2^-16 in [offset - scale, offset + scale), `scale` a multiple of 1/16."""
    state, values = seed, []
    for _ in range(math.prod(shape)):
        state = (1664525 * state + 1013904223) % 2**32
        values.append(((state >> 20) / 2048 - 1) * scale + offset)
    return torch.tensor(values).view(shape)


def numbers(tensor):
    return [float(f"{x:.7g}") for x in tensor.detach().flatten().tolist()]


class Parameters:
    """What a case draws, in order, with what is needed to draw it again."""

    def __init__(self, seed):
        self.seed, self.stored, self.tensors = seed, [], {}

    def draw(self, name, shape, scale, offset=0.0):
        self.seed += 1
        tensor = drawn(self.seed, shape, scale, offset).requires_grad_()
        self.stored.append({"name": name, "seed": self.seed, "scale": scale, "offset": offset})
        self.tensors[name] = tensor
        return tensor

    def finish(self, output, weights=None):
        """Backpropagates a fixed mixture of the outputs."""
        probe = drawn(999, output.shape, 1.0)
        (output * probe).sum().backward()
        for entry in self.stored:
            entry["gradient"] = numbers(self.tensors[entry["name"]].grad)
        found = {"tensors": self.stored, "output": numbers(output)}
        if weights is not None:
            found["weights"] = numbers(weights)
        return found


def attention_parameters(drawing, width, prefix=""):
    # Large enough for weights far from uniform.
    scale = round(16 * 1.7 / math.sqrt(width)) / 16
    for layer in ["query", "key", "value", "output"]:
        drawing.draw(f"{prefix}{layer}.weight", (width, width), scale)
        if layer != "key":
            drawing.draw(f"{prefix}{layer}.bias", (width,), 0.25)


def load_attention(module, tensors, prefix=""):
    """nn.MultiheadAttention with these parameters as parts of the graph."""
    get = lambda name: tensors[prefix + name]
    width = get("query.bias").shape[0]
    in_weight = torch.cat([get(f"{x}.weight").t() for x in ["query", "key", "value"]])
    in_bias = torch.cat([get("query.bias"), torch.zeros(width), get("value.bias")])
    for name in ["in_proj_weight", "in_proj_bias"]:
        del module._parameters[name]
    module.in_proj_weight, module.in_proj_bias = in_weight, in_bias
    for name, value in [("weight", get("output.weight").t()), ("bias", get("output.bias"))]:
        del module.out_proj._parameters[name]
        setattr(module.out_proj, name, value)


def allowed_of(kind, queries, keys):
    rows, columns = torch.arange(queries)[:, None], torch.arange(keys)[None]
    if kind == "causal":
        return columns <= rows
    if kind == "band":
        return (columns <= rows) & (rows - columns < 3)
    if kind == "odd":
        return ((rows * 7 + columns * 3) % 5 != 1) | (columns == rows % keys)
    return torch.ones(queries, keys, dtype=torch.bool)


def multi_head(name, seed, width, heads, batch, queries, keys=None, mask="full", padding=None):
    """nn.MultiheadAttention; `keys` for cross-attention, `padding` real keys of each sequence."""
    drawing = Parameters(seed)
    attention_parameters(drawing, width)
    x = drawing.draw("input", (batch, queries, width), 1.5)
    memory = x if keys is None else drawing.draw("memory", (batch, keys, width), 1.5)
    allowed = allowed_of(mask, queries, memory.shape[1])
    module = nn.MultiheadAttention(width, heads, batch_first=True)
    load_attention(module, drawing.tensors)
    ignored = None
    if padding is not None:
        ignored = torch.arange(memory.shape[1])[None] >= torch.tensor(padding)[:, None]
    output, weights = module(
        x, memory, memory, attn_mask=~allowed, key_padding_mask=ignored, average_attn_weights=False
    )
    each = allowed[None].expand(batch, -1, -1)
    if ignored is not None:
        each = each & ~ignored[:, None]
    return case(name, drawing, output, weights, width, heads, batch, queries, keys, each)


def case(name, drawing, output, weights, width, heads, batch, queries, keys, allowed, **more):
    return {
        "name": name, "width": width, "heads": heads, "batch": batch, "queries": queries,
        "keys": keys, "allowed": allowed.flatten().int().tolist(), "positions": "None",
        "scaled": True, **drawing.finish(output, weights), **more,
    }


def dot_product(name, seed, width, heads, batch, queries, keys, mask):
    """F.scaled_dot_product_attention: projections are the identity."""
    drawing = Parameters(seed)
    x = drawing.draw("input", (batch, queries, width), 1.5)
    memory = drawing.draw("memory", (batch, keys, width), 1.5)
    split = lambda y: y.view(batch, -1, heads, width // heads).transpose(1, 2)
    allowed = allowed_of(mask, queries, keys)
    q, k = split(x), split(memory)
    mixed = F.scaled_dot_product_attention(q, k, k, attn_mask=allowed)
    output = mixed.transpose(1, 2).reshape(batch, queries, width)
    each = allowed[None].expand(batch, -1, -1)
    return case(name, drawing, output, None, width, heads, batch, queries, keys, each)


def turned(vectors):
    """Su et al. 2021, equation 13, as products of complex numbers. [batch, heads, T, d]"""
    length, width = vectors.shape[2:]
    theta = 10000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(length)[:, None] * theta[None]
    pairs = torch.view_as_complex(vectors.reshape(*vectors.shape[:3], width // 2, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(3)


def slopes(heads):
    """Press, Smith and Lewis 2022, section 3, and for other numbers of heads their footnote."""
    def geometric(n):
        start = 2 ** (-8 / n)
        return [start**i for i in range(1, n + 1)]

    below = 2 ** math.floor(math.log2(heads))
    return geometric(below) + geometric(2 * below)[0::2][: heads - below]


def positioned(name, seed, width, heads, batch, length, positions, mask, scaled=True):
    drawing = Parameters(seed)
    attention_parameters(drawing, width)
    x = drawing.draw("input", (batch, length, width), 1.5)
    get = drawing.tensors.get
    split = lambda y: y.view(batch, length, heads, width // heads).transpose(1, 2)
    q = split(x @ get("query.weight") + get("query.bias"))
    k = split(x @ get("key.weight"))
    v = split(x @ get("value.weight") + get("value.bias"))
    if positions == "Rotary":
        q, k = turned(q), turned(k)
    scores = q @ k.transpose(2, 3)
    if scaled:
        scores = scores / math.sqrt(width // heads)
    if positions == "Alibi":
        distance = (torch.arange(length)[:, None] - torch.arange(length)[None]).abs()
        scores = scores - torch.tensor(slopes(heads))[:, None, None] * distance
    allowed = allowed_of(mask, length, length)
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    mixed = (weights @ v).transpose(1, 2).reshape(batch, length, width)
    output = mixed @ get("output.weight") + get("output.bias")
    each = allowed[None].expand(batch, -1, -1)
    return case(
        name, drawing, output, weights, width, heads, batch, length, None, each,
        positions=positions, scaled=scaled,
    )


def block(name, seed, width, heads, batch, length, norm, activation, residual=True, attention=True):
    """nn.TransformerEncoderLayer; by formula what it can't be told to leave out."""
    drawing = Parameters(seed)

    def draw_norm(name):
        if norm != "None":
            drawing.draw(f"{name}.gamma", (width,), 0.25, 1.0)
            drawing.draw(f"{name}.beta", (width,), 0.25)

    if attention:
        draw_norm("attention_norm")
        attention_parameters(drawing, width, "attention.")
    if activation is not None:
        draw_norm("feed_forward_norm")
        feed_scale = round(16 * 1.7 / math.sqrt(width)) / 16
        drawing.draw("feed_forward.hidden.weight", (width, 4 * width), feed_scale)
        drawing.draw("feed_forward.hidden.bias", (4 * width,), 0.25)
        drawing.draw("feed_forward.output.weight", (4 * width, width), feed_scale / 2)
        drawing.draw("feed_forward.output.bias", (width,), 0.25)
    x = drawing.draw("input", (batch, length, width), 1.5)
    get = drawing.tensors.get
    allowed = allowed_of("causal", length, length)
    if norm != "None" and residual and attention and activation is not None:
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation=ACTIVATIONS[activation],
            norm_first=norm == "Pre", batch_first=True,
        )
        load_attention(layer.self_attn, drawing.tensors, "attention.")
        for module, ours in [(layer.norm1, "attention_norm"), (layer.norm2, "feed_forward_norm")]:
            for theirs, name_of in [("weight", "gamma"), ("bias", "beta")]:
                del module._parameters[theirs]
                setattr(module, theirs, get(f"{ours}.{name_of}"))
        for module, ours in [(layer.linear1, "hidden"), (layer.linear2, "output")]:
            for theirs in ["weight", "bias"]:
                del module._parameters[theirs]
                value = get(f"feed_forward.{ours}.{theirs}")
                setattr(module, theirs, value.t() if theirs == "weight" else value)
        output = layer(x, src_mask=~allowed)
    else:
        normed = lambda name, y: F.layer_norm(y, (width,), get(f"{name}.gamma"), get(f"{name}.beta"))
        stream, layers = x, []
        if attention:
            module = nn.MultiheadAttention(width, heads, batch_first=True)
            load_attention(module, drawing.tensors, "attention.")
            layers.append(
                ("attention_norm", lambda y: module(y, y, y, attn_mask=~allowed, need_weights=False)[0])
            )
        if activation is not None:
            first = lambda y: y @ get("feed_forward.hidden.weight") + get("feed_forward.hidden.bias")
            second = lambda y: y @ get("feed_forward.output.weight") + get("feed_forward.output.bias")
            layers.append(
                ("feed_forward_norm", lambda y: second(ACTIVATIONS[activation](first(y))))
            )
        for name_of, layer in layers:
            found = layer(normed(name_of, stream) if norm == "Pre" else stream)
            stream = stream + found if residual else found
            if norm == "Post":
                stream = normed(name_of, stream)
        output = stream
    return {
        "name": name, "width": width, "heads": heads, "batch": batch, "length": length,
        "norm": norm, "activation": activation, "residual": residual, "attention": attention,
        **drawing.finish(output),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    golden = {
        "attention": [
            multi_head("one head, full", 100, 8, 1, 2, 5),
            multi_head("causal", 200, 16, 2, 3, 12, mask="causal"),
            multi_head("three heads of an odd width, any graph", 300, 15, 3, 2, 9, mask="odd"),
            multi_head("padded", 400, 16, 4, 3, 10, padding=[10, 4, 1]),
            multi_head("causal and padded", 500, 32, 8, 2, 22, mask="causal", padding=[22, 17]),
            multi_head("cross", 600, 24, 6, 2, 11, keys=7),
            multi_head("cross and padded", 700, 16, 2, 3, 1, keys=13, padding=[13, 2, 8]),
            multi_head("wide", 800, 48, 4, 1, 20, mask="causal"),
            dot_product("scaled dot product", 900, 16, 2, 2, 9, 14, "odd"),
            dot_product("scaled dot product, 64 wide", 1000, 64, 8, 1, 40, 40, "causal"),
            positioned("unscaled", 1100, 16, 2, 2, 9, "None", "causal", scaled=False),
            positioned("rotary", 1200, 16, 2, 2, 40, "Rotary", "causal"),
            positioned("rotary, looking both ways", 1300, 24, 2, 2, 13, "Rotary", "full"),
            positioned("rotary in a band", 1350, 8, 4, 1, 17, "Rotary", "band"),
            positioned("ALiBi", 1400, 32, 8, 1, 24, "Alibi", "causal"),
            positioned("ALiBi, 6 heads, both ways", 1500, 24, 6, 2, 15, "Alibi", "full"),
            positioned("ALiBi, unscaled", 1600, 12, 3, 2, 10, "Alibi", "causal", scaled=False),
        ],
        "blocks": [
            block(f"{norm}-norm, {activation}", 2000 + 100 * i + 10 * j, [16, 8, 12, 16][j],
                  [4, 1, 3, 2][j], 2, 11, norm, activation)
            for i, norm in enumerate(["Pre", "Post"])
            for j, activation in enumerate(ACTIVATIONS)
        ] + [
            block("40 tokens, 32 wide", 3000, 32, 4, 1, 40, "Pre", "Gelu"),
            block("no norm", 3100, 8, 2, 2, 7, "None", "Gelu"),
            block("no residual, pre-norm", 3200, 8, 2, 2, 7, "Pre", "Gelu", residual=False),
            block("no residual, post-norm", 3300, 8, 2, 2, 7, "Post", "Relu", residual=False),
            block("no residual, no norm", 3400, 8, 2, 2, 7, "None", "Relu", residual=False),
            block("no attention", 3500, 8, 2, 2, 7, "Pre", "Gelu", attention=False),
            block("no feed-forward", 3600, 8, 2, 2, 7, "Pre", None),
            block("no feed-forward, post-norm", 3700, 8, 2, 2, 7, "Post", None),
        ],
    }
    target = pathlib.Path(__file__).with_name("transformer.json")
    target.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(target, target.stat().st_size)
