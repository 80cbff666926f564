import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, S = 32, 30, 10  # units, characters, source characters
s_before = torch.randn(H)
y_before = torch.eye(C)[4]  # one-hot
alpha = torch.softmax(torch.randn(S), dim=0)
h = torch.randn(S, 2 * H)

# --- The decoder takes the character before and the context
gru = torch.nn.GRUCell(C + 2 * H, H)
c = alpha @ h  # [2H]
inputs = torch.cat([y_before, c])  # [C + 2H]
s = gru(inputs, s_before)  # [H]
# In training, y_before is the right character. In writing, it is the last output.

# --- The same from the formula of the GRU
from_x = gru.weight_ih @ inputs + gru.bias_ih
from_h = gru.weight_hh @ s_before + gru.bias_hh
r, z = torch.sigmoid(from_x + from_h)[: 2 * H].chunk(2)
n = torch.tanh(from_x[2 * H :] + r * from_h[2 * H :])
torch.testing.assert_close(s, (1 - z) * n + z * s_before)
