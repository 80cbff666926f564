import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
V, N = 5, 400  # characters, pairs
text = torch.randint(V, (N + 1,))
theta = 0.02 * torch.randn(V, V)
a, b = text[:-1], text[1:]

# --- The pull on each logit
count = torch.zeros(V, V)  # [V, V]
count.index_put_((a, b), torch.ones(N), accumulate=True)
of_a = count.sum(dim=1, keepdim=True)  # [V, 1]
P = torch.softmax(theta, dim=1)  # [V, V]
slope = (of_a * P - count) / N  # [V, V]

# --- The same from autograd
theta.requires_grad_()
torch.nn.functional.cross_entropy(theta[a], b).backward()
torch.testing.assert_close(slope, theta.grad)
