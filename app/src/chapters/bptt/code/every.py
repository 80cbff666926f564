import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, T = 16, 8  # units, steps
U = torch.randn(H, H) / H**0.5
a = torch.randn(T, H)  # W x + b of each step
y = torch.randn(T + 1, H)

# --- Back through all steps, with a loss at each
s = [torch.zeros(H)]  # s[t]: [H]
for a_t in a:
    s.append(torch.tanh(a_t + U @ s[-1]))  # [H]
D = s[T] - y[T]  # [H], where L_t = |s_t - y_t|^2 / 2
for t in range(T - 1, 0, -1):
    J = torch.diag(1 - s[t + 1] ** 2) @ U  # [H, H], of step t + 1
    D = (s[t] - y[t]) + D @ J  # [H]

# --- The same from autograd, for step 1
first = s[1].clone().requires_grad_()
now, L = first, ((first - y[1]) ** 2).sum() / 2
for t in range(2, T + 1):
    now = torch.tanh(a[t - 1] + U @ now)
    L = L + ((now - y[t]) ** 2).sum() / 2
torch.testing.assert_close(D, torch.autograd.grad(L, first)[0])
