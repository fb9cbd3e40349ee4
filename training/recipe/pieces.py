"""Pieces: the two SentencePiece models and the joint vocabulary, English pieces first."""
from pathlib import Path
import random
import shutil

import numpy as np
import sentencepiece

from . import marian, normaliser

SOURCE, TARGET, VOCABULARY = marian.PIECE_FILES
SHARPNESS = 0.3  # the power of a segmentation's probability by which it is drawn: a sixth of the draws are the likeliest


def learn(pairs, directory, source_pieces, target_pieces, chance):
    """Train both models on a balanced sample: of each corpus the share that the mixture sees."""
    sample = [(zh, en) for zh, en, share in pairs if chance.random() < share]
    sides = ((SOURCE, 0, source_pieces, 0.9997), (TARGET, 1, target_pieces, 0.9995))
    for name, side, size, coverage in sides:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([p[side] for p in sample]), model_prefix=str(Path(directory) / name)[:-4],
            vocab_size=size, character_coverage=coverage, model_type="unigram", byte_fallback=True, split_digits=True,
            normalization_rule_name="nmt_nfkc", input_sentence_size=1200000, max_sentence_length=4000,
            unk_id=1, bos_id=-1, eos_id=0, pad_id=-1, hard_vocab_limit=False, minloglevel=1)
        model = Path(directory) / name
        model.with_suffix(".model").replace(model)
        model.with_suffix(".vocab").unlink()
    normaliser.install(Path(directory) / SOURCE)


class Pieces:
    """Text to ids and back. `targets`: the ids below it are the English pieces; the last id is <pad>."""

    def __init__(self, directory):
        directory = Path(directory)
        self.source, self.target = (sentencepiece.SentencePieceProcessor(str(directory / n)) for n in (SOURCE, TARGET))
        self.ids, self.targets = self._join()
        self.to_source, self.to_target = self._table(self.source), self._table(self.target)

    def _join(self):
        ids = {}
        for model in (self.target, self.source):
            for i in range(model.get_piece_size()):
                ids.setdefault(model.id_to_piece(i), len(ids))
            if model is self.target:
                targets = len(ids)
        ids["<pad>"] = len(ids)
        assert ids["</s>"] == 0 and ids["<unk>"] == 1
        return ids, targets

    def _table(self, model):
        return np.array([self.ids[model.id_to_piece(i)] for i in range(model.get_piece_size())], np.uint16)

    def encode(self, pairs, sampled=0, seed=0):
        """[(source ids, target ids)] as uint16 arrays, without </s>. sampled: the share of sources whose segmentation is
        drawn by its probability instead of being the likeliest (subword regularisation, Kudo 2018)."""
        source = self.source.encode([p[0] for p in pairs], num_threads=-1)
        target = self.target.encode([p[1] for p in pairs], num_threads=-1)
        if sampled:
            self._draw(source, pairs, random.Random(seed), sampled)
        return [(self.to_source[s], self.to_target[t]) for s, t in zip(source, target)]

    def _draw(self, source, pairs, chance, sampled):
        drawn = [i for i in range(len(pairs)) if chance.random() < sampled]
        sentencepiece.set_random_generator_seed(chance.getrandbits(31))
        segmentations = self.source.encode([pairs[i][0] for i in drawn], enable_sampling=True, nbest_size=-1,
                                           alpha=SHARPNESS, num_threads=1)
        for i, segmentation in zip(drawn, segmentations):
            source[i] = segmentation

    def translations(self, pairs):
        """The texts of a data.Pairs' targets: English pieces have the same ids in the joint vocabulary."""
        return self.target.decode([ids.tolist() for ids in np.split(pairs.target, pairs.target_index[1:-1])])

    def write(self, directory):
        """vocab.json, beside copies of the models where they come from elsewhere."""
        marian.write_json(Path(directory) / VOCABULARY, self.ids)


def bring(origin, directory):
    """Copy the models of another directory."""
    for name in (SOURCE, TARGET):
        shutil.copy(Path(origin) / name, directory)
