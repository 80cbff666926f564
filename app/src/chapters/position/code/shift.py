import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d, k = 24, 32, 5
omega = 10000.0 ** (-2 * torch.arange(d // 2) / d)
angles = torch.arange(T + k)[:, None] * omega
PE = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # [T + k, d]

# --- One matrix moves every position k further
cos, sin = torch.cos(k * omega), torch.sin(k * omega)  # [d/2] each
blocks = torch.stack([cos, sin, -sin, cos], dim=1)  # [d/2, 4]
M = torch.block_diag(*blocks.view(-1, 2, 2))  # [d, d]
moved = PE[:T] @ M.T  # [T, d], each row is M times PE of a position
wanted = PE[k:]  # [T, d]

# --- It is what it should be, at every position
torch.testing.assert_close(moved, wanted)
