import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
d = 32
omega = 10000.0 ** (-2 * torch.arange(d // 2) / d)
q, k = torch.randn(2, d)

# --- Turn each pair by its position
def turn(x, p):  # x: [d], one query or key at position p
    a, b = x[0::2], x[1::2]  # [d/2] each
    cos, sin = torch.cos(p * omega), torch.sin(p * omega)  # [d/2] each
    pairs = torch.stack([a * cos - b * sin, a * sin + b * cos])  # [2, d/2]
    return pairs.T.flatten()  # [d]

m, n = 3, 10
score = turn(q, m) @ turn(k, n)  # one number
further = turn(q, m + 100) @ turn(k, n + 100)  # the same number
by_distance = q @ turn(k, n - m)  # the same number

# --- All three agree, also with pairs as complex numbers
torch.testing.assert_close(score, further)
torch.testing.assert_close(score, by_distance)
pairs = torch.view_as_complex(torch.stack([q, k]).view(2, -1, 2))
turned = torch.view_as_real(pairs * torch.exp(1j * torch.tensor([[m], [n]]) * omega))
torch.testing.assert_close(score, turned[0].flatten() @ turned[1].flatten())
