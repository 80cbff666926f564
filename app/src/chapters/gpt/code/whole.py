import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
V, T, C, h = 40, 24, 64, 4  # vocabulary, tokens, width, heads
E, P, W = torch.randn(V, C), torch.randn(48, C), torch.randn(C, V) / C**0.5
blocks = [
    torch.nn.TransformerEncoderLayer(C, h, 4 * C, 0, "gelu", norm_first=True)
    for _ in range(2)
]
final_norm = torch.nn.LayerNorm(C)
ids = torch.randint(V, (T,))

# --- A whole GPT
def gpt(ids):  # [T]
    x = E[ids] + P[: len(ids)]  # [T, C], token and position
    future = torch.ones(len(ids), len(ids)).triu(1).bool()  # [T, T]
    for block in blocks:
        x = block(x, src_mask=future)  # [T, C]
    return final_norm(x) @ W  # [T, V]

logits = gpt(ids)  # [T, V]
p = torch.softmax(logits, dim=-1)  # [T, V], what comes after each token
print(p[-1].topk(3))  # the three likeliest to come next

# --- No row knows what comes after it
changed = ids.clone()
changed[-1] = (ids[-1] + 1) % len(E)
torch.testing.assert_close(gpt(changed)[:-1], logits[:-1])
assert not torch.allclose(gpt(changed)[-1], logits[-1])

# --- The GPT on the page, and your sentence
def norm(name):
    layer = torch.nn.LayerNorm(C)
    layer.weight.data = weights[f"{name}.gamma"]
    layer.bias.data = weights[f"{name}.beta"]
    return layer

def made(number):
    name = f"blocks.{number}"
    part = {key: weights.get(f"{name}.{key}") for key in [
        "attention.query.weight", "attention.key.weight", "attention.value.weight",
        "attention.query.bias", "attention.value.bias",
    ]}
    W_Q, W_K, W_V, b_Q, b_V = part.values()
    block = torch.nn.TransformerEncoderLayer(C, h, 4 * C, 0, "gelu", norm_first=True)
    attention = block.self_attn
    attention.in_proj_weight.data = torch.cat([W_Q, W_K, W_V], dim=1).T
    attention.in_proj_bias.data = torch.cat([b_Q, torch.zeros(C), b_V])
    for layer, path in [
        (attention.out_proj, "attention.output"),
        (block.linear1, "feed_forward.hidden"),
        (block.linear2, "feed_forward.output"),
    ]:
        layer.weight.data = weights[f"{name}.{path}.weight"].T
        layer.bias.data = weights[f"{name}.{path}.bias"]
    block.norm1 = norm(f"{name}.attention_norm")
    block.norm2 = norm(f"{name}.feed_forward_norm")
    return block

E, P = weights["token_embedding.weight"], weights["position_embedding.weight"]
W = weights.get("head.weight", E.T)  # [C, V], the embedding again where they are tied
h, C = page["heads"], E.shape[1]
blocks = [made(number) for number in range(page["layers"])]
final_norm = norm("final_norm")
ids = torch.tensor(page["ids"])

# --- The bets that the page shows
likeliest = p[-1].topk(5)
for share, number in zip(*likeliest):
    print(f"{page['vocabulary'][number]!r:>10} {share:.1%}")
torch.testing.assert_close(p, page["probabilities"], rtol=1e-3, atol=1e-5)
