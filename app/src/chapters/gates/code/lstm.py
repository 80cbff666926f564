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

# --- The LSTM on the page, and what it reads
cell = {name.split(".")[-1]: value for name, value in weights.items()}
W, U = cell["input_weight"].T, cell["recurrent_weight"].T  # [4H, C], [4H, H]
b = cell["bias"]  # [4H]
H, C = U.shape[1], W.shape[1]
x = torch.eye(C)[torch.tensor(page["ids"])]  # [T, C], one-hot
print("".join(page["tokens"]))

# --- The last column of the page’s cell states
for unit, value in enumerate(c, 1):
    print(f"unit {unit}: c = {value:.3f}")
torch.testing.assert_close(c, page["cell_states"][:, -1], rtol=1e-4, atol=1e-5)
