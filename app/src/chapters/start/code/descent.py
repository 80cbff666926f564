import torch

torch.set_default_dtype(torch.float64)

# --- A hundred steps downhill
def L(w):
    return (w - 1) ** 2

w = torch.tensor(-1.9, requires_grad=True)  # one number
eta = 0.1
for step in range(100):
    slope = torch.autograd.grad(L(w), w)[0]  # one number
    w = (w - eta * slope).detach().requires_grad_()  # one number
print(w.item())

# --- The same from torch.optim, and it ends in the valley at 1
other = torch.tensor(-1.9, requires_grad=True)
walk = torch.optim.SGD([other], lr=eta)
for step in range(100):
    walk.zero_grad()
    L(other).backward()
    walk.step()
torch.testing.assert_close(w, other)
torch.testing.assert_close(w.detach(), torch.tensor(1.0), atol=1e-6, rtol=0.0)
