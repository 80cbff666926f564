import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, T = 16, 8  # units, steps
U = torch.randn(H, H) / H**0.5
a = torch.randn(T, H)  # W x + b of each step
y = torch.randn(H)
s = [torch.zeros(H)]  # s[k]: [H]
for a_k in a:
    s.append(torch.tanh(a_k + U @ s[-1]))
t, u, d = 5, 2, 0.01  # which step, which unit, how large a nudge

# --- Nudge unit u at step t, and run forward again
def loss(s_k):
    for a_k in a[t:]:  # the steps after t
        s_k = torch.tanh(a_k + U @ s_k)  # [H]
    return ((s_k - y) ** 2).sum() / 2

nudged = s[t].clone()  # [H]
nudged[u] += d
slope = (loss(nudged) - loss(s[t])) / d  # one number

# --- The same from autograd, for all units at once
start = s[t].clone().requires_grad_()
(g,) = torch.autograd.grad(loss(start), start)
assert abs(slope - g[u]) < d * g.abs().max()
nudged = s[t].clone()
nudged[u] += d / 1000
finer = (loss(nudged) - loss(s[t])) / (d / 1000)
assert abs(finer - g[u]) < abs(slope - g[u]) / 100
