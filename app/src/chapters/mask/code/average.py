import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d = 32, 16
v = torch.randn(T, d)

# --- Three ways to average the past
loop = torch.stack([v[: t + 1].mean(dim=0) for t in range(T)])  # [T, d]
shares = torch.ones(T, T).tril()  # [T, T]
shares = shares / shares.sum(dim=1, keepdim=True)  # [T, T], rows add up to 1
product = shares @ v  # [T, d]
M = torch.zeros(T, T).masked_fill(shares == 0, -torch.inf)  # [T, T]
by_softmax = torch.softmax(M, dim=-1) @ v  # [T, d]

# --- All three agree, also with a running sum
running = v.cumsum(dim=0) / torch.arange(1, T + 1)[:, None]
for way in [loop, product, by_softmax]:
    torch.testing.assert_close(way, running)

# --- The values of your tokens, in the head on the page
v = page["values"]  # [T, d]
T, d = v.shape

# --- The averages that the page shows, and what the head makes of the same values
print("".join(page["tokens"]), by_softmax[-1])
torch.testing.assert_close(by_softmax, page["average"], rtol=1e-4, atol=1e-5)
torch.testing.assert_close(page["weights"] @ v, page["attended"], rtol=1e-4, atol=1e-5)
