import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, C, h = 24, 64, 4  # tokens, width, heads
x = torch.randn(T, C)
W_Q, W_K, W_V, W_O = torch.randn(4, C, C) / C**0.5
b_Q, b_V, b_O = torch.randn(3, C)
W_1, b_1 = torch.randn(C, 4 * C) / C**0.5, torch.randn(4 * C)
W_2, b_2 = torch.randn(4 * C, C) / (4 * C) ** 0.5, torch.randn(C)
norm_1, norm_2 = torch.nn.LayerNorm(C), torch.nn.LayerNorm(C)
future = torch.ones(T, T).triu(1).bool()

# --- One block: gather, then think
def split(all_heads):  # [T, C]
    return all_heads.view(T, h, C // h).transpose(0, 1)  # [h, T, C/h]

n = norm_1(x)  # [T, C]
q, k = split(n @ W_Q + b_Q), split(n @ W_K)  # [h, T, C/h] each
v = split(n @ W_V + b_V)  # [h, T, C/h]
scores = q @ k.transpose(1, 2) / (C // h) ** 0.5  # [h, T, T]
A = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # [h, T, T]
mix = (A @ v).transpose(0, 1).reshape(T, C)  # [T, C], the heads side by side
between = x + mix @ W_O + b_O  # [T, C]
neurons = torch.nn.functional.gelu(norm_2(between) @ W_1 + b_1)  # [T, 4C]
out = between + neurons @ W_2 + b_2  # [T, C]

# --- The same from PyTorch’s own block
block = torch.nn.TransformerEncoderLayer(
    C, h, 4 * C, dropout=0, activation="gelu", norm_first=True
)
attention = block.self_attn
attention.in_proj_weight.data = torch.cat([W_Q, W_K, W_V], dim=1).T
attention.in_proj_bias.data = torch.cat([b_Q, torch.zeros(C), b_V])
attention.out_proj.weight.data, attention.out_proj.bias.data = W_O.T, b_O
block.linear1.weight.data, block.linear1.bias.data = W_1.T, b_1
block.linear2.weight.data, block.linear2.bias.data = W_2.T, b_2
block.norm1, block.norm2 = norm_1, norm_2
torch.testing.assert_close(out, block(x, src_mask=future))

# --- The first block of the GPT on the page, and your sentence on its way in
def norm(which):
    layer = torch.nn.LayerNorm(C)
    layer.weight.data, layer.bias.data = part[f"{which}.gamma"], part[f"{which}.beta"]
    return layer

h, ids = page["heads"], torch.tensor(page["ids"])
x = weights["token_embedding.weight"][ids]  # [T, C]
T, C = x.shape
x = x + weights["position_embedding.weight"][:T]
part = {name.removeprefix("blocks.0."): value for name, value in weights.items()}
W_Q, W_K = part["attention.query.weight"], part["attention.key.weight"]  # [C, C] each
W_V, W_O = part["attention.value.weight"], part["attention.output.weight"]
b_Q, b_V = part["attention.query.bias"], part["attention.value.bias"]  # [C] each
b_O = part["attention.output.bias"]  # [C]
W_1, b_1 = part["feed_forward.hidden.weight"], part["feed_forward.hidden.bias"]
W_2, b_2 = part["feed_forward.output.weight"], part["feed_forward.output.bias"]
norm_1, norm_2 = norm("attention_norm"), norm("feed_forward_norm")
future = torch.ones(T, T).triu(1).bool()

# --- The attention that the page shows, of every head in layer 1
token, looks = page["tokens"][-1], A[0, -1]
most = page["tokens"][looks.argmax()]
print(f"From {token!r}, head 1 looks most at {most!r}: {looks.max():.1%}")
torch.testing.assert_close(A, page["weights"][0], rtol=1e-4, atol=1e-5)
