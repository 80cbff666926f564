"""Golden values of a GPT and three AdamW steps, from PyTorch.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/make_gpt.py

Writes gpt_untied.json, gpt_tied.json and gpt_rms.json beside itself. Matrices of linear layers are stored as
[in, out], the transpose of torch's, which is how the model crate holds them.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        split = lambda y: y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        queries, keys, values = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = queries @ keys.transpose(2, 3) / math.sqrt(width // self.heads)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        return self.output((weights @ values).transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(width, 4 * width)
        self.output = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.output(F.gelu(self.hidden(x)))


class Block(nn.Module):
    def __init__(self, width, heads, norm):
        super().__init__()
        self.attention_norm = norm(width, eps=1e-5)
        self.attention = Attention(width, heads)
        self.feed_forward_norm = norm(width, eps=1e-5)
        self.feed_forward = FeedForward(width)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary, layers, heads, width, context, tied, norm):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, width)
        self.position_embedding = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, norm) for _ in range(layers))
        self.final_norm = norm(width, eps=1e-5)
        self.head = None if tied else nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.position_embedding.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        x = self.final_norm(x)
        return F.linear(x, self.token_embedding.weight) if self.head is None else self.head(x)


def is_linear(name):
    return name.endswith(".weight") and "embedding" not in name and "norm" not in name


def stored_name(name):
    if "norm" in name:
        return name.replace(".weight", ".gamma").replace(".bias", ".beta")
    return name


def numbers(tensor):
    # 9 significant digits tell any two f32 apart.
    return [float(f"{x:.9g}") for x in tensor.detach().to(torch.float64).flatten().tolist()]


def stored(name, tensor):
    return numbers(tensor.t() if is_linear(name) else tensor)


def rate_at(step, peak, warmup, decay):
    if step <= warmup:
        return peak * step / warmup
    if step >= decay:
        return peak * 0.1
    progress = (step - warmup) / (decay - warmup)
    return peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * progress)))


def make(
    name, seed, vocabulary, layers, heads, width, context, batch, length, tied, optimizer, norm=nn.LayerNorm
):
    torch.manual_seed(seed)
    model = Gpt(vocabulary, layers, heads, width, context, tied, norm)
    for path, parameter in model.named_parameters():
        # GPT-2's own deviations would leave softmax and GELU almost linear at this size, so that
        # mistakes in them would hide: everything is drawn larger, biases and norms included.
        with torch.no_grad():
            if parameter.dim() >= 2:
                deviation = 0.3
                if ".output." in path:
                    deviation /= math.sqrt(2 * layers)
                parameter.normal_(0, deviation)
            else:
                parameter.copy_(torch.randn_like(parameter) * 0.1 + ("norm.weight" in path))
    parameters = dict(model.named_parameters())
    initial = {path: parameter.detach().clone() for path, parameter in parameters.items()}
    # The first batch is the forward pass's; each step has its own.
    batches = torch.randint(0, vocabulary, (3, batch, length + 1))

    def loss_of(tokens):
        logits = model(tokens[:, :-1])
        return logits, F.cross_entropy(logits.reshape(-1, vocabulary), tokens[:, 1:].reshape(-1))

    logits, loss = loss_of(batches[0])
    loss.backward()
    gradients = {path: parameter.grad.clone() for path, parameter in parameters.items()}

    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    adamw = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": optimizer["weight_decay"]},
            {"params": others, "weight_decay": 0.0},
        ],
        betas=(optimizer["beta1"], optimizer["beta2"]),
        eps=optimizer["epsilon"],
    )
    norms, losses = [], []
    for step in range(3):
        for group in adamw.param_groups:
            group["lr"] = rate_at(
                step + 1,
                optimizer["learning_rate"],
                optimizer["warmup_steps"],
                optimizer["decay_steps"],
            )
        adamw.zero_grad()
        _, step_loss = loss_of(batches[step])
        step_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), optimizer["clip_norm"])
        assert norm > optimizer["clip_norm"], "the golden steps must really clip"
        norms.append(norm)
        losses.append(step_loss)
        adamw.step()

    golden = {
        "spec": {
            "layers": layers,
            "heads": heads,
            "width": width,
            "context": context,
            "dropout": 0.0,
            "tied": tied,
        },
        "optimizer": optimizer,
        "vocabulary": vocabulary,
        "batch": batch,
        "tokens": [tokens.flatten().tolist() for tokens in batches],
        "logits": numbers(logits),
        "loss": numbers(loss)[0],
        "step_losses": numbers(torch.stack(losses)),
        "step_norms": numbers(torch.stack(norms)),
        "parameters": [
            {
                "name": stored_name(path),
                "initial": stored(path, initial[path]),
                "gradient": stored(path, gradients[path]),
                "final": stored(path, parameter),
                "first_moment": stored(path, adamw.state[parameter]["exp_avg"]),
                "second_moment": stored(path, adamw.state[parameter]["exp_avg_sq"]),
            }
            for path, parameter in parameters.items()
        ],
    }
    target = pathlib.Path(__file__).with_name(f"gpt_{name}.json")
    target.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(target, target.stat().st_size)


if __name__ == "__main__":
    torch.set_num_threads(1)
    # Steps 1 to 3 fall on the warm-up, its end and the cosine.
    make(
        "untied", 1, vocabulary=11, layers=2, heads=2, width=8, context=7, batch=3, length=7,
        tied=False,
        optimizer={
            "learning_rate": 0.01, "warmup_steps": 2, "decay_steps": 6, "weight_decay": 0.1,
            "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "clip_norm": 0.5,
        },
    )
    # A sequence shorter than the context, other betas, and a floor reached at step 3.
    make(
        "tied", 2, vocabulary=7, layers=1, heads=3, width=12, context=9, batch=2, length=6,
        tied=True,
        optimizer={
            "learning_rate": 0.02, "warmup_steps": 1, "decay_steps": 3, "weight_decay": 0.3,
            "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-6, "clip_norm": 0.1,
        },
    )
    # RMSNorm has gains and no biases.
    make(
        "rms", 3, vocabulary=9, layers=2, heads=2, width=8, context=6, batch=2, length=6,
        tied=False, norm=nn.RMSNorm,
        optimizer={
            "learning_rate": 0.01, "warmup_steps": 2, "decay_steps": 6, "weight_decay": 0.1,
            "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "clip_norm": 0.5,
        },
    )
