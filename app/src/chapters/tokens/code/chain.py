import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
V = 4  # tokens to choose from; a text is three of them
joint = torch.rand(V, V, V)
joint /= joint.sum()

# --- One factor for each token
p_1 = joint.sum(dim=(1, 2))  # [V]
p_2 = joint.sum(dim=2) / p_1[:, None]  # [V, V], given one
p_3 = joint / joint.sum(dim=2, keepdim=True)  # [V, V, V], given two
i, j, l = 2, 0, 3  # the tokens of one text
p = p_1[i] * p_2[i, j] * p_3[i, j, l]  # one number
log_p = p_1[i].log() + p_2[i, j].log() + p_3[i, j, l].log()  # one number

# --- The product is the probability of the text, and each factor is a distribution
torch.testing.assert_close(p, joint[i, j, l])
torch.testing.assert_close(log_p, joint[i, j, l].log())
torch.testing.assert_close(p_2.sum(dim=1), torch.ones(V))
torch.testing.assert_close(p_3.sum(dim=2), torch.ones(V, V))
