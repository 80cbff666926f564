import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, S = 32, 10  # units, source characters
s = torch.randn(H)
h = torch.randn(S, H)
W_a = torch.randn(H, H) / H**0.5
W_cat = torch.randn(H, 2 * H) / H**0.5
v = torch.randn(H)

# --- Dot, general and concat
dot = h @ s  # [S]
general = h @ W_a.T @ s  # [S]
pairs = torch.cat([s.expand(S, H), h], dim=1)  # [S, 2H], s beside each h
concat = torch.tanh(pairs @ W_cat.T) @ v  # [S]
alpha = torch.softmax(dot, dim=0)  # [S], or of another score

# --- The same, one source character at a time
for j in range(S):
    torch.testing.assert_close(dot[j], s.dot(h[j]))
    torch.testing.assert_close(general[j], s.dot(W_a @ h[j]))
    pair = torch.cat([s, h[j]])
    torch.testing.assert_close(concat[j], v.dot(torch.tanh(W_cat @ pair)))
