import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
B, d = 32, 16  # examples in a batch, features
batches = 3 * torch.randn(10, B, d) + 1

# --- What is kept for inference
rho = 0.1
mu_run, var_run = torch.zeros(d), torch.ones(d)  # [d] each
for x in batches:  # x: [B, d]
    mu = x.mean(dim=0)  # [d]
    var = ((x - mu) ** 2).mean(dim=0)  # [d]
    mu_run = (1 - rho) * mu_run + rho * mu  # [d]
    var_run = (1 - rho) * var_run + rho * B / (B - 1) * var  # [d]

# --- The same from nn.BatchNorm1d
norm = torch.nn.BatchNorm1d(d)
for x in batches:
    norm(x)
torch.testing.assert_close(mu_run, norm.running_mean)
torch.testing.assert_close(var_run, norm.running_var)
