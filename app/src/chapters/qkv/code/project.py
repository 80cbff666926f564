import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d, d_k = 24, 32, 16
X = torch.randn(T, d)

# --- Queries, keys and values
W_Q = torch.randn(d, d_k) / d**0.5  # [d, d_k]
W_K = torch.randn(d, d_k) / d**0.5  # [d, d_k]
W_V = torch.randn(d, d_k) / d**0.5  # [d, d_k]
Y = X  # [T, d], in cross-attention another sequence
Q = X @ W_Q  # [T, d_k]
K = Y @ W_K  # [T, d_k]
V = Y @ W_V  # [T, d_k]

# --- The same from nn.Linear, which keeps its matrix the other way around
for W, made in [(W_Q, Q), (W_K, K), (W_V, V)]:
    linear = torch.nn.Linear(d, d_k, bias=False)
    linear.weight.data = W.T
    torch.testing.assert_close(linear(X), made)
