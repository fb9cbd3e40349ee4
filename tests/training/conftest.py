"""A toy language pair of fixed seed, and the training commands run on it as a user would."""
import os
from pathlib import Path
import random
import subprocess
import sys

import pytest

TRAINING = Path(__file__).resolve().parents[2] / "training"
sys.path.insert(0, str(TRAINING))

SUBJECTS = (("我", "I"), ("你", "You"), ("他", "He"), ("她", "She"), ("老师", "The teacher"), ("学生", "The student"),
            ("医生", "The doctor"), ("我的朋友", "My friend"))
TIMES = (("昨天", "yesterday"), ("今天早上", "this morning"), ("上个星期", "last week"), ("去年", "last year"))
DEEDS = (("买了", "bought"), ("看见了", "saw"), ("找到了", "found"), ("画了", "drew"), ("卖了", "sold"))
THINGS = (("一本书", "a book"), ("一只猫", "a cat"), ("两把椅子", "two chairs"), ("三个苹果", "three apples"),
          ("一辆汽车", "a car"), ("一张地图", "a map"), ("十二朵花", "twelve flowers"))


def toy_pairs(count, seed):
    """Distinct sentences of one pattern, all words in all places."""
    chance = random.Random(seed)
    every = [(f"{s}{t}{d}{o}。", f"{S} {D} {O} {T}.") for s, S in SUBJECTS for t, T in TIMES for d, D in DEEDS
             for o, O in THINGS]
    return chance.sample(every, count)


def write_tsv(path, pairs):
    path.write_text("".join(f"{zh}\t{en}\ttoy\n" for zh, en in pairs), encoding="utf-8")
    return path


# One thread for PyTorch's products of a few rows: more would only wait for one another, and spin while they do.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def command(name, *arguments):
    """Run a command of training/; its output."""
    return subprocess.run([sys.executable, str(TRAINING / name), *map(str, arguments)], check=True, env=ENVIRONMENT,
                          stdout=subprocess.PIPE, encoding="utf-8").stdout


SIZES = "--d 64 --heads 2 --ff 128 --encoder-layers 2 --decoder-layers 2".split()
SCHEDULE = ("--tokens 256 --step-tokens 512 --warmup 30 --save-minutes 100 --device cpu --threads 2 "
            "--adam-rate 2e-3 --muon-rate 0.02").split()


def train(data, run, *arguments):
    return command("train.py", data, run, *SIZES, *SCHEDULE, *arguments)


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """Directory with data/, the packed toy corpus, and dev.tsv, sentences that training does not see."""
    root = tmp_path_factory.mktemp("toy")
    corpus = root / "corpus"
    corpus.mkdir()
    pairs = toy_pairs(700, seed=1)
    write_tsv(corpus / "general-toy.tsv", pairs[40:])
    command("prepare.py", corpus, write_tsv(root / "dev.tsv", pairs[:40]), root / "data", "--source-pieces", 400,
            "--target-pieces", 400)
    return root
