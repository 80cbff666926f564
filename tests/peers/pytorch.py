"""Training steps of PyTorch in eager mode on request: what model/examples/bench_rounds.rs is for ours.

`python pytorch.py TEXT THREADS` reads the same requests, a JSON object a line, and gives the same
answers. Idiomatic PyTorch: its own modules, its fused attention and its fused AdamW.
"""

import json
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

SAMPLE = 100.0  # milliseconds that a sample takes at least


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, context, width = x.shape
        parts = self.qkv(self.attention_norm(x)).split(width, dim=2)
        q, k, v = (p.view(batch, context, self.heads, -1).transpose(1, 2) for p in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(mixed.transpose(1, 2).reshape(batch, context, width))
        return x + self.feed_forward(self.norm(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, layers, heads, width):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() > 1:
                into = name.endswith(("output.weight", "feed_forward.2.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers) if into else 0.02)

    def forward(self, tokens):
        x = self.token(tokens) + self.position.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Recurrent(nn.Module):
    def __init__(self, kind, vocabulary, hidden):
        super().__init__()
        module = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[kind]
        self.vocabulary = vocabulary
        self.cell = module(vocabulary, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, vocabulary)

    def forward(self, tokens):
        return self.readout(self.cell(F.one_hot(tokens, self.vocabulary).float())[0])


class Seq2seq(nn.Module):
    """Cho et al. 2014: a GRU reads the source into one vector, another writes from it."""

    def __init__(self, symbols, hidden):
        super().__init__()
        self.symbols = symbols
        self.encoder = nn.GRU(symbols, hidden, batch_first=True)
        self.initial = nn.Linear(hidden, hidden)
        self.decoder = nn.GRU(symbols + hidden, hidden, batch_first=True)
        self.readout = nn.Linear(2 * hidden, symbols)
        self.from_previous = nn.Linear(symbols, symbols, bias=False)

    def forward(self, source, lengths, previous):
        states, _ = self.encoder(F.one_hot(source, self.symbols).float())
        summary = states[torch.arange(len(lengths)), lengths - 1]
        start = torch.tanh(self.initial(summary))[None]
        before = F.one_hot(previous, self.symbols).float()
        repeated = summary[:, None].expand(-1, previous.shape[1], -1)
        written, _ = self.decoder(torch.cat([before, repeated], 2), start)
        return self.readout(torch.cat([written, repeated], 2)) + self.from_previous(before)


class Run:
    """A model in training on windows of the text."""

    def __init__(self, request, tokens):
        torch.manual_seed(1)
        self.tokens, self.kind = tokens, request["kind"]
        self.batch, self.context = request["batch"], request["context"]
        self.vocabulary, self.rate = request.get("vocabulary"), request["rate"]
        self.steps = 0
        if self.kind == "gpt":
            sizes = (request["layers"], request["heads"], request["width"])
            self.model = Gpt(self.vocabulary, self.context, *sizes)
        elif self.kind == "seq2seq":
            self.vocabulary = 27  # letters and, as 0, the end
            self.model = Seq2seq(self.vocabulary, request["width"])
        else:
            self.model = Recurrent(self.kind, self.vocabulary, request["width"])
        matrices = [p for p in self.model.parameters() if p.dim() > 1]
        vectors = [p for p in self.model.parameters() if p.dim() <= 1]
        groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(
            groups, lr=self.rate, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1, fused=True
        )

    def window(self):
        """Logits and targets of a batch of windows of the text."""
        starts = torch.randint(len(self.tokens) - self.context - 1, (self.batch,))
        at = starts[:, None] + torch.arange(self.context)
        return self.model(self.tokens[at]), self.tokens[at + 1]

    def pairs(self):
        """Logits and targets of random strings of any length, to be reversed; -100 is padding."""
        lengths = torch.randint(1, self.context + 1, (self.batch,))
        longest = int(lengths.max())
        inside = torch.arange(longest) < lengths[:, None]
        source = torch.randint(1, self.vocabulary, (self.batch, longest)) * inside
        back = (lengths[:, None] - 1 - torch.arange(longest)).clamp(min=0)
        backwards = source.gather(1, back) * inside
        end = torch.zeros(self.batch, 1, dtype=torch.long)
        previous = torch.cat([end, backwards], 1)
        targets = torch.cat([backwards, end], 1)
        targets[torch.arange(longest + 1) > lengths[:, None]] = -100
        return self.model(source, lengths, previous), targets

    def step(self):
        logits, targets = self.pairs() if self.kind == "seq2seq" else self.window()
        loss = F.cross_entropy(logits.reshape(-1, self.vocabulary), targets.reshape(-1))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.steps += 1
        for group in self.optimizer.param_groups:
            # The GPT warms up as ours does; the chapters' recurrent models do not.
            warm = min(1.0, self.steps / 20) if self.kind == "gpt" else 1.0
            group["lr"] = self.rate * warm
        self.optimizer.step()
        return loss.item()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    ids = {character: index for index, character in enumerate(sorted(set(text)))}
    tokens = torch.tensor([ids[character] for character in text])
    torch.set_num_threads(int(sys.argv[2]))
    current, run = None, None
    for line in sys.stdin:
        request = json.loads(line)
        budget, each = request.pop("budget", 0), request.pop("each", None)
        if request != current:
            current, run = request, Run(request, tokens)
        chunk = max(1, math.ceil(SAMPLE / each)) if each else 1
        samples, losses = [], []
        begin = time.perf_counter()
        while not samples or (time.perf_counter() - begin) * 1e3 < budget:
            start = time.perf_counter()
            losses += [run.step() for _ in range(chunk)]
            samples.append((time.perf_counter() - start) * 1e3 / chunk)
        parameters = sum(p.numel() for p in run.model.parameters())
        print(json.dumps({"samples": samples, "losses": losses, "parameters": parameters}), flush=True)


# Other scripts import the models.
if __name__ == "__main__":
    main()
