"""Corpora: files of `zh TAB en [TAB source]`, plain or .xz, and the mixture of them."""
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch
import lzma
from pathlib import Path
import random
import tomllib

from . import text


@dataclass
class Rule:
    patterns: list
    repeat: float
    fresh: bool  # only pairs that no earlier data hold


@dataclass
class Mixture:
    sampled: float
    same_source: int
    same_target: int
    seed: int
    rules: list

    def rule(self, name):
        for rule in self.rules:
            if any(fnmatch(name, p) for p in rule.patterns):
                return rule
        return Rule([], 0, False)


def read_mixture(path):
    with open(path, "rb") as f:
        c = tomllib.load(f)
    rules = [Rule([r["files"]] if isinstance(r["files"], str) else r["files"], r["repeat"], r.get("fresh", False))
             for r in c["corpus"]]
    return Mixture(c.get("sampled", 0), c["same_source"], c["same_target"], c["seed"], rules)


def name_of(path):
    return path.name.removesuffix(".xz").removesuffix(".tsv")


def files(directory):
    """The corpora of a directory by name, decompressed ones first choice."""
    found = {name_of(f): f for f in sorted(Path(directory).glob("*.tsv.xz"))}
    found.update({name_of(f): f for f in sorted(Path(directory).glob("*.tsv"))})
    return [found[name] for name in sorted(found) if name != "MANIFEST"]


def rows(path):
    """Lists of fields, at least two, sources and targets in normal form."""
    opened = lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else open(path, encoding="utf-8")
    with opened as f:
        for line in f:
            fields = line.rstrip("\n").split("\t")
            if len(fields) >= 2:
                yield [text.normal(fields[0]), text.normal(fields[1]), *fields[2:]]


class Filter:
    """Passes each good pair once, keeps the held-out sentences out and the much repeated ones rare."""

    def __init__(self, mixture, held_out):
        self.mixture = mixture
        self.held_out = {k for k in map(text.key, held_out) if len(k) > 8}
        self.seen, self.sources, self.targets = set(), Counter(), Counter()

    def passes(self, zh, en):
        if not text.worth_learning(zh, en):
            return False
        pair = k, m = text.key(zh), text.key(en)
        if k in self.held_out or m in self.held_out or pair in self.seen:
            return False
        if self.sources[k] >= self.mixture.same_source or self.targets[m] >= self.mixture.same_target:
            return False
        self.seen.add(pair)
        self.sources[k] += 1
        self.targets[m] += 1
        return True


def mix(directory, mixture, held_out, seen=frozenset(), report=print):
    """[(zh, en, share)] in random order, and {corpus: [pairs, kept, repeat]}. share: the part of the corpus that the
    mixture sees at least once. seen: keys of the translations that are not fresh."""
    chance, sieve, pairs, counts = random.Random(mixture.seed), Filter(mixture, held_out), [], {}
    for path in files(directory):
        rule, read, kept = mixture.rule(name_of(path)), 0, 0
        repeat = rule.repeat
        for zh, en, *_ in rows(path) if repeat else ():
            read += 1
            if sieve.passes(zh, en) and not (rule.fresh and text.key(en) in seen):
                kept += 1
                times = int(repeat) + (chance.random() < repeat % 1)
                pairs += [(zh, en, min(1.0, repeat))] * times
        counts[name_of(path)] = [read, kept, repeat]
        report(f"{name_of(path)}: {kept} of {read} pairs, x{repeat}")
    chance.shuffle(pairs)
    return pairs, counts
