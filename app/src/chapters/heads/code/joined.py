import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d, h = 64, 32, 4  # tokens, width, heads
d_k = d // h
X = torch.randn(T, d)
W_Q, W_K, W_V = torch.randn(3, d, d) / d**0.5
future = torch.ones(T, T).triu(1).bool()
split = lambda all_heads: all_heads.view(T, h, d_k).transpose(0, 1)
q, k, v = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
scores = (q @ k.transpose(1, 2) / d_k**0.5).masked_fill(future, -torch.inf)
head = torch.softmax(scores, dim=-1) @ v  # [h, T, d_k]

# --- Join the heads, or add up what each writes
W_O = torch.randn(d, d) / d**0.5  # [d, d]
b = torch.randn(d)  # [d]
joined = head.transpose(0, 1).reshape(T, d)  # [T, d], heads side by side
out = joined @ W_O + b  # [T, d]
W_of_head = W_O.view(h, d_k, d)  # [h, d_k, d], the rows of each head
out_sum = (head @ W_of_head).sum(dim=0) + b  # [T, d]

# --- Alone: the same from nn.MultiheadAttention
torch.testing.assert_close(out_sum, out)
layer = torch.nn.MultiheadAttention(d, h)
layer.in_proj_weight.data = torch.cat([W_Q, W_K, W_V], dim=1).T
layer.in_proj_bias.data = torch.zeros(3 * d)
layer.out_proj.weight.data, layer.out_proj.bias.data = W_O.T, b
torch.testing.assert_close(layer(X, X, X, attn_mask=future)[0], out)

# --- Layer 1 of the model on the page, and how its heads look at your sentence
W_O = weights["blocks.0.attention.output.weight"]  # [d, d]
b = weights["blocks.0.attention.output.bias"]  # [d]
A = page["weights"][0]  # [h, T, T], each head’s attention
h, T, _ = A.shape
d = len(b)
d_k = d // h
norm = torch.nn.LayerNorm(d)
norm.weight.data = weights["blocks.0.attention_norm.gamma"]
norm.bias.data = weights["blocks.0.attention_norm.beta"]
X = norm(weights["token_embedding.weight"][torch.tensor(page["ids"])])  # [T, d]
W_V = weights["blocks.0.attention.value.weight"]  # [d, d]
v = X @ W_V + weights["blocks.0.attention.value.bias"]  # [T, d]
head = A @ v.view(T, h, d_k).transpose(0, 1)  # [h, T, d_k]

# --- How much each head writes, as the page shows it
torch.testing.assert_close(out_sum, out)
written = (head @ W_of_head).norm(dim=2).mean(dim=1)  # [h]
for number, length in enumerate(written, 1):
    print(f"head {number} writes vectors of length {length:.3f}")
torch.testing.assert_close(written, page["written"][0], rtol=1e-4, atol=1e-6)
