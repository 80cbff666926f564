"""Golden values of temperature, top k, top p and min p, from the library `transformers`: its logits
warpers, in its order.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.4.1 transformers==4.49.0
    /tmp/golden/bin/python tests/golden/make_sampling.py

Writes sampling.json beside itself, for model/tests/sampling.rs.
"""

import json
from pathlib import Path

import torch
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

torch.manual_seed(7)
CASES = [
    (1.0, 0, 1.0, 0.0),
    (0.5, 0, 1.0, 0.0),
    (2.0, 0, 1.0, 0.0),
    (1.0, 5, 1.0, 0.0),
    (1.0, 0, 0.9, 0.0),
    (1.0, 0, 0.3, 0.0),
    (1.0, 0, 1.0, 0.2),
    (0.8, 12, 0.9, 0.0),
    (1.5, 20, 0.95, 0.05),
    (0.7, 9, 0.8, 0.3),
    (1.6, 1, 0.9, 0.9),
]

cases = []
for temperature, top_k, top_p, min_p in CASES:
    for size, scale in [(24, 2.0), (60, 4.0)]:
        logits = (scale * torch.randn(1, size)).float()
        warpers = [TemperatureLogitsWarper(temperature)]
        warpers += [TopKLogitsWarper(top_k)] if top_k else []
        warpers += [TopPLogitsWarper(top_p)] if top_p < 1 else []
        warpers += [MinPLogitsWarper(min_p)] if min_p else []
        scores = logits
        for warp in warpers:
            scores = warp(None, scores)
        cases.append(
            {
                "temperature": temperature,
                "top_k": top_k,
                "top_p": top_p,
                "min_p": min_p,
                "logits": logits[0].tolist(),
                "shares": torch.softmax(scores, dim=-1)[0].tolist(),
            }
        )

path = Path(__file__).parent / "sampling.json"
path.write_text(json.dumps({"cases": cases}, separators=(",", ":")) + "\n")
