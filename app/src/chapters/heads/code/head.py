import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d, h = 64, 32, 4  # tokens, width, heads
d_k = d // h
X = torch.randn(T, d)
W_Q, W_K, W_V = torch.randn(3, d, d) / d**0.5
future = torch.ones(T, T).triu(1).bool()

# --- All heads at once, each in its own columns
def split(all_heads):  # [T, d]
    return all_heads.view(T, h, d_k).transpose(0, 1)  # [h, T, d_k]

q, k, v = split(X @ W_Q), split(X @ W_K), split(X @ W_V)  # [h, T, d_k] each
scores = q @ k.transpose(1, 2) / d_k**0.5  # [h, T, T]
scores = scores.masked_fill(future, -torch.inf)  # [h, T, T]
weights = torch.softmax(scores, dim=-1)  # [h, T, T]
head = weights @ v  # [h, T, d_k]

# --- The same, one head at a time
one_call = torch.nn.functional.scaled_dot_product_attention
for i in range(h):
    own = slice(i * d_k, (i + 1) * d_k)
    q_i, k_i, v_i = X @ W_Q[:, own], X @ W_K[:, own], X @ W_V[:, own]
    torch.testing.assert_close(head[i], one_call(q_i, k_i, v_i, is_causal=True))
