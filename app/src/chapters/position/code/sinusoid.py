import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d = 24, 32

# --- A sine and a cosine for each pair of dimensions
p = torch.arange(T)[:, None]  # [T, 1], positions
i = torch.arange(d // 2)  # [d/2], pairs
omega = 10000.0 ** (-2 * i / d)  # [d/2], speeds
PE = torch.zeros(T, d)  # [T, d]
PE[:, 0::2] = torch.sin(p * omega)  # even dimensions
PE[:, 1::2] = torch.cos(p * omega)  # odd dimensions

# --- The same, one number at a time
import math

for place in range(T):
    for pair in range(d // 2):
        angle = place / 10000 ** (2 * pair / d)
        assert abs(PE[place, 2 * pair] - math.sin(angle)) < 1e-9
        assert abs(PE[place, 2 * pair + 1] - math.cos(angle)) < 1e-9

# --- As many positions, and as wide a model, as on the page
T, d = page["encoding"].shape

# --- The encoding that the page draws
print(PE[1])
torch.testing.assert_close(PE, page["encoding"], rtol=1e-4, atol=1e-5)
