"""Tokens a second that PyTorch writes with a cache of keys and values and without, in eager mode on one
thread, at the setting of tests/bench-writing.mjs: `python writing.py TIMES`.
"""

import json
import statistics
import sys
import time

import torch
from torch.nn import functional as F

from pytorch import Gpt

VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH = 56, 64, 4, 4, 128
START, LENGTH = 4, 40


def heads(x):
    return x.view(1, -1, HEADS, WIDTH // HEADS).transpose(1, 2)


def row(model, tokens, first, cache):
    """Logits after `tokens`, the first of which stands at `first`; the cache grows by them."""
    x = model.token(tokens) + model.position.weight[first : first + tokens.shape[1]]
    for at, block in enumerate(model.blocks):
        q, k, v = map(heads, block.qkv(block.attention_norm(x)).split(WIDTH, dim=2))
        if cache is not None:
            if cache[at] is not None:
                k, v = torch.cat([cache[at][0], k], 2), torch.cat([cache[at][1], v], 2)
            cache[at] = (k, v)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=first == 0)
        x = x + block.output(mixed.transpose(1, 2).reshape(1, -1, WIDTH))
        x = x + block.feed_forward(block.norm(x))
    return model.head(model.norm(x[:, -1:]))[0, 0]


@torch.inference_mode()
def write(model, cached):
    tokens = torch.arange(START)[None]
    began = time.perf_counter()
    cache = [None] * LAYERS if cached else None
    if cached:
        row(model, tokens[:, :-1], 0, cache)
    for _ in range(LENGTH):
        first = tokens.shape[1] - 1 if cached else 0
        logits = row(model, tokens[:, first:], first, cache)
        tokens = torch.cat([tokens, logits.argmax()[None, None]], 1)
    return LENGTH / (time.perf_counter() - began), tokens


torch.set_num_threads(1)
torch.manual_seed(1)
model = Gpt(VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH)
model.eval()
assert torch.equal(write(model, True)[1], write(model, False)[1]), "both write the same"
speeds = {c: statistics.median(write(model, c)[0] for _ in range(int(sys.argv[1]))) for c in (True, False)}
print(json.dumps({"name": "writing-0.8m-pytorch", "cached": round(speeds[True]), "uncached": round(speeds[False])}))
