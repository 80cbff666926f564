import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, T = 24, 4, 16  # units in each direction, symbols, steps
x = torch.eye(C)[torch.randint(C, (T,))]  # one-hot
W = torch.randn(H, C) / C**0.5
U = torch.randn(H, H) / H**0.5
b = torch.randn(H)

# --- From the last to the first
h = torch.zeros(H)  # [H]
h_backward = []
for t in reversed(range(T)):
    h = torch.tanh(W @ x[t] + U @ h + b)  # [H], from the state of step t + 1
    h_backward.append(h)
h_backward = torch.stack(h_backward[::-1])  # [T, H]

# --- The second half of what nn.RNN gives in both directions
rnn = torch.nn.RNN(C, H, bidirectional=True)
rnn.weight_ih_l0_reverse.data, rnn.weight_hh_l0_reverse.data = W, U
rnn.bias_ih_l0_reverse.data, rnn.bias_hh_l0_reverse.data = b, torch.zeros(H)
torch.testing.assert_close(h_backward, rnn(x)[0][:, H:])
