"""Model files as another program writes them: transformers' GPT-2 class, small, with random weights.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0 transformers safetensors
    /tmp/golden/bin/python tests/golden/make_model_file.py

Writes beside itself, into model_file/: model.safetensors and config.json as `save_pretrained` does, a
vocab.json whose ids are in no order, bare-bf16.safetensors with the same weights as BF16 and names without
"transformer.", and expected.json with the logits of both.
"""

import json
import pathlib

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

FOLDER = pathlib.Path(__file__).parent / "model_file"
TOKENS = ["e", "b", " ", "<unk>", "a", "d", "c", "\n", "ü", "f"]
TEXT = "a bad café cab"

torch.manual_seed(7)
config = GPT2Config(
    vocab_size=len(TOKENS), n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=None, eos_token_id=None
)
model = GPT2LMHeadModel(config).eval()
with torch.no_grad():
    # Biases and norms are trivial at the start, and must not be here.
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter) * 0.2)
ids = {token: id for id, token in enumerate(TOKENS)}
tokens = torch.tensor([[ids.get(character, ids["<unk>"]) for character in TEXT]])


def logits():
    with torch.no_grad():
        return model(tokens).logits[0].tolist()


FOLDER.mkdir(exist_ok=True)
model.save_pretrained(FOLDER)
(FOLDER / "generation_config.json").unlink(missing_ok=True)
(FOLDER / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False))
expected = {"text": TEXT, "tokens": TOKENS, "logits": logits()}
bare = {name: value.to(torch.bfloat16) for name, value in model.transformer.state_dict().items()}
save_file({name: value.contiguous() for name, value in bare.items()}, FOLDER / "bare-bf16.safetensors")
model.transformer.load_state_dict({name: value.float() for name, value in bare.items()})
expected["logits_bf16"] = logits()
(FOLDER / "expected.json").write_text(json.dumps(expected, ensure_ascii=False))
