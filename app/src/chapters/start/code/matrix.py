import torch

# --- A matrix and its rows
W = torch.tensor([[1.5, -0.5], [-1.0, 2.0], [0.5, -1.5]])  # [3, 2]
x = torch.tensor([2.0, 1.0])  # [2]
one_by_one = [torch.dot(row, x) for row in W]
y = torch.stack(one_by_one)  # [3], an answer for each row
at_once = W @ x  # [3]
print(y, at_once)

# --- Both ways give the same
torch.testing.assert_close(y, at_once)
torch.testing.assert_close(y, torch.tensor([2.5, 0.0, -0.5]))
