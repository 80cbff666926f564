import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
model = torch.nn.RNN(8, 16)
(10 * model(torch.randn(20, 8))[0]).sum().backward()
n = sum(p.numel() for p in model.parameters())
before = [p.grad.clone() for p in model.parameters()]

# --- Clip all gradients together
c = 1.0
grads = [p.grad for p in model.parameters()]
g = torch.cat([grad.flatten() for grad in grads])  # [n]
factor = min(1.0, c / (g.norm().item() + 1e-6))
for grad in grads:
    grad *= factor

# --- The same from PyTorch, which adds 0.000001 too, so that it never divides by 0
clipped = [grad.clone() for grad in grads]
for p, grad in zip(model.parameters(), before):
    p.grad = grad
torch.nn.utils.clip_grad_norm_(model.parameters(), c)
for p, grad in zip(model.parameters(), clipped):
    torch.testing.assert_close(grad, p.grad, rtol=1e-6, atol=0.0)
assert factor < 1
