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

# --- The same from nn.MultiheadAttention
torch.testing.assert_close(out_sum, out)
layer = torch.nn.MultiheadAttention(d, h)
layer.in_proj_weight.data = torch.cat([W_Q, W_K, W_V], dim=1).T
layer.in_proj_bias.data = torch.zeros(3 * d)
layer.out_proj.weight.data, layer.out_proj.bias.data = W_O.T, b
torch.testing.assert_close(layer(X, X, X, attn_mask=future)[0], out)
