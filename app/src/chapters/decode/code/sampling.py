import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
N, T, top_k, top_p, min_p = 30, 0.8, 12, 0.9, 0.1  # tokens, temperature, cuts
z = 2 * torch.randn(N)

# --- Temperature, top k, top p, min p, and one draw
s, order = (z / T).sort(descending=True)  # [N] each, the likeliest first
s[top_k:] = -torch.inf
share = torch.softmax(s, dim=0)  # [N]
before = share.cumsum(dim=0) - share  # [N], the sum of all larger shares
s[before >= top_p] = -torch.inf
s[share < min_p * share.max()] = -torch.inf
share = torch.softmax(s, dim=0)  # [N]
drawn = order[torch.multinomial(share, 1)]  # [1]

# --- The same, token by token
P = torch.softmax(z / T, dim=0)
ranked = sorted(range(N), key=lambda i: -P[i])[:top_k]
whole, kept, so_far = P[ranked].sum(), [], 0.0
for i in ranked:
    if kept and (so_far >= top_p or P[i] < min_p * P[ranked[0]]):
        break
    kept.append(i)
    so_far += P[i] / whole
expected = torch.zeros(N)
expected[kept] = P[kept] / P[kept].sum()
found = torch.zeros(N)
found[order] = share
torch.testing.assert_close(found, expected)
assert drawn.item() in kept and len(kept) < top_k
