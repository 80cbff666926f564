import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d = 24, 24
x = torch.randn(T, d)
phi = torch.nn.functional.gelu

# --- Two linear layers with an activation function between them
W_1 = torch.randn(d, 4 * d) / d**0.5  # [d, 4d]
b_1 = torch.randn(4 * d)  # [4d]
W_2 = torch.randn(4 * d, d) / (4 * d) ** 0.5  # [4d, d]
b_2 = torch.randn(d)  # [d]
neurons = phi(x @ W_1 + b_1)  # [T, 4d]
out = neurons @ W_2 + b_2  # [T, d]

# --- The same from nn.Linear and nn.GELU
layers = torch.nn.Sequential(
    torch.nn.Linear(d, 4 * d), torch.nn.GELU(), torch.nn.Linear(4 * d, d)
)
for parameter, value in zip(layers.parameters(), [W_1.T, b_1, W_2.T, b_2]):
    parameter.data = value
torch.testing.assert_close(out, layers(x))
