import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, T = 16, 8  # units, steps
U = torch.randn(H, H) / H**0.5
a = torch.randn(T, H)  # W x + b of each step
y = torch.randn(H)
t = 2  # how far back to go

# --- Back from the last step to step t
s = [torch.zeros(H)]  # s[k]: [H]
for a_k in a:
    s.append(torch.tanh(a_k + U @ s[-1]))  # [H]
g = s[T] - y  # [H], dL/ds_T where L = |s_T - y|^2 / 2
for k in range(T, t, -1):
    J = torch.diag(1 - s[k] ** 2) @ U  # [H, H]
    g = g @ J  # [H], a row times a matrix

# --- The same from autograd
start = s[t].clone().requires_grad_()
end = start
for a_k in a[t:]:
    end = torch.tanh(a_k + U @ end)
L = ((end - y) ** 2).sum() / 2
torch.testing.assert_close(g, torch.autograd.grad(L, start)[0])
