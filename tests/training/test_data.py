"""The order of the data, and what a batch looks like."""
import numpy as np

from recipe.data import Order, Pairs, in_order
from recipe.pieces import Pieces

PAD = 10_000


def first_batches(order, count):
    return [order.next().tolist() for _ in range(count)]


def test_same_seed_same_batches(toy):
    pairs = Pairs(toy / "data", "train", PAD)
    assert first_batches(Order(pairs, 3, 256, 100), 50) == first_batches(Order(pairs, 3, 256, 100), 50)
    assert first_batches(Order(pairs, 3, 256, 100), 50) != first_batches(Order(pairs, 4, 256, 100), 50)


def test_a_resumed_order_goes_on(toy):
    pairs = Pairs(toy / "data", "train", PAD)
    whole, begun, resumed = (Order(pairs, 3, 256, 100) for _ in range(3))
    expected = first_batches(whole, 120)  # more than one pass
    assert first_batches(begun, 47) == expected[:47]
    assert resumed.resume(begun.state())
    assert first_batches(resumed, 73) == expected[47:]
    assert whole.epoch >= 1


def test_other_data_begin_a_new_pass(toy):
    order = Order(Pairs(toy / "data", "train", PAD), 3, 256, 100)
    other = Order(Pairs(toy / "data", "dev", PAD), 3, 256, 100)
    order.next()
    assert not other.resume(order.state())
    assert other.state()["place"] == 0 and other.state()["epoch"] == 1


def test_a_pass_sees_every_pair_once(toy):
    pairs = Pairs(toy / "data", "train", PAD)
    order = Order(pairs, 1, 256, 100)
    seen = []
    while order.epoch == 0 and len(seen) < len(pairs):
        seen += order.next().tolist()
    assert sorted(seen) == list(range(len(pairs)))


def test_batches_hold_the_pairs(toy):
    pairs = Pairs(toy / "data", "train", PAD, aligned=True)
    rows = Order(pairs, 1, 256, 100).next()
    b = pairs.batch(rows)
    for i, row in enumerate(rows):
        source = pairs.source[pairs.source_index[row]:pairs.source_index[row + 1]]
        target = pairs.target[pairs.target_index[row]:pairs.target_index[row + 1]]
        n = len(target)
        assert b.source[i].tolist() == [*source, 0]
        assert b.output[i].tolist() == [*target, 0] + [-1] * (b.output.shape[1] - n - 1)
        assert b.input[i, :n + 1].tolist() == [PAD, *target]
        assert b.guide[i, n] == len(source) and (b.guide[i, n + 1:] == -1).all()
        links = np.array(pairs.align[pairs.target_index[row]:pairs.target_index[row + 1]], int)
        assert b.guide[i, :n].tolist() == np.where(links == 255, -1, links).tolist()


def test_measuring_takes_all_pairs(toy):
    pairs = Pairs(toy / "data", "dev", PAD)
    assert sum(len(b.source) for b in in_order(pairs, 256)) == len(pairs) == 40


def test_alignments_find_the_words(toy):
    """`I` is linked to the piece with 我, the full stop to the full stop."""
    pieces = Pieces(toy / "data")
    name = {i: p for p, i in pieces.ids.items()}
    pairs = Pairs(toy / "data", "train", len(pieces.ids) - 1, aligned=True)
    for english, chinese in (("I", "我"), (".", "。")):
        linked = []
        for row in range(len(pairs)):
            source = pairs.source[pairs.source_index[row]:pairs.source_index[row + 1]]
            for place in range(*pairs.target_index[row:row + 2]):
                if name[int(pairs.target[place])] == english and pairs.align[place] != 255:
                    linked.append(name[int(source[pairs.align[place]])])
        assert sum(chinese in piece for piece in linked) > 0.9 * len(linked) > 20
