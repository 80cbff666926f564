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

# --- The model on the page, and your sentence
E = weights["embedding.weight"]  # [V, d]
R, b = weights["readout.weight"], weights["readout.bias"]  # [d, V], [V]
V, d = E.shape
ids = torch.tensor(page["ids"])
before, following = ids[:-1], ids[1:]
N = len(before)

# --- The factors that the page multiplies
factors = p[torch.arange(N), following]  # [N]
for token, factor in zip(page["tokens"][1:], factors):
    print(f"{token!r:>12} {factor:.4f}")
print(f"Their product, the probability of your sentence, is {factors.prod():.3g}.")
shown = page["log_probabilities"].exp()  # [N]
torch.testing.assert_close(factors, shown, rtol=1e-4, atol=1e-6)
