import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
n, d = 24, 16  # tokens, width of a head
x = torch.randn(n, d)  # what one head reads, the new token last
W_Q, W_K, W_V = torch.randn(3, d, d) / d**0.5
K, V = x[:-1] @ W_K, x[:-1] @ W_V  # kept from before

# --- One more token
new = x[-1]  # [d]
q = new @ W_Q  # [d]
K = torch.cat([K, (new @ W_K)[None]])  # [n, d]
V = torch.cat([V, (new @ W_V)[None]])  # [n, d]
w = torch.softmax(K @ q / d**0.5, dim=0)  # [n]
out = w @ V  # [d]

# --- The last row of the whole computation
future = torch.ones(n, n).triu(1).bool()
scores = (x @ W_Q) @ (x @ W_K).T / d**0.5
A = torch.softmax(scores.masked_fill(future, -torch.inf), dim=1)
torch.testing.assert_close(out, (A @ (x @ W_V))[-1])
