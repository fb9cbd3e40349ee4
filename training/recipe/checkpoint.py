"""Checkpoints: everything that a killed run needs to go on as if nothing had happened."""
import os
from pathlib import Path

import torch

from .parameters import Architecture


def save(path, architecture, flat, optimiser, order, counts):
    """optimiser, order: their states.

    Written beside and renamed, so that a kill at any moment leaves the old checkpoint or the new one, whole."""
    path = Path(path)
    part = path.with_suffix(".part")
    with open(part, "wb") as f:
        torch.save(dict(architecture=architecture.as_dict(), flat=flat.detach(), optimiser=optimiser,
                        order=order, counts=counts), f)
        f.flush()
        os.fsync(f.fileno())
    part.replace(path)


def load(path):
    """The dictionary that save wrote, with its architecture as an Architecture."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    state["architecture"] = Architecture(**state["architecture"])
    return state
