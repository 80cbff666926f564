import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d_k = 32, 16
Q, K, V = torch.randn(3, T, d_k)

# --- Attention with a mask
is_open = torch.ones(T, T).tril().bool()  # [T, T], the causal mask
M = torch.zeros(T, T).masked_fill(~is_open, -torch.inf)  # [T, T], 0 or -inf
scores = Q @ K.T / d_k**0.5 + M  # [T, T]
A = torch.softmax(scores, dim=-1)  # [T, T], exactly 0 where blocked
out = A @ V  # [T, d_k]

# --- The same from PyTorch’s one call
one_call = torch.nn.functional.scaled_dot_product_attention
torch.testing.assert_close(out, one_call(Q, K, V, attn_mask=is_open))
torch.testing.assert_close(out, one_call(Q, K, V, is_causal=True))
assert (A[~is_open] == 0).all()
