import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, T = 24, 4, 16  # units in each direction, symbols, steps
x = torch.eye(C)[torch.randint(C, (T,))]  # one-hot
W = torch.randn(H, C) / C**0.5
U = torch.randn(H, H) / H**0.5
b = torch.randn(H)

# --- From the first to the last
h = torch.zeros(H)  # [H]
h_forward = []
for t in range(T):
    h = torch.tanh(W @ x[t] + U @ h + b)  # [H], from the state before
    h_forward.append(h)
h_forward = torch.stack(h_forward)  # [T, H]

# --- The first half of what nn.RNN gives in both directions
rnn = torch.nn.RNN(C, H, bidirectional=True)
rnn.weight_ih_l0.data, rnn.weight_hh_l0.data = W, U
rnn.bias_ih_l0.data, rnn.bias_hh_l0.data = b, torch.zeros(H)
torch.testing.assert_close(h_forward, rnn(x)[0][:, :H])
