import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C, T = 24, 4, 16  # units in each direction, answers, steps
h_forward, h_backward = torch.randn(2, T, H)

# --- Side by side, or as a sum
V = torch.randn(C, 2 * H) / H**0.5  # [C, 2H]
c = torch.randn(C)  # [C]
h = torch.cat([h_forward, h_backward], dim=1)  # [T, 2H]
y = h @ V.T + c  # [T, C]
V_forward, V_backward = V.split(H, dim=1)  # [C, H] each
y_sum = h_forward @ V_forward.T + h_backward @ V_backward.T + c  # [T, C]

# --- The same from nn.Linear
linear = torch.nn.Linear(2 * H, C)
linear.weight.data, linear.bias.data = V, c
torch.testing.assert_close(linear(h), y)
torch.testing.assert_close(y_sum, y)

# --- The model on the page that reads in both directions
V_forward, V_backward = page["V_forward"], page["V_backward"]  # [C, H] each
V, c = torch.cat([V_forward, V_backward], dim=1), page["c"]  # [C, 2H], [C]
h_forward, h_backward = page["h_forward"], page["h_backward"]  # [T, H] each
(C, H), T = V_forward.shape, len(h_forward)

# --- The logits that the page shows
print(y)
torch.testing.assert_close(y, page["logits"], rtol=1e-4, atol=1e-4)
