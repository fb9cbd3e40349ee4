"""Turn an int8 model directory of zhen back into float32, so that peers can load the same weights.

usage: dequantize.py INT8_DIR FLOAT_DIR
A matrix stored as I8 has a tensor NAME.scale with one F32 scale per output row: value = int8 * scale.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file


def dequantize(tensors):
    plain = {}
    for name, tensor in tensors.items():
        if name.endswith(".scale"):
            continue
        scale = tensors.get(name + ".scale")
        plain[name] = tensor if scale is None else tensor.astype(np.float32) * scale.reshape(-1, 1)
    return plain


def main(source, target):
    target.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.name not in ("model.safetensors", "config.json"):
            shutil.copy(path, target)
    config = json.loads((source / "config.json").read_text())
    config.pop("quantization_config", None)
    (target / "config.json").write_text(json.dumps(config, indent=2))
    save_file(dequantize(load_file(source / "model.safetensors")), target / "model.safetensors",
              metadata={"format": "pt"})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
