import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C = 10, 12  # units, characters
W = torch.randn(3 * H, C) / C**0.5  # for r, z and n, one below the other
U = torch.randn(3 * H, H) / H**0.5
b = torch.randn(3 * H)
x, h = torch.randn(C), torch.randn(H)

# --- The reset gate comes before the product
x_r, x_z, x_n = (W @ x + b).chunk(3)  # [H] each
U_r, U_z, U_n = U.chunk(3)  # [H, H] each
r = torch.sigmoid(x_r + U_r @ h)  # [H]
z = torch.sigmoid(x_z + U_z @ h)  # [H]
n = torch.tanh(x_n + U_n @ (r * h))  # [H]

# --- The same, one number at a time. PyTorch’s form gives something else
def total(row, before):
    from_x = sum(W[row, j] * x[j] for j in range(C))
    return from_x + sum(U[row, j] * before[j] for j in range(H)) + b[row]

reset = [1 / (1 + torch.exp(-total(u, h))) for u in range(H)]
for u in range(H):
    torch.testing.assert_close(r[u], reset[u])
    torch.testing.assert_close(z[u], 1 / (1 + torch.exp(-total(H + u, h))))
    before = [reset[j] * h[j] for j in range(H)]
    torch.testing.assert_close(n[u], torch.tanh(total(2 * H + u, before)))
assert not torch.allclose(n, torch.tanh(x_n + r * (U_n @ h)))
