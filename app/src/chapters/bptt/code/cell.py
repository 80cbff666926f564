import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H = 16
U = torch.randn(3 * H, H) / H**0.5
a = torch.randn(3 * H)  # W x + b for i, f and g
c = torch.randn(H)
o = torch.sigmoid(torch.randn(H))
jacobian = torch.autograd.functional.jacobian

# --- Two paths from one cell state to the next
def next_cell(c, h):
    i, f, g = (a + U @ h).chunk(3)  # [H] each
    return torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)  # [H]

h = o * torch.tanh(c)  # [H]
direct, by_h = jacobian(next_cell, (c, h))  # [H, H] each
through_h = by_h @ torch.diag(o * (1 - torch.tanh(c) ** 2))  # [H, H]
total = direct + through_h  # [H, H]

# --- The direct path is diag(f); both together are the derivative of nn.LSTMCell
f = torch.sigmoid((a + U @ h).chunk(3)[1])
torch.testing.assert_close(direct, torch.diag(f))
lstm = torch.nn.LSTMCell(1, H)
lstm.weight_hh.data = torch.cat([U, torch.zeros(H, H)])
lstm.bias_ih.data = torch.cat([a, torch.zeros(H)])
lstm.bias_hh.data = torch.zeros(4 * H)
whole = lambda c: lstm(torch.zeros(1), (o * torch.tanh(c), c))[1]
torch.testing.assert_close(total, jacobian(whole, c))
