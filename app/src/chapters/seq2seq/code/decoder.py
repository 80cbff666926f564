import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, T = 32, 30, 8  # units, characters, length of the answer
c = torch.tanh(torch.randn(H))  # from the encoder
y = torch.eye(C)[torch.randint(C, (T,))]  # the characters before, one-hot
V = torch.randn(H, H) / H**0.5
b = torch.randn(H)

# --- Start from c, and get it again at every step
decoder = torch.nn.GRUCell(C + H, H)
s = torch.tanh(V @ c + b)  # [H]
states = []
for y_before in y:  # y: [T, C]
    s = decoder(torch.cat([y_before, c]), s)  # [H]
    states.append(s)
states = torch.stack(states)  # [T, H]

# --- The same from nn.GRU
gru = torch.nn.GRU(C + H, H)
for whole, single in zip(gru.parameters(), decoder.parameters()):
    whole.data = single.data
inputs = torch.cat([y, c.expand(T, H)], dim=1)
torch.testing.assert_close(states, gru(inputs, torch.tanh(V @ c + b)[None])[0])
