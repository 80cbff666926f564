import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, T = 16, 8  # units, steps
U = torch.randn(H, H) / H**0.5
a = torch.randn(T, H)  # W x + b of each step
y = torch.randn(H)
t = 2  # how far back to go

# --- Back from the last step to step t
s = [torch.zeros(H)]  # s[k]: [H]
for a_k in a:
    s.append(torch.tanh(a_k + U @ s[-1]))  # [H]
g = s[T] - y  # [H], dL/ds_T where L = |s_T - y|^2 / 2
for k in range(T, t, -1):
    J = torch.diag(1 - s[k] ** 2) @ U  # [H, H]
    g = g @ J  # [H], a row times a matrix

# --- The same from autograd
start = s[t].clone().requires_grad_()
end = start
for a_k in a[t:]:
    end = torch.tanh(a_k + U @ end)
L = ((end - y) ** 2).sum() / 2
torch.testing.assert_close(g, torch.autograd.grad(L, start)[0])

# --- The RNN on the page, and the sequence that it reads
layer = "recurrent.layers.0.forward."
W, U = weights[layer + "input_weight"].T, weights[layer + "recurrent_weight"].T
b = weights[layer + "bias"]
V, c = weights["readout.weight"].T, weights["readout.bias"]
ids, t = torch.tensor(page["ids"]), page["step"]
T, H = len(ids), len(b)
a = W[:, ids].T + b  # [T, H]
end = torch.zeros(H)
for a_k in a:
    end = torch.tanh(a_k + U @ end)
p = torch.softmax(V @ end + c, dim=0)
p[page["answer"]] -= 1
y = end - p @ V  # so that s_T - y is dL/ds_T of the page’s loss, which is -ln p(answer)

# --- The slopes at that step, as backpropagation has them on the page
unit = page["unit"] - 1
print(f"Step {t}, unit {unit + 1}: a slope of {g[unit]:.3g}")
torch.testing.assert_close(g, page["sweep"][t - 1], rtol=1e-3, atol=1e-7)
