import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T = 24
s = torch.randn(T)

# --- The derivative of softmax
def slope(s):
    w = torch.softmax(s, dim=-1)  # [T]
    return w[:, None] * (torch.eye(T) - w)  # [T, T], dw_i / ds_j

J = slope(s)  # [T, T]
flat = slope(100 * s)  # [T, T], near 0 where one weight is near 1

# --- The same from autograd
softmax = lambda s: torch.softmax(s, dim=-1)
torch.testing.assert_close(J, torch.autograd.functional.jacobian(softmax, s))
assert flat.abs().max() < 1e-3 < J.abs().max()
