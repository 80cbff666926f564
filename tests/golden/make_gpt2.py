"""A small GPT-2 with its tokenizer as Hugging Face publishes them, and what it computes.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0 transformers safetensors tokenizers
    /tmp/golden/bin/python tests/golden/make_gpt2.py

Writes beside itself, into gpt2/: model.safetensors (half precision), config.json, tokenizer.json, the same
tokenizer as vocab.json and merges.txt, and expected.json. Into tokenizer/: a larger tokenizer.json, and lines.json,
which tells how 10,000 lines are made of fragments and what their tokens are, as a hash of each hundred lines.
"""

import json
import pathlib

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel

HERE = pathlib.Path(__file__).parent
END = "<|endoftext|>"
TALES = (HERE.parents[1] / "assets/corpora/tales.txt").read_text()

FRAGMENTS = (
    "the of and to in is that it was for on are with they be at one have this from or had by but what all were "
    "when we there can an your which their said if do will each about how up out them then she many some so these "
    "would other into has more her two like him see time could no make than first been its who now people my made "
    "over did down only way find use may water long little very after words called just where most know"
).split() + [
    "don't", "we'll", "I'm", "they've", "you're", "he'd", "it's", "'tis", "rock'n'roll", "DON'T", "''", "'s", "'ll'",
    "fn main() {", "let mut x = 0;", "if (a && b) { return -1; }", "#include <stdio.h>", "x**2 + y_1", "</div>", "=>",
    "self.items[i]", "\\n", "https://example.org/a?b=c&d=%20", "{\"key\": [1, 2.5, null]}", "0x1F", "3.14159", "1,000,000",
    "2024-11-25", "12:30", "$5.00", "100%", "½", "x²", "Ⅷ", "①", "٣", "四", "北京是中国的首都", "世界", "こんにちは", "カタカナ",
    "한국어", "привет мир", "Ελληνικά", "שלום", "مرحبا", "नमस्ते", "สวัสดี", "Tiếng Việt", "naïve café", "e\u0301", "ﬁ", "Straße", "İ",
    "🙂", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "→", "…", "—", "“quoted”", "«»", "©", "\u200b", "\ufeff", "\u00ad", "\x00", "\x1f", "\x85", "\u2028",
    END, "<|end", "...", "!!!", "?!", "(", ")", "---", "___", "@", "#",
]
SEPARATORS = ["", "", " ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", " \n ", "\u00a0", "\u3000", "\r\n"]
RANGES = [
    (0x20, 0x7E), (0xA0, 0xFF), (0x100, 0x17F), (0x300, 0x36F), (0x370, 0x373), (0x391, 0x3A1), (0x400, 0x45F),
    (0x5D0, 0x5EA), (0x620, 0x64A), (0x64B, 0x65F), (0x660, 0x669), (0x904, 0x939), (0x93E, 0x94C), (0x966, 0x96F),
    (0xE01, 0xE30), (0x1F00, 0x1F15), (0x2000, 0x200F), (0x2010, 0x2027), (0x2070, 0x2071), (0x2074, 0x208E),
    (0x2160, 0x2188), (0x2190, 0x21FF), (0x2460, 0x24FF), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FA5),
    (0xAC00, 0xD7A3), (0xE000, 0xE010), (0xFF01, 0xFF5E), (0x10330, 0x1034A), (0x1D400, 0x1D454), (0x1F600, 0x1F64F),
]
LINES, GROUP = 10_000, 100


def numbers():
    """Knuth's linear congruential generator, its upper 31 bits."""
    state = 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def lines():
    random_numbers = numbers()
    below = lambda count: next(random_numbers) % count
    for _ in range(LINES):
        line = ""
        for _ in range(1 + below(16)):
            if below(4) < 3:
                line += FRAGMENTS[below(len(FRAGMENTS))]
            else:
                first, last = RANGES[below(len(RANGES))]
                line += "".join(chr(first + below(last - first + 1)) for _ in range(1 + below(6)))
            line += SEPARATORS[below(len(SEPARATORS))]
        yield line


def fnv(ids, value):
    """FNV-1a over 32-bit numbers, least significant byte first, with a separator after each line."""
    for id in [*ids, 2**32 - 1]:
        for byte in id.to_bytes(4, "little"):
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def trained(size):
    tokenizer = ByteLevelBPETokenizer()
    texts = [*TALES.splitlines(keepends=True), *FRAGMENTS, *FRAGMENTS, *FRAGMENTS]
    tokenizer.train_from_iterator(texts, vocab_size=size, min_frequency=2, special_tokens=[END], show_progress=False)
    return tokenizer


folder = HERE / "tokenizer"
folder.mkdir(exist_ok=True)
large = trained(1000)
large.save(str(folder / "tokenizer.json"), pretty=False)
hashes = []
for number, line in enumerate(lines()):
    if number % GROUP == 0:
        hashes.append(0xCBF29CE484222325)
    hashes[-1] = fnv(large.encode(line).ids, hashes[-1])
about = {"fragments": FRAGMENTS, "separators": SEPARATORS, "ranges": RANGES, "lines": LINES, "group": GROUP}
first = [{"line": line, "ids": large.encode(line).ids} for line, _ in zip(lines(), range(20))]
(folder / "lines.json").write_text(json.dumps({**about, "hashes": [f"{h:016x}" for h in hashes], "first": first}))

folder = HERE / "gpt2"
folder.mkdir(exist_ok=True)
tokenizer = trained(300)
tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
tokenizer.save_model(str(folder))
torch.manual_seed(11)
end = tokenizer.token_to_id(END)
config = GPT2Config(
    vocab_size=300, n_positions=96, n_embd=48, n_layer=2, n_head=4, bos_token_id=end, eos_token_id=end
)
model = GPT2LMHeadModel(config).eval()
with torch.no_grad():
    # Biases (the keys' too) and norms are trivial at the start, and must not be here.
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter) * 0.15)
model.half().save_pretrained(folder)
(folder / "generation_config.json").unlink(missing_ok=True)
model = model.float()
text = "Once, there wasn't a café 🙂."
ids = tokenizer.encode(text).ids
with torch.no_grad():
    logits = model(torch.tensor([ids])).logits[0]

    def written_after(prompt):
        """The 50 likeliest tokens, one after the other, or as many as the context holds."""
        tokens = list(prompt)
        while len(tokens) < min(len(prompt) + 50, config.n_positions):
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
        return tokens[len(prompt):]

    greedy = written_after(ids)
    # As the page does, which begins without a prompt.
    begun = written_after([end])
    # The eager attention is asked for: the other does not tell its weights.
    model.set_attn_implementation("eager")
    attentions = model(torch.tensor([ids]), output_attentions=True).attentions

    # What the final norm and the unembedding make of the stream after so many blocks (the last of the hidden states
    # has been normalized already).
    hidden = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    streams = [model.transformer.ln_f(state[0]) for state in hidden[:-1]] + [hidden[-1][0]]
    shares = [torch.softmax(model.lm_head(stream), -1) for stream in streams]
    best = shares[-1].argmax(-1)
    lens = {
        "best": [[int(id) for id in share.argmax(-1)] for share in shares],
        "shares": [share.max(-1).values.tolist() for share in shares],
        "finally": [share.gather(-1, best[:, None])[:, 0].tolist() for share in shares],
    }

    # What each head does with the text: the entropy of its rows in nats, how far back it looks, and its weight on the
    # first token and on the one before. The first row, which has nothing to choose from, does not count.
    places = torch.arange(len(ids))
    back = (places[:, None] - places).clamp(min=0)

    def statistics(head):
        entropy = torch.special.entr(head).sum(-1)
        distance = (head * back).sum(-1)
        return [each[1:].mean().item() for each in (entropy, distance, head[:, 0])] + [head.diagonal(-1).mean().item()]

    habits = [[statistics(head) for head in layer[0]] for layer in attentions]

    # How alike the learned positions are: every other one, which is as many of 96 as the page shows.
    positions = torch.nn.functional.normalize(model.transformer.wpe.weight[::2].double(), dim=-1)
    cosines = (positions @ positions.T).tolist()

    # How much each head looks at certain places of tokens that are repeated.
    half = list(range(20, 32))
    repeated = [0, *half, *half]
    output = model(torch.tensor([repeated]), output_attentions=True)
    count, all_of, second = len(half), range(1, len(repeated)), range(len(half) + 1, len(repeated))
    looks = {
        "previous": [(t, t - 1) for t in all_of if t > 1],
        "first": [(t, 0) for t in all_of],
        "itself": [(t, t) for t in all_of],
        "same": [(t, t - count) for t in second],
        "induction": [(t, t - count + 1) for t in second],
    }
    scores = {
        name: [[sum(float(head[t, s]) for t, s in places) / len(places) for head in layer[0]]
               for layer in output.attentions]
        for name, places in looks.items()
    }
    logs = torch.log_softmax(output.logits[0], -1)
    surprises = [-float(logs[t - 1, repeated[t]]) for t in all_of]
    # The first token of the second half can't be known yet.
    losses = [sum(surprises[:count]) / count, sum(surprises[count + 1:]) / (count - 1)]

    # The stream of one text put in place of another's, at one token after so many blocks.
    other_text = "Only, there wasn't a café 🙃."
    other = tokenizer.encode(other_text).ids
    assert len(other) == len(ids) and other != ids
    target = int(logits[-1].argmax())
    patched = []
    for depth in range(config.n_layer + 1):
        patched.append([])
        for place in range(len(ids)):
            # Of the last layer's output, what the final norm reads.
            module = model.transformer.h[depth] if depth < config.n_layer else model.transformer.ln_f
            states = []
            handle = module.register_forward_pre_hook(lambda _, args: states.append(args[0].clone()))
            model(torch.tensor([ids]))
            handle.remove()

            def put(_, args):
                stream = args[0].clone()
                stream[0, place] = states[0][0, place]
                return (stream, *args[1:])

            handle = module.register_forward_pre_hook(put)
            patched[-1].append(float(torch.softmax(model(torch.tensor([other])).logits[0, -1], -1)[target]))
            handle.remove()


def rounded(values):
    return [rounded(value) for value in values] if isinstance(values, list) else float(f"{values:.6g}")


expected = {
    "text": text,
    "ids": ids,
    "logits": rounded(logits.tolist()),
    "weights": [rounded(layer[0].tolist()) for layer in attentions],
    "lens": {name: rounded(values) if name != "best" else values for name, values in lens.items()},
    "habits": rounded(habits),
    "cosines": rounded(cosines),
    "half": half,
    "scores": {name: rounded(values) for name, values in scores.items()},
    "losses": rounded(losses),
    "other": other_text,
    "patched": rounded(patched),
    "greedy": greedy,
    "written": tokenizer.decode(greedy),
    "begun": tokenizer.decode(begun, skip_special_tokens=False),
}
(folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False))
