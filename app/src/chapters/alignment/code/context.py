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
