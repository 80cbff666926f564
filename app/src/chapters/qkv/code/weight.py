import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d_k = 24, 16
Q, K = torch.randn(2, T, d_k)
future = torch.ones(T, T).triu(1).bool()

# --- Softmax by hand
s = Q @ K.T / d_k**0.5  # [T, T]
s[future] = -torch.inf  # what lies ahead is blocked
m = s.max(dim=-1, keepdim=True).values  # [T, 1]
e = torch.exp(s - m)  # [T, T], 0 where blocked
w = e / e.sum(dim=-1, keepdim=True)  # [T, T]

# --- The same from PyTorch's one call: with these values, it returns the weights
one_call = torch.nn.functional.scaled_dot_product_attention
torch.testing.assert_close(w, one_call(Q, K, torch.eye(T), is_causal=True))
