import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C = 10, 12  # units, characters
W = torch.randn(3 * H, C) / C**0.5  # for r, z and n, one below the other
U = torch.randn(3 * H, H) / H**0.5
b, b_h = torch.randn(3 * H), torch.randn(3 * H)
x, h = torch.randn(C), torch.randn(H)

# --- One product with U serves all gates
x_r, x_z, x_n = (W @ x + b).chunk(3)  # [H] each
h_r, h_z, h_n = (U @ h + b_h).chunk(3)  # [H] each
r = torch.sigmoid(x_r + h_r)  # [H]
z = torch.sigmoid(x_z + h_z)  # [H]
n = torch.tanh(x_n + r * h_n)  # [H]

# --- The same from nn.GRU
gru = torch.nn.GRU(C, H)
gru.weight_ih_l0.data, gru.weight_hh_l0.data = W, U
gru.bias_ih_l0.data, gru.bias_hh_l0.data = b, b_h
h_next = gru(x[None], h[None])[0][0]
torch.testing.assert_close((1 - z) * n + z * h, h_next)
