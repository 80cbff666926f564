import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, T = 32, 27, 10  # units, characters, steps
text = torch.randint(C, (T,))

# --- The state, one step after another
W = torch.randn(H, C) / C**0.5  # [H, C]
U = torch.randn(H, H) / H**0.5  # [H, H]
b = torch.randn(H)  # [H]
x = torch.eye(C)[text]  # [T, C], one-hot
s = torch.zeros(H)  # [H]
for x_t in x:
    s = torch.tanh(W @ x_t + U @ s + b)  # [H]

# --- The same from nn.RNN, which has a second bias
rnn = torch.nn.RNN(C, H)
rnn.weight_ih_l0.data, rnn.weight_hh_l0.data = W, U
rnn.bias_ih_l0.data, rnn.bias_hh_l0.data = b, torch.zeros(H)
torch.testing.assert_close(s, rnn(x)[0][-1])

# --- The network on the page, and your sentence
W, U, b = page["W"], page["U"], page["b"]  # [H, C], [H, H], [H]
H, C = W.shape
text = torch.tensor(page["text"])
print("".join(page["characters"][i] for i in text))

# --- The last state, as the page draws it
print(s)
torch.testing.assert_close(s, page["states"][-1], rtol=1e-4, atol=1e-5)
