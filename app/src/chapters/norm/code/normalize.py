import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
B, d = 32, 16  # examples in a batch, features
gamma, beta = torch.randn(2, d)

# --- Normalize over the batch, then scale and shift
x = 3 * torch.randn(B, d) + 1  # [B, d]
eps = 1e-5
mu = x.mean(dim=0)  # [d]; for LayerNorm dim=1, keepdim=True
var = ((x - mu) ** 2).mean(dim=0)  # [d]; the same here
x_hat = (x - mu) / torch.sqrt(var + eps)  # [B, d], mean 0 and spread 1
y = gamma * x_hat + beta  # [B, d]

# --- The same from nn.BatchNorm1d, and from nn.LayerNorm over the other axis
batch, layer = torch.nn.BatchNorm1d(d), torch.nn.LayerNorm(d)
for module in [batch, layer]:
    module.weight.data, module.bias.data = gamma, beta
torch.testing.assert_close(y, batch(x))
mu, var = x.mean(dim=1, keepdim=True), x.var(dim=1, keepdim=True, correction=0)
torch.testing.assert_close(gamma * (x - mu) / torch.sqrt(var + eps) + beta, layer(x))

# --- One layer of the network on the page
x = page["x"]  # [B, d]
gamma, beta = page["gamma"], page["beta"]  # [d] each
B, d = x.shape

# --- The outputs that the page shows
print("The first example’s first feature:", y[0, 0].item())
torch.testing.assert_close(y, page["y"], rtol=1e-4, atol=1e-4)
