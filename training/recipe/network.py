"""The network in PyTorch: on a GPU the trainer itself, on a CPU the reference that the native step is held against.

Activations are bf16 where `dtype` says so, weights fp32 masters cast at their use; sums, norms' statistics and the
softmax over the vocabulary are fp32.
"""
from functools import lru_cache

import torch
import torch.nn.functional as F

from . import parameters as P


def linear(w, name, x):
    return F.linear(x, w[name + ".weight"].to(x.dtype), w[name + ".bias"].to(x.dtype))


def norm(w, name, x):
    return F.layer_norm(x.float(), x.shape[-1:], w[name + ".weight"], w[name + ".bias"], 1e-5).to(x.dtype)


def attend(w, name, x, memory, heads, mask, guide):
    """Attention of x (B, T, d) over memory (B, S, d). guide (B, T): the key for the first head, -1 none, or None.
    Returns the result and the guide's cost."""
    def split(projection, y):
        return linear(w, f"{name}.{projection}_proj", y).unflatten(-1, (heads, -1)).transpose(1, 2)
    q, k, v = split("q", x), split("k", memory), split("v", memory)
    cost = x.new_zeros((), dtype=torch.float32)
    if guide is None:
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    else:
        scores = (q @ k.mT).float() * q.shape[-1] ** -0.5
        weights = (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1)
        mixed = weights.to(v.dtype) @ v
        taught = guide >= 0
        p = weights[:, 0].gather(2, guide.clamp_min(0)[:, :, None])[:, :, 0]
        cost = -((p + 1e-4).log() * taught).sum()
    return linear(w, f"{name}.out_proj", mixed.transpose(1, 2).flatten(2)), cost


def feed_forward(w, prefix, x):
    hidden = F.relu(linear(w, prefix + "fc1", x))
    return norm(w, prefix + "final_layer_norm", x + linear(w, prefix + "fc2", hidden))


@lru_cache
def positions(d, device):
    return P.sinusoids(512, d).to(device)


def embed(a, w, ids, dtype):
    x = F.embedding(ids, w[P.SHARED]) * a.d ** 0.5 + positions(a.d, ids.device)[:ids.shape[1]]
    return x.to(dtype)


def encode(a, w, source, dtype=torch.float32):
    """(B, S) ids without padding -> (B, S, d)."""
    x = embed(a, w, source, dtype)
    for prefix, decoder in P.layers(a):
        if not decoder:
            y, _ = attend(w, prefix + "self_attn", x, x, a.heads, None, None)
            x = feed_forward(w, prefix, norm(w, prefix + "self_attn_layer_norm", x + y))
    return x


def decode(a, w, ids, memory, guide=None):
    """(B, T) ids, <pad> first -> (B, T, d) and the cost of the guided head, the last layer's first."""
    x, cost = embed(a, w, ids, memory.dtype), 0
    causal = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=ids.device).tril()
    prefixes = [prefix for prefix, decoder in P.layers(a) if decoder]
    for prefix in prefixes:
        y, _ = attend(w, prefix + "self_attn", x, x, a.heads, causal, None)
        x = norm(w, prefix + "self_attn_layer_norm", x + y)
        y, c = attend(w, prefix + "encoder_attn", x, memory, a.heads, None, guide if prefix == prefixes[-1] else None)
        x = feed_forward(w, prefix, norm(w, prefix + "encoder_attn_layer_norm", x + y))
        cost = cost + c
    return x, cost


def logits(a, w, x):
    return F.linear(x, w[P.SHARED][:a.targets].to(x.dtype)).float() + w[P.OUTPUT_BIAS]


def costs(a, w, batch, smooth, dtype=torch.float32):
    """Sums over the batch's tokens: smoothed loss, negative log-likelihood, guide. batch: data.Batch of tensors."""
    x, guide = decode(a, w, batch.input, encode(a, w, batch.source, dtype), batch.guide)
    keep = batch.output >= 0
    scores, gold = logits(a, w, x[keep]), batch.output[keep]
    every = scores.logsumexp(-1)
    right = scores.gather(1, gold[:, None])[:, 0]
    surprise = (every - right).sum()
    loss = (1 - smooth) * surprise + smooth * (every - scores.mean(-1)).sum()
    return loss, surprise, guide
