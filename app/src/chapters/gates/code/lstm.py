import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, T = 10, 12, 6  # units, characters, steps
W = torch.randn(4 * H, C) / C**0.5  # for i, f, g and o, one below the other
U = torch.randn(4 * H, H) / H**0.5
b = torch.randn(4 * H)
x = torch.randn(T, C)

# --- The LSTM over a sequence
h, c = torch.zeros(H), torch.zeros(H)  # [H] each
for x_t in x:  # x: [T, C]
    i, f, g, o = (W @ x_t + U @ h + b).chunk(4)  # [H] each
    i, f, o = torch.sigmoid(torch.stack([i, f, o]))  # [H] each
    g = torch.tanh(g)  # [H]
    c = f * c + i * g  # [H]
    h = o * torch.tanh(c)  # [H]

# --- The same from nn.LSTM
lstm = torch.nn.LSTM(C, H)
lstm.weight_ih_l0.data, lstm.weight_hh_l0.data = W, U
lstm.bias_ih_l0.data, lstm.bias_hh_l0.data = b, torch.zeros(4 * H)
_, (h_last, c_last) = lstm(x)
torch.testing.assert_close(h, h_last[0])
torch.testing.assert_close(c, c_last[0])
