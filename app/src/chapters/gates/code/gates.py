import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, T = 10, 12, 6  # units, characters, steps
W = torch.randn(4 * H, C) / C**0.5  # for i, f, g and o, one below the other
U = torch.randn(4 * H, H) / H**0.5
b = torch.randn(4 * H)
x, h, c = torch.randn(C), torch.randn(H), torch.randn(H)

# --- Three gates and a candidate
sums = W @ x + U @ h + b  # [4H]
i, f, g, o = sums.chunk(4)  # [H] each
i = torch.sigmoid(i)  # [H]
f = torch.sigmoid(f)  # [H]
o = torch.sigmoid(o)  # [H]
g = torch.tanh(g)  # [H]

# --- From these, the cell and the hidden state of nn.LSTMCell
cell = torch.nn.LSTMCell(C, H)
cell.weight_ih.data, cell.weight_hh.data = W, U
cell.bias_ih.data, cell.bias_hh.data = b, torch.zeros(4 * H)
h_next, c_next = cell(x, (h, c))
torch.testing.assert_close(f * c + i * g, c_next)
torch.testing.assert_close(o * torch.tanh(c_next), h_next)
