import torch

torch.set_default_dtype(torch.float64)

# --- A slope, measured and exact
def f(w):
    return w**2

w = torch.tensor(0.5, requires_grad=True)  # one number
for h in [1.0, 0.1, 0.01]:
    print(h, ((f(w + h) - f(w)) / h).item())
f(w).backward()
print(w.grad.item())

# --- The last nudge is close to the slope, which is 2 w
torch.testing.assert_close(w.grad, 2 * w.detach())
measured = ((f(w + h) - f(w)) / h).detach()
torch.testing.assert_close(measured, w.grad + h)
