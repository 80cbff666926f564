import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d_k = 24, 16
Q, K, V = torch.randn(3, T, d_k)

# --- Attention
products = Q @ K.T  # [T, T], an inner product for each pair
scores = products / d_k**0.5  # [T, T]
weights = torch.softmax(scores, dim=-1)  # [T, T]
print(weights.sum(dim=-1))  # each row adds up to 1
out = weights @ V  # [T, d_k]

# --- The same from PyTorch's one call
one_call = torch.nn.functional.scaled_dot_product_attention
torch.testing.assert_close(out, one_call(Q, K, V))
