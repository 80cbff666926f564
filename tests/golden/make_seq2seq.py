"""Golden values of encoder-decoders, written out in PyTorch with autograd.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0
    /tmp/golden/bin/python tests/golden/make_seq2seq.py

Writes seq2seq.json beside itself: Cho's encoder-decoder, Bahdanau's attention, and Luong's dot,
general and concat, with one-way and bidirectional encoders, on sources of unequal length. Each
sequence is run by itself, without padding; the loss is the mean over all target tokens. Matrices
are stored as [in, out].
"""

import json
import pathlib

import torch


def numbers(tensor):
    # 9 significant digits tell any two f32 apart.
    return [float(f"{x:.9g}") for x in tensor.detach().to(torch.float64).flatten().tolist()]


def drawn(*shape, deviation=0.4):
    # Drawn in f32, as they are stored; computed with in f64, so that what is off is off elsewhere.
    return (torch.randn(*shape) * deviation).double().requires_grad_()


def gru(p, name, x, h):
    """PyTorch's GRU cell; x is W x + b already."""
    u = h @ p[name + ".recurrent_weight"]
    n = h.shape[-1]
    r = torch.sigmoid(x[:n] + u[:n])
    z = torch.sigmoid(x[n : 2 * n] + u[n : 2 * n])
    c = torch.tanh(x[2 * n :] + r * (u[2 * n :] + p[name + ".candidate_bias"]))
    return (1 - z) * c + z * h


def one_hot(token, count):
    return torch.nn.functional.one_hot(torch.tensor(token), count).double()


def run(p, kind, both, hidden, source, target, sources, targets):
    """States, contexts, scores, weights and logits of one pair."""
    def read(name, tokens):
        h, states = torch.zeros(hidden, dtype=torch.float64), []
        for token in tokens:
            x = one_hot(token, sources) @ p[name + ".input_weight"] + p[name + ".bias"]
            h = gru(p, name, x, h)
            states.append(h)
        return states

    states = read("forward", source)
    summary = states[-1]
    if both:
        backward = read("backward", source[::-1])[::-1]
        summary = torch.cat([states[-1], backward[0]])
        states = [torch.cat(pair) for pair in zip(states, backward)]
    h = torch.stack(states)
    if "projection" in p:
        h = h @ p["projection"]

    def score(s):
        if kind == "dot":
            return h @ s
        if kind == "general":
            return h @ (s @ p["attention.query"])
        return torch.tanh(s @ p["attention.query"] + h @ p["attention.key"]) @ p["attention.vector"]

    s = torch.tanh(summary @ p["initial.weight"] + p["initial.bias"])
    rows = {"decoder": [], "contexts": [], "scores": [], "weights": [], "logits": []}
    previous = 0
    for token in target:
        y = one_hot(previous, targets)
        if kind in ("none", "additive"):
            if kind == "additive":
                scores = score(s)
                weights = torch.softmax(scores, 0)
                context = weights @ h
            else:
                context = summary
            s = gru(p, "decoder", torch.cat([y, context]) @ p["decoder.input_weight"] + p["decoder.bias"], s)
            logits = torch.cat([s, context]) @ p["readout.weight"] + y @ p["from_previous"]
        else:
            s = gru(p, "decoder", y @ p["decoder.input_weight"] + p["decoder.bias"], s)
            scores = score(s)
            weights = torch.softmax(scores, 0)
            context = weights @ h
            logits = torch.tanh(torch.cat([context, s]) @ p["mix"]) @ p["readout.weight"]
        logits = logits + p["readout.bias"]
        rows["decoder"].append(s)
        rows["contexts"].append(context)
        rows["logits"].append(logits)
        if kind != "none":
            rows["scores"].append(scores)
            rows["weights"].append(weights)
        previous = token
    return h, summary, rows


def case(kind, seed, both, hidden, alignment, source_rows, target_rows, sources=6, targets=5):
    torch.manual_seed(seed)
    summary = hidden * (2 if both else 1)
    projected = both and kind == "dot"
    context = hidden if projected else summary
    luongs = kind in ("dot", "general", "concat")
    p = {}

    def cell(name, inputs):
        p[name + ".input_weight"] = drawn(inputs, 3 * hidden)
        p[name + ".recurrent_weight"] = drawn(hidden, 3 * hidden)
        p[name + ".bias"] = drawn(3 * hidden)
        p[name + ".candidate_bias"] = drawn(hidden)

    cell("forward", sources)
    if both:
        cell("backward", sources)
    if projected:
        p["projection"] = drawn(summary, hidden)
    p["initial.weight"], p["initial.bias"] = drawn(summary, hidden), drawn(hidden)
    cell("decoder", targets if luongs else targets + context)
    # Larger: where weights are all alike, the gradients of scores cancel to little but rounding.
    of_score = lambda *shape: drawn(*shape, deviation=1.2)
    if kind == "general":
        p["attention.query"] = of_score(hidden, context)
    if kind in ("additive", "concat"):
        p["attention.query"] = of_score(hidden, alignment)
        p["attention.key"] = of_score(context, alignment)
        p["attention.vector"] = of_score(alignment)
    if luongs:
        p["mix"] = drawn(context + hidden, hidden)
    p["readout.weight"] = drawn(hidden if luongs else hidden + context, targets)
    p["readout.bias"] = drawn(targets)
    if not luongs:
        p["from_previous"] = drawn(targets, targets)

    pairs, losses = [], []
    for source, target in zip(source_rows, target_rows):
        h, c, rows = run(p, kind, both, hidden, source, target, sources, targets)
        logits = torch.stack(rows["logits"])
        losses.append(torch.nn.functional.cross_entropy(logits, torch.tensor(target), reduction="sum"))
        stored = {name: numbers(torch.stack(values)) if values else [] for name, values in rows.items()}
        pairs.append({"source": source, "target": target, "states": numbers(h), "summary": numbers(c), **stored})
    loss = sum(losses) / sum(len(target) for target in target_rows)
    loss.backward()
    return {
        "kind": kind, "both": both, "hidden": hidden, "alignment": alignment,
        "sources": sources, "targets": targets, "pairs": pairs, "loss": numbers(loss)[0],
        "parameters": [
            {"name": name, "value": numbers(value), "gradient": numbers(value.grad)}
            for name, value in p.items()
        ],
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    source_rows = [[1, 4, 2, 5, 3, 1], [2], [5, 3, 3]]
    target_rows = [[3, 1, 4, 0], [2, 2, 0], [1, 0]]
    cases = [
        case(kind, 10 * index + both, both, 4, 3, source_rows, target_rows)
        for index, kind in enumerate(["none", "additive", "dot", "general", "concat"], 1)
        for both in (False, True)
    ]
    # Longer than what is cut off by hand shows: gradients through 20 and more steps.
    long = [[(7 * i + 1) % 6 for i in range(24)], [(5 * i + 2) % 6 for i in range(17)]]
    longer = [[1 + (3 * i) % 4 for i in range(10)] + [0], [1 + i % 4 for i in range(7)] + [0]]
    cases.append(case("additive", 90, True, 5, 4, long, longer))
    target = pathlib.Path(__file__).with_name("seq2seq.json")
    target.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print(target, target.stat().st_size)
