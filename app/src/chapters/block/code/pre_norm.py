import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
T, d, heads = 24, 24, 2
layer = torch.nn.TransformerEncoderLayer(
    d, heads, 4 * d, dropout=0.0, batch_first=True, norm_first=True
)
x = torch.randn(1, T, d)
x_start = x
norm_1, norm_2 = layer.norm1, layer.norm2
future = torch.ones(T, T).triu(1).bool()

# --- One block, with the norms first
def attention(y):  # [1, T, d]
    return layer.self_attn(y, y, y, attn_mask=future)[0]  # [1, T, d]

def feed_forward(y):  # [1, T, d]
    return layer.linear2(torch.relu(layer.linear1(y)))  # [1, T, d]

x = x + attention(norm_1(x))  # [1, T, d]
x = x + feed_forward(norm_2(x))  # [1, T, d]

# --- The same from nn.TransformerEncoderLayer with norm_first=True
torch.testing.assert_close(x, layer(x_start, src_mask=future))
