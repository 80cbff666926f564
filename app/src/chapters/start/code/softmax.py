import torch

# --- Scores into shares
s = torch.tensor([2.0, 1.0, 0.0, -1.0])  # [4]
powers = torch.exp(s)  # [4]
p = powers / powers.sum()  # [4], adds up to 1
more = torch.exp(s + 1.0)  # [4]
same = more / more.sum()  # [4], the same shares
print(p, same)

# --- The same from PyTorch’s own
torch.testing.assert_close(p, torch.softmax(s, dim=0))
torch.testing.assert_close(p, same)
torch.testing.assert_close(p.sum(), torch.tensor(1.0))
