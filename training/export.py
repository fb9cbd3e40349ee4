#!/usr/bin/env python3
"""Write a run's model as a Hugging Face MarianMT directory: export.py DATA RUN MODEL

MODEL receives config.json, generation_config.json, model.safetensors (fp32), vocab.json, source.spm, target.spm and
tokenizer_config.json: the moving average of the parameters, or with --plain the parameters themselves.
"""
import argparse
from pathlib import Path

from recipe import checkpoint, marian


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", type=Path)
    p.add_argument("run", type=Path)
    p.add_argument("model", type=Path)
    p.add_argument("--plain", action="store_true")
    o = p.parse_args()
    state = checkpoint.load(o.run / "last.pt")
    flat = state["flat"] if o.plain else state["optimiser"]["average"]
    marian.write_model(o.model, state["architecture"], flat, o.data)
    print(f"{flat.numel():,} parameters after {state['counts']['tokens'] / 1e6:.1f} M target tokens in {o.model}")


if __name__ == "__main__":
    main()
