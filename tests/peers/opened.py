"""What tests/bench-opened.mjs measures, by PyTorch in eager mode on one thread, and what the model must compute.

    python opened.py make FOLDER           # a model of GPT-2's shapes, with random weights
    python opened.py time FOLDER [TIMES]   # prints one JSON object a line
    python opened.py expect FOLDER         # writes expected.safetensors there, for a test in app/src/kept/arriving.rs

The tokenizer it makes has as many tokens as GPT-2's: those of single bytes, a few words, and words of a letter and a
number, which no text holds.
"""

import json
import pathlib
import statistics
import sys
import time

import torch
from safetensors.torch import save_file
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from transformers import GPT2Config, GPT2LMHeadModel

TOKENS = 50_257
PROMPTS, LENGTH = (64, 256), 40
SENTENCE = "the old man and his one dog sat on the wall by the sea and looked at the ships, one by one, until it was dark. "


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = ByteLevelBPETokenizer()
    words = [" the", " one", "the", "one"]
    tokenizer.train_from_iterator(words * 9, vocab_size=300, min_frequency=1, show_progress=False)
    data = json.loads(tokenizer._tokenizer.to_str())
    vocabulary, merges = data["model"]["vocab"], data["model"]["merges"]
    # Every pair of two bytes' tokens, then of those and a byte, until there are enough.
    letters = list(vocabulary)[:256]
    known = list(letters)
    for left in known:
        for right in letters:
            if len(vocabulary) == TOKENS:
                break
            if left + right not in vocabulary and left not in "Ġtheon" and right not in "theon":
                vocabulary[left + right] = len(vocabulary)
                merges.append([left, right])
    assert len(vocabulary) == TOKENS, len(vocabulary)
    (folder / "tokenizer.json").write_text(json.dumps(data))
    torch.manual_seed(1)
    GPT2LMHeadModel(GPT2Config(bos_token_id=0, eos_token_id=0)).save_pretrained(folder)


def milliseconds(work, times):
    work()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(taken), 1)


@torch.inference_mode()
def measure(folder, times):
    torch.set_num_threads(1)
    began = time.perf_counter()
    model = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    print(json.dumps({"name": "pytorch/loaded", "unit": "s", "seconds": round(time.perf_counter() - began, 2)}))
    for count in PROMPTS:
        ids = torch.tensor([tokenizer.encode(" ".join(["the"] * count)).ids])
        assert ids.shape[1] == count, ids.shape
        forward = milliseconds(lambda: model(ids, output_attentions=True), times)
        print(json.dumps({"name": f"pytorch/{count}-tokens", "unit": "ms", "median": forward}))

    def write():
        output = model(ids[:, :4], use_cache=True)
        for _ in range(LENGTH):
            best = output.logits[:, -1:].argmax(-1)
            output = model(best, past_key_values=output.past_key_values, use_cache=True)

    speed = 1000 * LENGTH / milliseconds(write, times)
    print(json.dumps({"name": "pytorch/writing", "unit": "tokens/s", "median": round(speed, 1)}))


@torch.inference_mode()
def expect(folder):
    """The logits after each of 64 tokens, and the 50 tokens that greedy decoding writes after them."""
    model = GPT2LMHeadModel.from_pretrained(folder).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = tokenizer.encode(SENTENCE).ids[:64]
    output = model(torch.tensor([ids]), use_cache=True)
    logits, greedy = output.logits[0], []
    for _ in range(50):
        greedy.append(output.logits[0, -1].argmax().item())
        output = model(torch.tensor([greedy[-1:]]), past_key_values=output.past_key_values, use_cache=True)
    assert len(ids) == 64, ids
    ids, greedy = (torch.tensor(each, dtype=torch.int32) for each in (ids, greedy))
    text = {"text": tokenizer.decode(ids.tolist())}
    save_file({"ids": ids, "logits": logits.contiguous(), "greedy": greedy}, folder / "expected.safetensors", text)


folder = pathlib.Path(sys.argv[2])
if sys.argv[1] == "make":
    make(folder)
elif sys.argv[1] == "expect":
    expect(folder)
else:
    measure(folder, int(sys.argv[3]) if len(sys.argv) > 3 else 5)
