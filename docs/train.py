"""Continues a run from Unroll's lab as the page would: the same batches, AdamW, learning-rate schedule and held-out
text. Only dropout differs: it drops other values. The script starts from the latest model in the folder `run` and saves
new models there. The page can open that folder. It needs torch and safetensors, and tokenizers for byte pairs.
    python train.py --steps 1000
    torchrun --nproc-per-node 8 train.py --steps 1000  # several processes that share each batch"""

import argparse, itertools, json, math, os, pathlib, sys, urllib.parse
import safetensors.torch, torch
from torch import distributed as dist, nn
from torch.nn import functional as F

# The lab's defaults: a file lists only the settings that differ. The constants below never change in the lab.
DEFAULTS = {"seed": 1, "batch": 8, "lr": 0.005, "warmup": 20, "decay": 0.1, "clip": 1, "optimizer": "adamw"}
COLUMNS = "step,loss,gradient_norm,learning_rate,held_out_loss"
BETAS, EPSILON, DECAY_STEPS, FLOOR = (0.9, 0.99), 1e-8, 5000, 0.1
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh")}
NORMS = {"gpt2": lambda config: nn.LayerNorm(config["n_embd"], config["layer_norm_epsilon"]),
         "gpt2-rmsnorm": lambda config: nn.RMSNorm(config["n_embd"], config["rms_norm_eps"])}  # torch 2.4 or later
ADAM = {"exp_avg": "optimizer.exp_avg.", "exp_avg_sq": "optimizer.exp_avg_sq."}
TURNED = ("c_attn.weight", "c_fc.weight", "c_proj.weight")  # GPT-2 stores them as [in, out], nn.Linear as [out, in]
turned = lambda name, tensor: (tensor.T if name.endswith(TURNED) else tensor).contiguous()

class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.config = config["n_embd"], config
        self.ln_1, self.ln_2 = (NORMS[config["model_type"]](config) for _ in range(2))
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(width, 3 * width), "c_proj": nn.Linear(width, width)})
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})
        # Softmax cancels the biases of keys, so the lab has none: here they stay 0.
        learned = torch.tensor([1.0, 0.0, 1.0]).repeat_interleave(width)
        self.attn["c_attn"].bias.register_hook(lambda gradient: gradient * learned.to(gradient))

    def attention(self, x):
        parts = self.attn["c_attn"](x).unflatten(-1, (3, self.config["n_head"], -1))
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each [rows, heads, length, size]
        scale = None if self.config["scale_attn_weights"] else 1.0
        dropout = self.config["attn_pdrop"] if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True, scale=scale)
        return self.attn["c_proj"](mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        dropped = lambda y: F.dropout(y, self.config["resid_pdrop"], self.training)
        x = x + dropped(self.attention(self.ln_1(x)))
        hidden = ACTIVATIONS[self.config["activation_function"]](self.mlp["c_fc"](self.ln_2(x)))
        return x + dropped(self.mlp["c_proj"](hidden))

class GPT(nn.Module):
    """GPT-2 with its mean loss, in nats per token. Tensor names are those of Hugging Face's transformers."""
    def __init__(self, config):
        super().__init__()
        width, vocabulary, self.config = config["n_embd"], config["vocab_size"], config
        embeddings = {"wte": nn.Embedding(vocabulary, width), "wpe": nn.Embedding(config["n_positions"], width)}
        blocks, norm = nn.Sequential(*[Block(config) for _ in range(config["n_layer"])]), NORMS[config["model_type"]]
        self.transformer = nn.ModuleDict({**embeddings, "h": blocks, "ln_f": norm(config)})
        self.lm_head = None if config["tie_word_embeddings"] else nn.Linear(width, vocabulary, bias=False)

    def forward(self, windows):
        parts, tokens, targets = self.transformer, windows[:, :-1], windows[:, 1:]
        x = parts["wte"](tokens) + parts["wpe"].weight[: tokens.shape[1]]
        x = parts["h"](F.dropout(x, self.config["embd_pdrop"], self.training))
        head = parts["wte"] if self.lm_head is None else self.lm_head
        return F.cross_entropy((parts["ln_f"](x) @ head.weight.T).flatten(0, 1).float(), targets.flatten())

def random_integers(key):
    """32-bit integers from the stream cipher ChaCha8 (Bernstein 2008), which the page uses to pick its batches."""
    rotated = lambda x, by: (x << by | x >> (32 - by)) & 0xFFFFFFFF
    quarters = [(i, 4 + (i + d) % 4, 8 + (i + 2 * d) % 4, 12 + (i + 3 * d) % 4) for d in range(2) for i in range(4)]
    for block in itertools.count():
        start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, block & 0xFFFFFFFF, block >> 32, 0, 0]
        s = start.copy()
        for a, b, c, d in quarters * 4:  # eight rounds
            for left, right, third, by in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)]:
                s[left] = (s[left] + s[right]) & 0xFFFFFFFF
                s[third] = rotated(s[third] ^ s[left], by)
        yield from ((x + y) & 0xFFFFFFFF for x, y in zip(s, start))

def batch_at(tokens, seed, step, rows, context):
    """The batch that the page draws once `step` steps are done: each row has a context's tokens and the next one."""
    integers = random_integers([seed, 2, step, 0, 0, 0, 0, 0])  # 2: the stream for batches
    starts = [next(integers) * (len(tokens) - context) >> 32 for _ in range(rows)]  # scaled to a valid start
    return tokens.unfold(0, context + 1, 1)[starts]

def rate_at(step, peak, warmup):
    """The learning rate of update number `step`, counted from 1: linear warm-up, then half a cosine down to a tenth."""
    if step <= warmup: return peak * step / warmup
    progress = min(1.0, (step - warmup) / max(1, DECAY_STEPS - warmup))
    return peak * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * progress)))

def tokens_of(text, metadata):
    """The tokens of a text: characters, bytes or byte pairs, whichever the model reads."""
    if "vocabulary" in metadata:
        ids = {character: token for token, character in enumerate(json.loads(metadata["vocabulary"]))}
        return torch.tensor([ids.get(character, 0) for character in text])
    if not json.loads(metadata["unroll"])["merges"]:
        return torch.tensor(list(text.encode()))
    import tokenizers
    return torch.tensor(tokenizers.Tokenizer.from_str(metadata["tokenizer"]).encode(text).ids)

def split(tokens, context):
    """All but the last tenth to train on, and windows spread over that tenth. A very short text is used whole."""
    held_out = min(len(tokens) // 10, len(tokens) - context - 1)
    if held_out < 2: return tokens, tokens.new_empty(0, 1)
    tokens, rest = tokens[:-held_out], tokens[-held_out:]
    length = min(context, held_out - 1)
    count = min((held_out - 1) // length, max(8, 1536 // context))
    starts = [index * (held_out - 1 - length) // max(1, count - 1) for index in range(count)]
    return tokens, rest.unfold(0, length + 1, 1)[starts]

@torch.no_grad()
def held_out_loss(model, windows, rows):
    """The mean loss on windows of held-out text, at most `rows` at once. The page measures it every 20 steps, too."""
    model.eval()
    losses = [model(part).item() * len(part) for part in windows.split(rows)]
    model.train()
    return sum(losses) / len(windows)

def main():
    parser = argparse.ArgumentParser(description="Continues a run from Unroll's lab.")
    parser.add_argument("--folder", type=pathlib.Path, default="run", help="folder with the run's models and losses")
    parser.add_argument("--text", type=pathlib.Path, default="text.txt", help="the text it trains on (UTF-8)")
    parser.add_argument("--steps", type=int, default=1000, help="total number of steps to reach")
    parser.add_argument("--lr", type=float, help="peak learning rate from now on, instead of the run's own")
    parser.add_argument("--rows", type=int, default=64, help="maximum rows per process at once")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16, which many GPUs do faster")
    args = parser.parse_args()
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if torch.cuda.is_available() else "cpu")
    if world > 1: dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    models = [path for path in args.folder.glob("unroll-step-*.safetensors") if path.stem[12:].isdecimal()]
    if not models: parser.error(f"There is no unroll-step-….safetensors in {args.folder}.")
    with safetensors.safe_open(max(models, key=lambda path: int(path.stem[12:])), "pt") as file:
        metadata, tensors = file.metadata(), {name: turned(name, file.get_tensor(name)) for name in file.keys()}
    config, unroll = json.loads(metadata["config"]), json.loads(metadata["unroll"])
    settings = {**DEFAULTS, **dict(urllib.parse.parse_qsl(unroll["settings"]))}
    seed, rows, warmup = (int(settings[name]) for name in ["seed", "batch", "warmup"])
    step, context, own_rows = unroll["step"], config["n_positions"], rows // world
    clip, peak = float(settings["clip"]), args.lr or float(unroll.get("learning_rate", settings["lr"]))
    if config.get("model_type") not in NORMS or settings["optimizer"] != "adamw":
        parser.error("This script only works with models built like GPT-2 and trained with AdamW.")
    if rows % world: parser.error(f"A batch has {rows} rows, which {world} processes can't share evenly.")
    model = GPT(config).to(device)
    model.load_state_dict({name: tensors[name] for name in model.state_dict()})
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": float(settings["decay"])},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=BETAS, eps=EPSILON)
    for name, p in model.named_parameters():
        kept = {kind: tensors.get(prefix + name, torch.zeros_like(p)).to(device) for kind, prefix in ADAM.items()}
        optimizer.state[p] = {"step": torch.tensor(float(step)), **kept}
    parallel = nn.parallel.DistributedDataParallel(model) if world > 1 else model
    tokens, windows = split(tokens_of(args.text.read_bytes().decode("utf-8-sig"), metadata), context)

    def save():
        now = model.state_dict()
        for kind, prefix in ADAM.items():
            now |= {prefix + name: optimizer.state[p][kind] for name, p in model.named_parameters()}
        now = {name: turned(name, tensor.cpu()) for name, tensor in now.items()}
        about = {**metadata, "unroll": json.dumps({**unroll, "step": step, "learning_rate": peak})}
        path = args.folder / f"unroll-step-{step}.safetensors"
        safetensors.torch.save_file(now, path.with_suffix(".part"), about)
        path.with_suffix(".part").replace(path)  # so that no half-written file has this name

    saved, losses = step, args.folder / "losses.csv"
    if rank == 0:  # drop lines that were cut off, and losses after the latest model: those steps run again
        lines = losses.read_text().splitlines()[1:] if losses.exists() else []
        lines = [line for line in lines if line.count(",") == 4 and int(line.split(",")[0]) <= step]
        losses.with_suffix(".part").write_text("\n".join([COLUMNS, *lines, ""]))
        losses.with_suffix(".part").replace(losses)
        if step >= args.steps: print(f"This run is at step {step}. To train on, ask for more --steps.")
    while step < args.steps:
        torch.manual_seed(hash((seed, step, rank)))  # each process drops other values, at each step the same again
        batch = batch_at(tokens, seed, step, rows, context)[rank::world].to(device)
        loss = torch.zeros((), device=device)
        for part in batch.split(args.rows):
            with torch.autocast(device.type, torch.bfloat16, enabled=args.bf16):
                part_loss = parallel(part) * len(part) / own_rows
            part_loss.backward()  # gradients add up over the parts
            loss += part_loss.detach() / world
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip or math.inf)  # 0: no clipping
        if world > 1: dist.all_reduce(loss)
        loss, norm, rate = loss.item(), norm.item(), rate_at(step + 1, peak, warmup)
        if not math.isfinite(loss + norm):  # all processes have the same loss and norm, so all stop
            problem = f"Step {step + 1} was not taken: its loss is {loss} and its gradient norm is {norm}."
            if rank == 0: print(problem, f"Try a lower learning rate: --lr {peak / 4:g}", file=sys.stderr)
            break
        for group in optimizer.param_groups: group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if rank == 0:
            held_out = "" if step % 20 or not len(windows) else held_out_loss(model, windows.to(device), args.rows)
            with open(losses, "a") as file: print(step, loss, norm, rate, held_out, sep=",", file=file)
            print(f"step {step}: loss {loss:.4f}", held_out and f"held-out loss {held_out:.4f}", flush=True)
            if step >= saved + max(1, saved // 16) or step >= args.steps:  # often at first, then less and less
                saved = step
                save()
    if world > 1: dist.barrier(); dist.destroy_process_group()  # once all processes are here
    if step < args.steps: sys.exit(1)

main()
