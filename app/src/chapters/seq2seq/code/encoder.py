import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, S = 32, 30, 8  # units, characters, length of the source
source = torch.randint(C, (S,))

# --- Read the source, keep the last state
encoder = torch.nn.GRUCell(C, H)
x = torch.eye(C)[source]  # [S, C], one-hot
h = torch.zeros(H)  # [H]
for x_j in x:
    h = encoder(x_j, h)  # [H]
c = h  # [H], all that the decoder gets

# --- The same from nn.GRU
gru = torch.nn.GRU(C, H)
for whole, single in zip(gru.parameters(), encoder.parameters()):
    whole.data = single.data
torch.testing.assert_close(c, gru(x)[1][0])
