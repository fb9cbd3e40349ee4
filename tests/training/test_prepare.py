"""What prepare.py lets into the data."""
import numpy as np

from conftest import command, toy_pairs, write_tsv
from recipe.data import Pairs
from recipe.pieces import Pieces

PAD = 10_000
MIXTURE = """traditional = 0
sampled = {sampled}
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


def sources(vocabulary, pairs):
    ids = {int(joint): i for i, joint in enumerate(vocabulary.to_source)}
    every = np.split(np.asarray(pairs.source), pairs.source_index[1:-1])
    return vocabulary.source.decode([[ids[int(x)] for x in s] for s in every])


def test_drawn_segmentations_are_of_the_same_text(toy, tmp_path):
    dev = {line.split("\t")[0] for line in (toy / "dev.tsv").read_text().splitlines()}
    vocabulary, every = Pieces(toy / "data"), [pair for pair in toy_pairs(300, seed=3) if pair[0] not in dev]
    drawn = prepared(toy, tmp_path, sampled=1, pairs=every)
    assert sorted(sources(vocabulary, drawn)) == sorted(zh for zh, _ in every)
    assert len(drawn.source) > sum(len(s) for s, _ in vocabulary.encode(every))


def test_the_seed_draws_the_segmentations(toy):
    vocabulary, every = Pieces(toy / "data"), toy_pairs(300, seed=3)
    draw = lambda sampled, seed: [s.tolist() for s, _ in vocabulary.encode(every, sampled, seed)]
    likeliest, half = draw(0, 0), draw(0.5, 1)
    assert half == draw(0.5, 1) != draw(0.5, 2)
    assert 0.05 < np.mean([a != b for a, b in zip(likeliest, half)]) <= 0.6
