"""Runs the README's example on model files that the page's code wrote, and compares what it finds.

    mkdir /tmp/models
    UNROLL_MODEL_FILES=/tmp/models cargo test -p unroll-app model_files_for_pytorch
    /tmp/golden/bin/python tests/golden/check_model_file.py /tmp/models

`cargo xtask test` does so where python3, or the Python that UNROLL_PYTHON names, has torch, transformers and
safetensors.
"""

import contextlib
import io
import json
import pathlib
import sys

import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import GPT2Config, GPT2LMHeadModel

README = pathlib.Path(__file__).parents[2] / "README.md"
PATH, TEXT = '"unroll-step-300.safetensors"', '"the cat sat"'


def check_tokens(path, expected):
    """A model whose tokens are bytes or byte pairs: its file has a tokenizer in place of the vocabulary."""
    with safe_open(path, "pt") as file:
        about, weights = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}
    tokenizer = Tokenizer.from_str(about["tokenizer"])
    assert tokenizer.encode(expected["mixed"]).ids == expected["ids"], path.name
    assert tokenizer.decode(expected["ids"]) == expected["mixed"], path.name
    model = GPT2LMHeadModel(GPT2Config(**json.loads(about["config"]))).eval()
    model.load_state_dict(weights)
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer.encode(expected["text"]).ids])).logits[0, -1]
    difference = (logits.softmax(-1) - torch.tensor(expected["logits"]).softmax(-1)).abs().max().item()
    assert difference < 1e-5, f"{path.name}: the shares differ by {difference}"
    print(f"passed {path.name}: {len(expected['ids'])} tokens, the shares differ by {difference:.1e} at most")


def main():
    code = README.read_text().split("```python\n")[1].split("```")[0]
    assert PATH in code and TEXT in code, "the README's example names its file and its text"
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.safetensors"))
    assert files, "no model file to check"
    for path in files:
        expected = json.loads(path.with_suffix(".json").read_text())
        if "ids" in expected:
            check_tokens(path, expected)
            continue
        own = code.replace(PATH, repr(str(path))).replace(TEXT, repr(expected["text"]))
        space = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(own, "README.md", "exec"), space)
        assert list(space["characters"]) == sorted(expected["logits"], key=list(space["characters"]).index)
        logits = torch.tensor([expected["logits"][character] for character in space["characters"]])
        difference = (logits.softmax(-1) - space["shares"]).abs().max().item()
        assert difference < 1e-5, f"{path.name}: the shares differ by {difference}"
        assert logits.argmax() == space["shares"].argmax(), path.name
        print(f"passed {path.name}: the shares differ by {difference:.1e} at most")


main()
