"""Muon for the matrices, Adam for the rest, a moving average of both, over the flat vectors of parameters.py."""
import math

import torch

from . import parameters as P

# Coefficients of the quintic Newton-Schulz iteration (Keller Jordan, Muon, 2024): they push singular values to about 1
# from anywhere in (0, 1) in five rounds, which is all that the step needs.
QUINTIC = 3.4445, -4.7750, 2.0315


def orthogonalise(stack, rounds=5):
    """(n, rows, columns) -> matrices with the same row and column spaces and singular values near 1."""
    a, b, c = QUINTIC
    x = stack.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(rounds):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a, alpha=1.0)
    return x.mT if tall else x


class Optimiser:
    """flat, gradient: vectors shared with the engine. rates: adam, muon; momentum and decay are Muon's."""

    def __init__(self, a, flat, gradient, adam=1e-3, muon=0.01, momentum=0.95, decay=0.01, clip=1.0):
        self.flat, self.rates = flat, (adam, muon)
        self.momentum, self.decay, self.clip = momentum, decay, clip
        n = P.vector_range(a)
        self.vectors, self.vector_slopes = flat[:n], gradient[:n]
        self.matrices, self.matrix_slopes = flat[n:], gradient[n:]
        self.moments = torch.zeros_like(self.matrices)
        self.groups = list(zip(P.matrix_groups(a, flat), P.matrix_groups(a, gradient)))
        parameter = torch.nn.Parameter(self.vectors.detach())
        parameter.grad = self.vector_slopes
        self.adam = torch.optim.Adam([parameter], lr=adam, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.average = flat.detach().clone()

    @torch.no_grad()
    def step(self, tokens, factor):
        """One step with the gradient of a sum over `tokens`; factor scales the learning rates."""
        self.vector_slopes.mul_(1 / tokens)
        norm = float(self.vector_slopes.norm())
        if norm > self.clip:
            self.vector_slopes.mul_(self.clip / norm)
        self.adam.param_groups[0]["lr"] = self.rates[0] * factor
        self.adam.step()
        self._muon(tokens, self.rates[1] * factor)

    def _muon(self, tokens, rate):
        self.matrix_slopes.mul_(1 / tokens)
        self.moments.lerp_(self.matrix_slopes, 1 - self.momentum)
        self.matrix_slopes.lerp_(self.moments, self.momentum)  # Nesterov
        self.matrices.mul_(1 - rate * self.decay)
        for matrices, slopes in self.groups:
            rows, columns = matrices.shape[1:]
            size = rate * math.sqrt(max(1.0, rows / columns))
            matrices.add_(orthogonalise(slopes).float(), alpha=-size)

    @torch.no_grad()
    def average_in(self, step, every):
        """Moving average of the parameters, its memory growing to 1000 steps; called every `every` steps."""
        keep = min(0.999, (step + 1) / (step + 100.0)) ** every
        self.average.lerp_(self.flat.detach(), 1 - keep)

    def state(self):
        return dict(adam=self.adam.state_dict(), moments=self.moments, average=self.average)

    def resume(self, state):
        self.adam.load_state_dict(state["adam"])
        self.moments.copy_(state["moments"])
        self.average.copy_(state["average"])
