import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, T = 16, 8  # units, steps
U = torch.randn(H, H) / H**0.5
a = torch.randn(T, H)  # W x + b of each step

# --- The Jacobian of one step
def step(s, t):
    return torch.tanh(a[t] + U @ s)  # [H]

s = torch.zeros(H)  # [H]
for k in range(T):
    s = step(s, k)  # [H]
    J = torch.diag(1 - s**2) @ U  # [H, H], ds_k by the state before

# --- The same from autograd, for the last step
before = torch.zeros(H)
for k in range(T - 1):
    before = step(before, k)
by_autograd = torch.autograd.functional.jacobian(lambda s: step(s, T - 1), before)
torch.testing.assert_close(J, by_autograd)
