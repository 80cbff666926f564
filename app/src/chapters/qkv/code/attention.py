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

# --- The same from PyTorch’s one call
one_call = torch.nn.functional.scaled_dot_product_attention
torch.testing.assert_close(out, one_call(Q, K, V))

# --- The queries, keys and values of the head on the page
Q, K, V = page["queries"], page["keys"], page["values"]  # [T, d_k] each
d_k = Q.shape[1]

# --- The model’s own weights without a mask, and the mix of one row
row = page["mix_of"]
best = weights[row].argmax()
share = f"{weights[row, best]:.1%}"
print(f"{page['tokens'][row]!r} takes {share} of its mix from {page['seen'][best]!r}.")
torch.testing.assert_close(weights, page["weights"], rtol=1e-4, atol=1e-6)
torch.testing.assert_close(out[row], page["mix"], rtol=1e-4, atol=1e-5)
