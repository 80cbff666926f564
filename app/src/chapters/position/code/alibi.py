import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d, heads = 9, 16, 2
q, k = torch.randn(2, heads, T, d)

# --- A penalty that grows with the distance
slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)  # [heads]
p = torch.arange(T)  # [T]
distance = (p[:, None] - p).abs()  # [T, T], |m - n|
penalty = slope[:, None, None] * distance  # [heads, T, T]
s = q @ k.transpose(1, 2) / d**0.5 - penalty  # [heads, T, T]

# --- The same, one number at a time
for head in range(heads):
    for m in range(T):
        for n in range(T):
            score = q[head, m].dot(k[head, n]) / d**0.5
            wanted = score - 2 ** (-8 * (head + 1) / heads) * abs(m - n)
            torch.testing.assert_close(s[head, m, n], wanted)
