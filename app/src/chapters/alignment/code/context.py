import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, S = 32, 10  # units, source characters
e = torch.randn(S)  # scores
h = torch.randn(S, 2 * H)  # both directions side by side

# --- Weights, and the sum that they make
exp_e = torch.exp(e - e.max())  # [S], the largest is 1
alpha = exp_e / exp_e.sum()  # [S], adds up to 1
c = alpha @ h  # [2H]
# The same, written as the formula has it:
c_sum = sum(alpha[j] * h[j] for j in range(S))  # [2H]

# --- The same from torch.softmax
torch.testing.assert_close(alpha, torch.softmax(e, dim=0))
torch.testing.assert_close(c, c_sum)

# --- The scores on the page, and the encoder’s states
e, h = page["scores"], page["states"]  # [S], [S, 2H]
S, H = h.shape[0], h.shape[1] // 2

# --- The weights that the page shows, and the context that they make
for character, weight in zip(page["source"], alpha):
    print(f"{character!r} {weight:.1%}")
torch.testing.assert_close(alpha, page["weights"], rtol=1e-4, atol=1e-6)
torch.testing.assert_close(c, page["context"], rtol=1e-4, atol=1e-5)
