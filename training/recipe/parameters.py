"""The network's parameters: one flat fp32 vector, cut into tensors with the names of the MarianMT layout.

One vector makes the rest simple: the optimiser, the moving average, checkpoints and the native step work on whole
ranges of it, and a tensor of the model directory is a view. The order inside is chosen for them:

    [ embedding | output bias | biases and norms | d x d matrices | ff x d matrices | d x ff matrices ]
      `------------- Adam ------------------'      `--------------------- Muon ----------------------'

so that each optimiser has one range, equal matrices lie together, and q, k, v are neighbours, one matrix of 3 d rows.
"""
from dataclasses import asdict, dataclass
import math

import torch


@dataclass(frozen=True)
class Architecture:
    """Sizes. `targets`: words that can be produced; they are the first ids of the `vocabulary`, whose last is <pad>."""
    vocabulary: int
    targets: int
    d: int = 256
    heads: int = 4
    ff: int = 1024
    encoder_layers: int = 6
    decoder_layers: int = 2

    @property
    def pad(self):
        return self.vocabulary - 1

    def as_dict(self):
        return asdict(self)


END = 0      # id of </s>
UNKNOWN = 1  # id of <unk>

SHARED = "model.shared.weight"
OUTPUT_BIAS = "final_logits_bias"


def layers(a):
    """Prefixes of the layers' names, the encoder's first, each with whether it is the decoder's."""
    sides = (("encoder", a.encoder_layers, False), ("decoder", a.decoder_layers, True))
    return [(f"model.{side}.layers.{i}.", decoder) for side, n, decoder in sides for i in range(n)]


def attentions(decoder):
    return ("self_attn", "encoder_attn") if decoder else ("self_attn",)


def norms(decoder):
    return [f"{x}_layer_norm" for x in attentions(decoder) + ("final",)]


def layout(a):
    """[(name, shape)] in the order of the flat vector."""
    vectors, squares, wide, tall = [], [], [], []
    for prefix, decoder in layers(a):
        for attention in attentions(decoder):
            for x in ("q", "k", "v", "out"):
                name = f"{prefix}{attention}.{x}_proj"
                squares.append((name + ".weight", (a.d, a.d)))
                vectors.append((name + ".bias", (a.d,)))
        for norm in norms(decoder):
            vectors += [(f"{prefix}{norm}.weight", (a.d,)), (f"{prefix}{norm}.bias", (a.d,))]
        wide.append((prefix + "fc1.weight", (a.ff, a.d)))
        tall.append((prefix + "fc2.weight", (a.d, a.ff)))
        vectors += [(prefix + "fc1.bias", (a.ff,)), (prefix + "fc2.bias", (a.d,))]
    table = [(SHARED, (a.vocabulary, a.d)), (OUTPUT_BIAS, (a.targets,))]
    return table + vectors + squares + wide + tall


def values(a):
    return sum(math.prod(shape) for _, shape in layout(a))


def offsets(a):
    """{name: where it begins in the flat vector}."""
    at, result = 0, {}
    for name, shape in layout(a):
        result[name] = at
        at += math.prod(shape)
    return result


def views(a, flat):
    """{name: tensor}, views of the flat vector."""
    at = offsets(a)
    return {name: flat[at[name]:at[name] + math.prod(shape)].view(shape) for name, shape in layout(a)}


def matrix_groups(a, flat):
    """Stacks (count, rows, columns) of the matrices that Muon trains, views of the flat vector."""
    at, groups = offsets(a), {}
    for name, shape in layout(a):
        if len(shape) == 2 and name != SHARED:
            groups.setdefault(shape, []).append(at[name])
    return [flat[first[0]:first[0] + len(first) * math.prod(shape)].view(len(first), *shape)
            for shape, first in groups.items()]


def vector_range(a):
    """Length of the part that Adam trains."""
    return min(at for name, at in offsets(a).items() if name.endswith("q_proj.weight"))


def initialise(a, seed):
    """A fresh flat vector: Xavier for matrices, normal embeddings with a zero row for <pad>."""
    generator = torch.Generator().manual_seed(seed)
    flat = torch.zeros(values(a))
    for name, tensor in views(a, flat).items():
        if name == SHARED:
            tensor.normal_(std=a.d ** -0.5, generator=generator)
            tensor[a.pad].zero_()
        elif tensor.dim() == 2:
            bound = math.sqrt(6 / sum(tensor.shape))
            tensor.uniform_(-bound, bound, generator=generator)
        elif name.endswith("layer_norm.weight"):
            tensor.fill_(1)
    return flat


def sinusoids(count, d):
    """(count, d): Marian's positions, sines in the first half of the vector, cosines in the second."""
    inverse = torch.exp(torch.arange(0, d, 2, dtype=torch.float32) * (-math.log(10000.0) / d))
    angle = torch.arange(count, dtype=torch.float32)[:, None] * inverse
    return torch.cat([angle.sin(), angle.cos()], dim=1)
