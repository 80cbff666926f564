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

# --- The table on the page, and the pairs of your sentence
theta = weights["logits"]  # [V, V]
a, b = torch.tensor(page["before"]), torch.tensor(page["after"])

# --- The surprise that the page shows
print(f"Your sentence costs {loss:.3f} nats per character.")
torch.testing.assert_close(loss.item(), page["surprise"], rtol=1e-4, atol=1e-5)
