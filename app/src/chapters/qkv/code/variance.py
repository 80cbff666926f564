import torch

torch.manual_seed(0)
n, d_k = 100_000, 16

# --- Many random pairs of a query and a key
q = torch.randn(n, d_k)  # [n, d_k]
k = torch.randn(n, d_k)  # [n, d_k]
s = (q * k).sum(dim=-1)  # [n], one inner product for each pair
print(s.var())  # near d_k
print((s / d_k**0.5).var())  # near 1

# --- Both are close to what theory says
assert abs(s.var() / d_k - 1) < 0.03
assert abs((s / d_k**0.5).var() - 1) < 0.03
