"""What prepare.py lets into the data."""
from pathlib import Path

import numpy as np

from conftest import command, toy_pairs, write_tsv
from recipe.data import Pairs
from recipe.pieces import Pieces

PAD = 10_000
ROOT = Path(__file__).resolve().parents[2]
MIXTURE = """sampled = {sampled}
same_source = 6
same_target = 12
seed = 5
[[corpus]]
files = "general-*"
repeat = 1
fresh = {fresh}
"""


def prepared(toy, root, sampled=0, fresh="false", pairs=()):
    """The data made of `pairs` by such a mixture with the pieces of the toy data, which count as seen."""
    corpus = root / "corpus"
    corpus.mkdir()
    write_tsv(corpus / "general-more.tsv", pairs)
    (root / "mixture.toml").write_text(MIXTURE.format(sampled=sampled, fresh=fresh))
    command("prepare.py", corpus, toy / "dev.tsv", root / "data", "--pieces", toy / "data", "--seen", toy / "data",
            "--mixture", root / "mixture.toml")
    return Pairs(root / "data", "train", PAD)


def test_fresh_pairs_were_not_seen(toy, tmp_path):
    vocabulary = Pieces(toy / "data")
    seen = set(vocabulary.translations(Pairs(toy / "data", "train", PAD)))
    dev = {line.split("\t")[1] for line in (toy / "dev.tsv").read_text().splitlines()}
    every = toy_pairs(1120, seed=2)
    fresh = prepared(toy, tmp_path, fresh="true", pairs=every)
    assert len(seen) == 660
    assert sorted(vocabulary.translations(fresh)) == sorted({en for _, en in every} - seen - dev)


def sentences(ids, index):
    return [s.tolist() for s in np.split(np.asarray(ids), index[1:-1])]


def test_drawn_segmentations_are_of_the_same_text(toy, tmp_path):
    dev = {line.split("\t")[0] for line in (toy / "dev.tsv").read_text().splitlines()}
    vocabulary, every = Pieces(toy / "data"), [pair for pair in toy_pairs(300, seed=3) if pair[0] not in dev]
    drawn = prepared(toy, tmp_path, sampled=1, pairs=every)
    ids = sentences(drawn.source, drawn.source_index)
    pieces = {int(joint): i for i, joint in enumerate(vocabulary.to_source)}
    texts = vocabulary.source.decode([[pieces[x] for x in s] for s in ids])
    assert sorted(texts) == sorted(zh for zh, _ in every)
    assert sorted(ids) != sorted(s.tolist() for s, _ in vocabulary.encode(every))


def test_the_seed_draws_the_segmentations():
    vocabulary = Pieces(ROOT / "models/zh-en")
    every = [line.split("\t")[:2] for line in (ROOT / "data/flores_dev.tsv").read_text().splitlines()[:300]]
    draw = lambda sampled, seed: [s.tolist() for s, _ in vocabulary.encode(every, sampled, seed)]
    likeliest, half = draw(0, 0), draw(0.5, 1)
    assert half == draw(0.5, 1) != draw(0.5, 2)
    assert 0.3 < np.mean([a != b for a, b in zip(likeliest, half)]) < 0.5
