import torch

# --- The dot product of two lists
a = torch.tensor([3.0, 1.0])  # [2]
b = torch.tensor([1.0, 2.5])  # [2]
products = a * b  # [2], place by place
dot = products.sum()  # one number
cosine = dot / (a.norm() * b.norm())  # one number, 1 where they point the same way
print(dot.item(), cosine.item())

# --- The same from PyTorch’s own
torch.testing.assert_close(dot, torch.dot(a, b))
torch.testing.assert_close(dot, torch.tensor(5.5))
torch.testing.assert_close(cosine, torch.nn.functional.cosine_similarity(a, b, dim=0))
