import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, P, C, T = 10, 5, 12, 6  # units, width of r, characters, steps
W = torch.randn(4 * H, C) / C**0.5  # for i, f, g and o, one below the other
U = torch.randn(4 * H, P) / P**0.5
b = torch.randn(4 * H)
W_proj = torch.randn(P, H) / H**0.5
x = torch.randn(T, C)

# --- An LSTM that feeds back a projection of h
r, c = torch.zeros(P), torch.zeros(H)  # [P] and [H]
for x_t in x:  # x: [T, C]
    i, f, g, o = (W @ x_t + U @ r + b).chunk(4)  # [H] each
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)  # [H]
    h = torch.sigmoid(o) * torch.tanh(c)  # [H]
    r = W_proj @ h  # [P]

# --- The same from nn.LSTM with proj_size
lstm = torch.nn.LSTM(C, H, proj_size=P)
lstm.weight_ih_l0.data, lstm.weight_hh_l0.data, lstm.weight_hr_l0.data = W, U, W_proj
lstm.bias_ih_l0.data, lstm.bias_hh_l0.data = b, torch.zeros(4 * H)
torch.testing.assert_close(r, lstm(x)[0][-1])
