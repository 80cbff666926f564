import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
V, N = 5, 400  # characters, pairs
text = torch.randint(V, (N + 1,))

# --- Count the pairs, then divide
k = 1
a, b = text[:-1], text[1:]  # [N] each
count = torch.zeros(V, V)  # [V, V]
count.index_put_((a, b), torch.ones(N), accumulate=True)
P = (count + k) / (count.sum(dim=1, keepdim=True) + k * V)  # [V, V]
loss = -torch.log(P[a, b]).mean()  # one number

# --- The same, pair by pair
seen = list(zip(text[:-1].tolist(), text[1:].tolist()))
for i in range(V):
    for j in range(V):
        share = (seen.count((i, j)) + k) / (sum(pair[0] == i for pair in seen) + k * V)
        assert abs(P[i, j] - share) < 1e-12
