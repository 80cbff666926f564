"""Trains a model from Unroll's lab further, as the page would: the same pieces of the text in the same order,
the same AdamW, the same schedule. On one processor, or on many:

    python train.py unroll-step-0.safetensors text.txt --steps 1000
    torchrun --nproc-per-node 8 train.py unroll-step-0.safetensors text.txt --steps 1000

Needs torch and safetensors. What it saves, the page opens. Run again, it goes on from what it saved last.
"""

import argparse, json, math, os, pathlib, urllib.parse

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import distributed as dist, nn
from torch.nn import functional as F

# The lab's defaults, which a file does not name.
DEFAULTS = {"seed": 1, "batch": 8, "lr": 0.005, "warmup": 20, "decay": 0.1, "clip": 1, "optimizer": "adamw"}
BETAS, EPSILON, DECAY_STEPS, FLOOR = (0.9, 0.99), 1e-8, 5000, 0.1
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh")}
MEANS = {"exp_avg": "optimizer.exp_avg.", "exp_avg_sq": "optimizer.exp_avg_sq."}


class Linear(nn.Module):
    """GPT-2's: the weight is [in, out]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(inputs, outputs)), nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.config = config["n_embd"], config
        self.ln_1, self.ln_2 = (nn.LayerNorm(width, eps=config["layer_norm_epsilon"]) for _ in range(2))
        self.attn = nn.ModuleDict({"c_attn": Linear(width, 3 * width), "c_proj": Linear(width, width)})
        self.mlp = nn.ModuleDict({"c_fc": Linear(width, 4 * width), "c_proj": Linear(4 * width, width)})
        # Softmax cancels the biases of keys, so the lab has none: here they stay 0.
        learned = torch.tensor([1.0, 0.0, 1.0]).repeat_interleave(width)
        self.attn["c_attn"].bias.register_hook(lambda gradient: gradient * learned.to(gradient))

    def attention(self, x):
        rows, length, width = x.shape
        parts = self.attn["c_attn"](x).view(rows, length, 3, self.config["n_head"], -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scale = None if self.config["scale_attn_weights"] else 1.0
        dropout = self.config["attn_pdrop"] if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True, scale=scale)
        return self.attn["c_proj"](mixed.transpose(1, 2).reshape(rows, length, width))

    def feed_forward(self, x):
        activation = ACTIVATIONS[self.config["activation_function"]]
        return self.mlp["c_proj"](activation(self.mlp["c_fc"](x)))

    def forward(self, x):
        dropped = lambda y: F.dropout(y, self.config["resid_pdrop"], self.training)
        x = x + dropped(self.attention(self.ln_1(x)))
        return x + dropped(self.feed_forward(self.ln_2(x)))


class GPT(nn.Module):
    """A GPT-2 and its mean loss in nats. Its tensors are called as in Hugging Face's transformers."""

    def __init__(self, config):
        super().__init__()
        width, tokens, self.config = config["n_embd"], config["vocab_size"], config
        blocks = [Block(config) for _ in range(config["n_layer"])]
        parts = {"wte": nn.Embedding(tokens, width), "wpe": nn.Embedding(config["n_positions"], width)}
        parts |= {"h": nn.ModuleList(blocks), "ln_f": nn.LayerNorm(width, config["layer_norm_epsilon"])}
        self.transformer = nn.ModuleDict(parts)
        self.lm_head = None if config["tie_word_embeddings"] else nn.Linear(width, tokens, bias=False)

    def forward(self, tokens, targets):
        parts = self.transformer
        x = parts["wte"](tokens) + parts["wpe"].weight[: tokens.shape[1]]
        x = F.dropout(x, self.config["embd_pdrop"], self.training)
        for block in parts["h"]:
            x = block(x)
        head = parts["wte"] if self.lm_head is None else self.lm_head
        return F.cross_entropy((parts["ln_f"](x) @ head.weight.T).flatten(0, 1).float(), targets.flatten())


def random_words(key):
    """The words of ChaCha8 (Bernstein 2008), from which the page draws its batches."""
    rotated = lambda x, by: (x << by | x >> (32 - by)) & 0xFFFFFFFF
    rounds = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    rounds += [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    block = 0
    while True:
        start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, block & 0xFFFFFFFF, block >> 32, 0, 0]
        s = start.copy()
        for a, b, c, d in rounds * 4:
            for left, right, turned, by in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)]:
                s[left] = (s[left] + s[right]) & 0xFFFFFFFF
                s[turned] = rotated(s[turned] ^ s[left], by)
        yield from ((x + y) & 0xFFFFFFFF for x, y in zip(s, start))
        block += 1


def batch_at(tokens, seed, step, rows, context):
    """The windows that the page draws for the step after `step` steps."""
    words = random_words([seed, 2, step, 0, 0, 0, 0, 0])
    starts = [next(words) * (len(tokens) - context) >> 32 for _ in range(rows)]
    windows = torch.stack([tokens[start : start + context + 1] for start in starts])
    return windows[:, :-1], windows[:, 1:]


def rate_at(step, peak, warmup):
    """The learning rate of update number `step`, counted from 1: warm-up, then half a cosine."""
    if step <= warmup:
        return peak * step / warmup
    progress = min(1.0, (step - warmup) / max(1, DECAY_STEPS - warmup))
    return peak * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * progress)))


def tokens_of(path, characters, context):
    """The text as tokens, without the last tenth: the page holds that out."""
    ids = {character: token for token, character in enumerate(characters)}
    tokens = [ids.get(character, 0) for character in pathlib.Path(path).read_text(encoding="utf-8")]
    held_out = min(len(tokens) // 10, len(tokens) - context - 1)
    return torch.tensor(tokens[: len(tokens) - held_out] if held_out >= 2 else tokens)


def main():
    parser = argparse.ArgumentParser(description="Trains a model from Unroll's lab further.")
    parser.add_argument("model", help="what “Save to a file” made in the lab")
    parser.add_argument("text", help="the text that it learned, as UTF-8")
    parser.add_argument("--steps", type=int, default=1000, help="train until so many steps are taken in all")
    parser.add_argument("--out", type=pathlib.Path, default="run", help="folder for checkpoints and losses")
    parser.add_argument("--rows", type=int, default=64, help="most rows of a batch that a process takes at a time")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16, which many GPUs do faster")
    asked = parser.parse_args()
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if torch.cuda.is_available() else "cpu")
    if world > 1: dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    asked.out.mkdir(exist_ok=True)
    earlier = sorted(asked.out.glob("unroll-step-*.safetensors"), key=lambda path: int(path.stem[12:]))
    with safe_open(earlier[-1] if earlier else asked.model, "pt") as file:
        about, held = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}
    config, characters, unroll = (json.loads(about[name]) for name in ["config", "vocabulary", "unroll"])
    settings = {**DEFAULTS, **dict(urllib.parse.parse_qsl(unroll["settings"]))}
    peak, step = unroll.get("learning_rate", settings["lr"]), unroll["step"]
    seed, rows, warmup, clip = (float(settings[name]) for name in ["seed", "batch", "warmup", "clip"])
    own = int(rows) // world
    is_usual = config.get("model_type") == "gpt2" and settings["optimizer"] == "adamw"
    assert is_usual, "This script trains models that are built like GPT-2, with AdamW, and no others."
    assert own * world == rows, f"A batch has {rows:.0f} rows, which {world} processes can't share evenly."
    model = GPT(config).to(device)
    model.load_state_dict({name: held[name] for name in model.state_dict()})
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": float(settings["decay"])},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=BETAS, eps=EPSILON)
    for name, p in model.named_parameters():
        means = {kind: held.get(prefix + name, torch.zeros_like(p)).to(device) for kind, prefix in MEANS.items()}
        optimizer.state[p] = {"step": torch.tensor(float(step)), **means}
    parallel = nn.parallel.DistributedDataParallel(model) if world > 1 else model
    tokens = tokens_of(asked.text, characters, context := config["n_positions"])

    def save():
        """A file of the page's form: it opens there, and this script goes on from it."""
        tensors = dict(model.state_dict())
        for name, p in model.named_parameters():
            tensors |= {prefix + name: optimizer.state[p][kind] for kind, prefix in MEANS.items()}
        tensors = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
        now = {**about, "unroll": json.dumps({**unroll, "step": step})}
        save_file(tensors, asked.out / f"unroll-step-{step}.safetensors", now)

    due = step + max(1, step // 16)
    while step < asked.steps:
        drawn = batch_at(tokens, int(seed), step, int(rows), context)
        inputs, targets = (part[rank::world].to(device) for part in drawn)
        loss = torch.zeros((), device=device)
        for part in torch.arange(own).split(asked.rows):
            with torch.autocast(device.type, torch.bfloat16, enabled=asked.bf16):
                share = parallel(inputs[part], targets[part]) * len(part) / own
            share.backward()
            loss += share.detach() / world
        nn.utils.clip_grad_norm_(model.parameters(), clip or math.inf)
        step += 1
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, float(peak), warmup)
        optimizer.step()
        optimizer.zero_grad()
        if world > 1: dist.all_reduce(loss)
        if rank == 0:
            with open(asked.out / "losses.csv", "a") as file:
                file.write(f"{step},{loss.item()}\n")
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
            if step >= due or step >= asked.steps:
                due = step + max(1, step // 16)
                save()
    if world > 1: dist.destroy_process_group()


main()
