import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, S, A = 32, 10, 32  # units, source characters, width of the small network
s_before = torch.randn(H)
h = torch.randn(S, 2 * H)  # both directions side by side

# --- One score for each source character
W_s = torch.randn(A, H) / H**0.5  # [A, H]
W_h = torch.randn(A, 2 * H) / H**0.5  # [A, 2H]
v = torch.randn(A)  # [A]
sums = W_s @ s_before + h @ W_h.T  # [S, A]
e = torch.tanh(sums) @ v  # [S]

# --- The same, one source character at a time
for j in range(S):
    torch.testing.assert_close(e[j], v.dot(torch.tanh(W_s @ s_before + W_h @ h[j])))
