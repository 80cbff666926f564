import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d_k = 24, 16
Q, K, V = torch.randn(3, T, d_k)

# --- Attention, with the causal mask of this model
scores = Q @ K.T / d_k**0.5  # [T, T]
future = torch.ones(T, T).triu(1).bool()  # [T, T]
scores = scores.masked_fill(future, -torch.inf)  # [T, T]
weights = torch.softmax(scores, dim=-1)  # [T, T], each row adds up to 1
out = weights @ V  # [T, d_k]

# --- The same from PyTorch's one call
one_call = torch.nn.functional.scaled_dot_product_attention
torch.testing.assert_close(out, one_call(Q, K, V, is_causal=True))
