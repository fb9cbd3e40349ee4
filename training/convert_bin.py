#!/usr/bin/env python3
"""Give an old model directory, that has its weights in pytorch_model.bin only, a model.safetensors: convert_bin.py DIR

The pickle is opened with weights_only=True, which runs no code from it. Tensors that share memory (tied embeddings) are
written once, under the name that MarianMT reads: model.shared.weight where it is among them.
"""
import argparse
from pathlib import Path
import sys

from safetensors.torch import save_file
import torch

TIED = "model.shared.weight"
POSITIONS = "embed_positions.weight"  # sinusoids, which every reader makes itself


def distinct(tensors):
    """One name for each piece of memory."""
    chosen = {}
    for name in sorted(tensors, key=lambda n: (n != TIED, n)):
        t = tensors[name]
        chosen.setdefault((t.data_ptr(), t.shape, t.stride()), name)
    return {name: tensors[name].contiguous().clone() for name in chosen.values()}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("directory", type=Path)
    p.add_argument("--force", action="store_true", help="write over an existing model.safetensors")
    o = p.parse_args()
    source, out = o.directory / "pytorch_model.bin", o.directory / "model.safetensors"
    if out.exists() and not o.force:
        sys.exit(f"{out} is there already")
    tensors = torch.load(source, map_location="cpu", weights_only=True)
    kept = distinct({k: t for k, t in tensors.items() if isinstance(t, torch.Tensor) and not k.endswith(POSITIONS)})
    save_file(kept, out, metadata={"format": "pt"})
    print(f"{len(kept)} tensors, {sum(t.numel() for t in kept.values()):,} values in {out}")


if __name__ == "__main__":
    main()
