import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, C = 32, 27  # units, characters
s = torch.tanh(torch.randn(H))
following = torch.tensor(4)  # the character that comes next

# --- Probabilities, and the loss
V = torch.randn(C, H) / H**0.5  # [C, H]
c = torch.randn(C)  # [C]
logits = V @ s + c  # [C]
y = torch.softmax(logits, dim=0)  # [C], adds up to 1
loss = -torch.log(y[following])  # one number

# --- The same from nn.Linear and cross_entropy
linear = torch.nn.Linear(H, C)
linear.weight.data, linear.bias.data = V, c
torch.testing.assert_close(linear(s), logits)
torch.testing.assert_close(torch.nn.functional.cross_entropy(logits, following), loss)

# --- The network on the page, before it reads your last character
V, c = page["V"], page["c"]  # [C, H], [C]
C, H = V.shape
s = page["states"][-2]  # [H]
following = torch.tensor(page["text"][-1])

# --- The probability that the page shows
character = page["characters"][following]
print(f"{character!r} follows with a probability of {y[following]:.1%}.")
torch.testing.assert_close(y, page["probabilities"][-2], rtol=1e-4, atol=1e-6)
