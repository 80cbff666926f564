import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
B, d = 32, 16  # examples in a batch, features

# --- The same two formulas, over another axis
x = 3 * torch.randn(B, d) + 1  # [B, d]
mu_layer = x.mean(dim=1, keepdim=True)  # [B, 1], over one example
var_layer = ((x - mu_layer) ** 2).mean(dim=1, keepdim=True)  # [B, 1]
mu_batch = x.mean(dim=0)  # [d], over the batch
var_batch = ((x - mu_batch) ** 2).mean(dim=0)  # [d]

# --- The same from torch.var_mean
wanted = torch.var_mean(x, dim=1, correction=0, keepdim=True)
torch.testing.assert_close((var_layer, mu_layer), wanted)
wanted = torch.var_mean(x, dim=0, correction=0)
torch.testing.assert_close((var_batch, mu_batch), wanted)
