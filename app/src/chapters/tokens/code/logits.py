import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
V, d, N = 40, 8, 64  # tokens, width, places
before = torch.randint(V, (N,))

# --- A one-hot vector times a matrix picks a row
E = torch.randn(V, d)  # [V, d]
R = torch.randn(d, V) / d**0.5  # [d, V]
b = torch.randn(V)  # [V]
x = torch.eye(V)[before]  # [N, V], one-hot
logits = x @ E @ R + b  # [N, V]
p = torch.softmax(logits, dim=1)  # [N, V]

# --- The same from nn.Embedding and nn.Linear
embedding, linear = torch.nn.Embedding(V, d), torch.nn.Linear(d, V)
embedding.weight.data, linear.weight.data, linear.bias.data = E, R.T, b
torch.testing.assert_close(linear(embedding(before)), logits)
torch.testing.assert_close(p.sum(dim=1), torch.ones(N))
