import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
H, S = 32, 10  # units, source characters
s = torch.randn(H)
h = torch.randn(S, H)

# --- Look back with the new state, then mix
W_c = torch.randn(H, 2 * H) / H**0.5  # [H, 2H]
alpha = torch.softmax(h @ s, dim=0)  # [S]
c = alpha @ h  # [H]
both = torch.cat([c, s])  # [2H]
h_tilde = torch.tanh(W_c @ both)  # [H]

# --- The same as a sum of two products
of_c, of_s = W_c.split(H, dim=1)
torch.testing.assert_close(h_tilde, torch.tanh(of_c @ c + of_s @ s))
one_call = torch.nn.functional.scaled_dot_product_attention
torch.testing.assert_close(c, one_call(s[None], h, h, scale=1.0)[0])
