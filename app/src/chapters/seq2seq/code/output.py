import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C = 32, 30  # units, characters
s, c = torch.tanh(torch.randn(2, H))
y_before = torch.eye(C)[4]  # one-hot

# --- Probabilities of the next character
O_s = torch.randn(C, H) / H**0.5  # [C, H]
O_c = torch.randn(C, H) / H**0.5  # [C, H]
O_y = torch.randn(C, C) / C**0.5  # [C, C]
o = torch.randn(C)  # [C]
logits = O_s @ s + O_c @ c + O_y @ y_before + o  # [C]
p = torch.softmax(logits, dim=0)  # [C], adds up to 1

# --- The same from one nn.Linear over all three
linear = torch.nn.Linear(2 * H + C, C)
linear.weight.data, linear.bias.data = torch.cat([O_s, O_c, O_y], dim=1), o
torch.testing.assert_close(linear(torch.cat([s, c, y_before])), logits)
torch.testing.assert_close(p.sum(), torch.tensor(1.0))
