import torch

# --- A chain of slopes
slopes = torch.tensor([0.8, 1.5, -0.5, 0.9])  # [4]
x = torch.tensor(1.0, requires_grad=True)  # one number
z = x
for slope in slopes:
    z = slope * z  # one number
z.backward()
print(x.grad.item(), slopes.prod().item())

# --- Backpropagation multiplies the slopes
torch.testing.assert_close(x.grad, slopes.prod())
torch.testing.assert_close(x.grad, torch.tensor(-0.54))
