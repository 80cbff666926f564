import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C = 10, 12  # units, characters
W = torch.randn(3 * H, C) / C**0.5  # for r, z and n, one below the other
U = torch.randn(3 * H, H) / H**0.5
b, b_h = torch.randn(3 * H), torch.randn(3 * H)
x = torch.randn(6, C)

# --- The GRU over a sequence, as PyTorch has it
h = torch.zeros(H)  # [H]
for x_t in x:  # x: [T, C]
    from_x = W @ x_t + b  # [3H]
    from_h = U @ h + b_h  # [3H]
    r, z = torch.sigmoid(from_x + from_h)[: 2 * H].chunk(2)  # [H] each
    n = torch.tanh(from_x[2 * H :] + r * from_h[2 * H :])  # [H]
    h = (1 - z) * n + z * h  # [H]

# --- The same from nn.GRU
gru = torch.nn.GRU(C, H)
gru.weight_ih_l0.data, gru.weight_hh_l0.data = W, U
gru.bias_ih_l0.data, gru.bias_hh_l0.data = b, b_h
torch.testing.assert_close(h, gru(x)[0][-1])
