import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
V, d, n = 40, 24, 13  # tokens, width, terms: embedding, and two for each of 6 blocks
terms = torch.randn(n, d)
gamma = torch.rand(d) + 0.5
u = torch.randn(V, d)  # the unembedding

# --- Each term’s share of every logit
x = terms.sum(dim=0)  # [d], the stream
sigma = torch.sqrt(x.var(correction=0) + 1e-5)  # one number
deviation = terms - terms.mean(dim=1, keepdim=True)  # [n, d]
c = (deviation / sigma * gamma) @ u.T  # [n, V]
logits = c.sum(dim=0)  # [V]

# --- Added up, they are the logits of nn.LayerNorm and the unembedding
norm = torch.nn.LayerNorm(d)
norm.weight.data = gamma
torch.testing.assert_close(logits, norm(x) @ u.T)

# --- The stream of the model on the page, at the position on show
terms, gamma = page["terms"], page["gamma"]  # [n, d], [d]
n, d = terms.shape
u = weights["head.weight"].T  # [V, d]
V = len(u)

# --- What the page shows: sigma, the contributions, and the logit they add up to
torch.testing.assert_close(sigma.item(), page["deviation"], rtol=1e-3, atol=1e-5)
token = page["token"]
for name, share in zip(page["names"], c[:, token]):
    print(f"{name:>20} {share:+.3f}")
torch.testing.assert_close(c[:, token], page["contributions"], rtol=1e-3, atol=1e-5)
logit = (logits[token] + page["offset"]).item()
torch.testing.assert_close(logit, page["logit"], rtol=1e-3, atol=1e-4)
