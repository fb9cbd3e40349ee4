"""The two ways to a gradient: PyTorch on any device, and the native step on CPUs with matrix units.

Both are called alike: `run(batches)` fills `gradient` with the gradient of the batches' summed costs and returns
Stats; `measure(batches, flat)` returns Stats only.
"""
import ctypes
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from . import network, parameters as P

NATIVE = Path(__file__).resolve().parent.parent / "native"
SOURCES = ("tiles.c", "layers.c", "attention.c", "output.c", "step.c")


@dataclass
class Stats:
    """Sums over target tokens (guide: over guided ones)."""
    loss: float = 0.0
    surprise: float = 0.0
    guide: float = 0.0
    tokens: int = 0
    guided: int = 0

    def __add__(self, other):
        return Stats(*(getattr(self, k) + getattr(other, k) for k in self.__dataclass_fields__))

    def per_token(self):
        n = max(1, self.tokens)
        return dict(loss=self.loss / n, nll=self.surprise / n, guide=self.guide / max(1, self.guided))


class TorchEngine:
    """Plain PyTorch; bf16 activations on a GPU."""

    def __init__(self, a, flat, smooth, guide_weight, dtype=None):
        self.a, self.flat, self.smooth, self.guide_weight = a, flat, smooth, guide_weight
        self.dtype = dtype or (torch.bfloat16 if flat.is_cuda else torch.float32)
        self.gradient = torch.zeros_like(flat)
        self.weights = P.views(a, flat)
        for name, slope in P.views(a, self.gradient).items():
            self.weights[name].requires_grad_().grad = slope

    def _costs(self, weights, batch, smooth):
        batch = batch.to(self.flat.device)
        loss, surprise, guide = network.costs(self.a, weights, batch, smooth, self.dtype)
        n, guided = int((batch.output >= 0).sum()), int((batch.guide >= 0).sum()) if batch.guide is not None else 0
        return loss + self.guide_weight * guide, Stats(loss.item(), surprise.item(), guide.item(), n, guided)

    def run(self, batches):
        self.gradient.zero_()
        total = Stats()
        for batch in batches:
            cost, stats = self._costs(self.weights, batch, self.smooth)
            cost.backward()
            total += stats
        P.views(self.a, self.gradient)[P.SHARED][self.a.pad].zero_()  # <pad> stays zero
        return total

    @torch.no_grad()
    def measure(self, batches, flat):
        weights = P.views(self.a, flat)
        return sum((self._costs(weights, batch, 0.0)[1] for batch in batches), Stats())


class _Config(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int32) for n in ("d", "heads", "ff", "encoder_layers", "decoder_layers", "vocabulary",
                                              "targets", "longest", "threads")] + \
               [("smooth", ctypes.c_float), ("guide_weight", ctypes.c_float)]


class _Batch(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int32) for n in ("sentences", "sources", "targets")] + \
               [(n, ctypes.c_void_p) for n in ("source", "input", "output", "guide")]


class _Stats(ctypes.Structure):
    _fields_ = [(n, ctypes.c_double) for n in ("loss", "surprise", "guide")] + \
               [(n, ctypes.c_int64) for n in ("tokens", "guided")]


def build_native():
    """Compile the native step if its sources are newer than the library; returns the library's path."""
    library = NATIVE / "build" / "libstep.so"
    sources = [NATIVE / s for s in SOURCES]
    newest = max(f.stat().st_mtime for f in NATIVE.glob("*.[ch]"))
    if not library.exists() or library.stat().st_mtime < newest:
        library.parent.mkdir(exist_ok=True)
        part = library.with_suffix(f".{os.getpid()}")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O3", "-march=native", "-ffast-math",
                        "-fPIC", "-shared", "-pthread", "-Wall", "-Wextra", *map(str, sources), "-o", str(part),
                        "-lm"], check=True)
        part.replace(library)
    return library


def native_is_fast():
    """Whether this machine has the matrix units that the native step is written for."""
    try:
        return "amx_bf16" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


class NativeEngine:
    """native/step.c through ctypes. The flat vectors are shared with it, not copied."""

    MOST_THREADS = 64  # MOST in step.c

    def __init__(self, a, flat, smooth, guide_weight, longest=160, threads=None):
        if flat.is_cuda:
            raise RuntimeError("the native step runs on the CPU: --device cpu")
        self.a, self.flat, self.gradient = a, flat, torch.zeros_like(flat)
        self.library = ctypes.CDLL(str(build_native()))
        self.library.step_create.restype = ctypes.c_void_p
        config = _Config(a.d, a.heads, a.ff, a.encoder_layers, a.decoder_layers, a.vocabulary, a.targets, longest,
                         threads or min(os.cpu_count() or 1, self.MOST_THREADS), smooth, guide_weight)
        self.step = self.library.step_create(ctypes.byref(config), self._offsets().ctypes.data_as(ctypes.c_void_p),
                                             ctypes.c_size_t(flat.numel()))
        if not self.step:
            raise RuntimeError("the native step does not run here: unsuitable sizes, or no leave to use AMX")

    def __del__(self):
        if getattr(self, "step", None):
            self.library.step_free(ctypes.c_void_p(self.step))

    def _offsets(self):
        """In the order of step_create."""
        at, result = P.offsets(self.a), []
        def add(name):
            result.extend((at[name + ".weight"], at[name + ".bias"]))
        for prefix, decoder in P.layers(self.a):
            for attention in P.attentions(decoder):
                add(f"{prefix}{attention}.q_proj")
                if attention == "encoder_attn":
                    add(f"{prefix}{attention}.k_proj")
                add(f"{prefix}{attention}.out_proj")
                add(f"{prefix}{attention}_layer_norm")
            for name in ("fc1", "fc2", "final_layer_norm"):
                add(prefix + name)
        return np.array([at[P.SHARED], at[P.OUTPUT_BIAS], *result], np.int64)

    def _call(self, batches, flat, gradient):
        held = [[np.ascontiguousarray(x, np.int32) if x is not None else None for x in b.arrays()] for b in batches]
        table = (_Batch * len(held))()
        for row, arrays in zip(table, held):
            row.sentences, row.sources = arrays[0].shape
            row.targets = arrays[1].shape[1]
            row.source, row.input, row.output, row.guide = (x.ctypes.data if x is not None else None for x in arrays)
        stats = _Stats()
        status = self.library.step_run(ctypes.c_void_p(self.step), ctypes.c_void_p(flat.data_ptr()),
                                       ctypes.c_void_p(gradient.data_ptr() if gradient is not None else None),
                                       table, ctypes.c_size_t(len(held)), ctypes.byref(stats))
        if status:
            raise RuntimeError("a batch is too large for the native step")
        return Stats(stats.loss, stats.surprise, stats.guide, stats.tokens, stats.guided)

    def run(self, batches):
        return self._call(batches, self.flat, self.gradient)

    def measure(self, batches, flat):
        return self._call(batches, flat, None)


def choose(kind, *args, **options):
    """kind: torch, native, or auto: native where it is fast, runs at all (it wants heads of 32 values or a multiple), and
    the parameters are in main memory. options: longest, threads, see NativeEngine."""
    flat = args[1]
    if kind == "native":
        return NativeEngine(*args, **options)
    if kind == "auto" and not flat.is_cuda and native_is_fast():
        try:
            return NativeEngine(*args, **options)
        except RuntimeError as e:
            print(f"{e}: PyTorch's engine is taken", flush=True)
    return TorchEngine(*args)
