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

# --- The encoder on the page, and the source that it reads
C, H = len(weights["forward.input_weight"]), len(page["summary"])
encoder = torch.nn.GRUCell(C, H)
encoder.weight_ih.data = weights["forward.input_weight"].T  # [3H, C]
encoder.weight_hh.data = weights["forward.recurrent_weight"].T  # [3H, H]
encoder.bias_ih.data = weights["forward.bias"]  # [3H]
inner = weights["forward.candidate_bias"]  # [H], within the reset gate’s reach
encoder.bias_hh.data = torch.cat([torch.zeros(2 * H), inner])
source = torch.tensor(page["ids"])

# --- The vector that the page shows
print("".join(page["source"]), c)
torch.testing.assert_close(c, page["summary"], rtol=1e-4, atol=1e-5)
