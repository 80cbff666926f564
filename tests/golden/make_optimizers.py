"""Golden values of 20 steps with each optimizer, from PyTorch.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/make_optimizers.py

Writes optimizers.json beside itself. The model is that of make_gpt.py. Everything is computed in f64,
from weights that are exact in f32. PyTorch's Muon makes a matrix orthogonal in bfloat16, whose
rounding nothing could be held to: here that conversion is left out, and the rest is PyTorch's.
"""

import json
import pathlib

import torch
import torch.nn.functional as F

from make_gpt import Gpt, rate_at, stored, stored_name

VOCABULARY, LAYERS, HEADS, WIDTH, CONTEXT, BATCH, STEPS = 7, 1, 2, 8, 6, 3, 20
OPTIMIZER = {
    "learning_rate": 0.01, "warmup_steps": 4, "decay_steps": 16, "weight_decay": 0.1,
    "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "clip_norm": 0.5,
}


def optimizers(kind, model):
    """Matrices decay, vectors do not."""
    beta1, beta2, epsilon, decay = (OPTIMIZER[n] for n in ("beta1", "beta2", "epsilon", "weight_decay"))
    named = list(model.named_parameters())
    muon = [p for n, p in named if p.dim() == 2 and n.startswith("blocks.")] if kind == "Muon" else []
    rest = [p for _, p in named if not any(p is other for other in muon)]
    groups = [
        {"params": [p for p in rest if p.dim() >= 2], "weight_decay": decay},
        {"params": [p for p in rest if p.dim() < 2], "weight_decay": 0.0},
    ]
    adam = {"betas": (beta1, beta2), "eps": epsilon}
    if kind == "Sgd":
        return [torch.optim.SGD(groups, lr=1.0, momentum=beta1)]
    if kind == "Adam":
        return [torch.optim.Adam(groups, **adam)]
    made = [torch.optim.AdamW(groups, **adam)]
    if muon:
        made.append(torch.optim.Muon(muon, lr=1.0, weight_decay=decay, momentum=0.95, nesterov=True, adjust_lr_fn="match_rms_adamw"))
    return made


def run(kind, rate):
    torch.manual_seed(5)
    model = Gpt(VOCABULARY, LAYERS, HEADS, WIDTH, CONTEXT, False).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            draws = torch.randn(parameter.shape) * (0.3 if parameter.dim() >= 2 else 0.1)
            parameter.copy_((draws + ("norm.weight" in name)).double())
    initial = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    batches = torch.randint(0, VOCABULARY, (STEPS, BATCH, CONTEXT + 1))
    made, losses = optimizers(kind, model), []
    for step, tokens in enumerate(batches):
        for optimizer in made:
            optimizer.zero_grad()
            for group in optimizer.param_groups:
                group["lr"] = rate_at(step + 1, rate, OPTIMIZER["warmup_steps"], OPTIMIZER["decay_steps"])
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), OPTIMIZER["clip_norm"])
        for optimizer in made:
            optimizer.step()
        losses.append(loss.item())
    final = {name: parameter.detach() for name, parameter in model.named_parameters()}
    return initial, batches, losses, final


def values(tensors):
    return [{"name": stored_name(n), "values": stored(n, t)} for n, t in tensors.items()]


torch.set_num_threads(1)
torch.Tensor.bfloat16 = lambda tensor: tensor
runs = []
for kind, rate in [("AdamW", 0.01), ("Adam", 0.01), ("Sgd", 0.1), ("Muon", 0.01)]:
    initial, batches, losses, final = run(kind, rate)
    runs.append({"optimizer": {**OPTIMIZER, "kind": kind, "learning_rate": rate}, "losses": losses, "final": values(final)})
golden = {
    "spec": {"layers": LAYERS, "heads": HEADS, "width": WIDTH, "context": CONTEXT, "dropout": 0.0, "tied": False},
    "vocabulary": VOCABULARY,
    "batch": BATCH,
    "tokens": [tokens.flatten().tolist() for tokens in batches],
    "initial": values(initial),
    "runs": runs,
}
target = pathlib.Path(__file__).with_name("optimizers.json")
target.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(target, target.stat().st_size, [run["losses"][-1] for run in runs])
