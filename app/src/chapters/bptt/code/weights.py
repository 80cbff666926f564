import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, T = 16, 8  # units, steps
U = torch.randn(H, H) / H**0.5
a = torch.randn(T, H)  # W x + b of each step
y = torch.randn(H)
s = [torch.zeros(H)]
for t in range(T):
    s.append(torch.tanh(a[t] + U @ s[t]))

# --- One U, a sum over the steps
g = s[T] - y  # [H], dL/ds_T where L = |s_T - y|^2 / 2
dU = torch.zeros(H, H)  # [H, H]
for t in range(T, 0, -1):
    delta = g * (1 - s[t] ** 2)  # [H]
    dU += torch.outer(delta, s[t - 1])  # [H, H]
    g = delta @ U  # [H], dL/ds of the step before

# --- The same from autograd
U.requires_grad_()
end = torch.zeros(H)
for a_t in a:
    end = torch.tanh(a_t + U @ end)
(((end - y) ** 2).sum() / 2).backward()
torch.testing.assert_close(dU, U.grad)
