import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
V, N = 5, 400  # characters, pairs
text = torch.randint(V, (N + 1,))

# --- A row of logits for each character
theta = 0.02 * torch.randn(V, V)  # [V, V]
e = torch.exp(theta)  # [V, V]
P = e / e.sum(dim=1, keepdim=True)  # [V, V], each row adds up to 1
a, b = text[:-1], text[1:]  # [N] each
loss = -torch.log(P[a, b]).mean()  # one number

# --- The same from torch.softmax and cross_entropy
torch.testing.assert_close(P, torch.softmax(theta, dim=1))
torch.testing.assert_close(torch.nn.functional.cross_entropy(theta[a], b), loss)
