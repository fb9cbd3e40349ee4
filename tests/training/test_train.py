"""Training: it learns, it can be killed at any time, it is reproducible."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from conftest import ENVIRONMENT, SCHEDULE, SIZES, TRAINING, train
from recipe import checkpoint

ENGINES = ("native", "torch")


def rows(run):
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("engine", ENGINES)
def test_learns(toy, tmp_path, engine):
    train(toy / "data", tmp_path, "--steps", 60, "--engine", engine)
    log = rows(tmp_path)
    losses = [r["nll"] for r in log if "nll" in r]
    assert losses[-1] < 0.6 * losses[0]
    assert log[-1]["dev"] < 4
    assert log[-1]["tokens"] > 60 * 512 and log[-1]["pairs"] > 60 * 512 / 40


def test_same_seed_same_parameters(toy, tmp_path):
    """To the last bit with one thread of each kind, in one go and in two."""
    once, twice = tmp_path / "once", tmp_path / "twice"
    arguments = ("--threads", 1, "--engine", "native", "--warmup", 6)
    train(toy / "data", once, "--steps", 12, *arguments)
    train(toy / "data", twice, "--steps", 12, *arguments)
    a, b = (checkpoint.load(run / "last.pt") for run in (once, twice))
    assert torch.equal(a["flat"], b["flat"]) and a["order"] == b["order"]


def test_goes_on_where_it_stopped(toy, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    arguments = ("--threads", 1, "--engine", "native", "--warmup", 1)
    train(toy / "data", whole, "--steps", 20, *arguments)
    train(toy / "data", parts, "--steps", 9, *arguments)
    train(toy / "data", parts, "--steps", 20, *arguments)
    a, b = (checkpoint.load(run / "last.pt") for run in (whole, parts))
    assert a["order"] == b["order"]
    assert {k: a["counts"][k] for k in ("step", "tokens", "pairs")} == \
           {k: b["counts"][k] for k in ("step", "tokens", "pairs")}
    assert float((a["flat"] - b["flat"]).abs().max()) < 1e-4


def test_survives_kill(toy, tmp_path):
    command = [sys.executable, str(TRAINING / "train.py"), str(toy / "data"), str(tmp_path), *SIZES, *SCHEDULE,
               "--save-minutes", "0.01"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    deadline = time.time() + 120
    while not (tmp_path / "last.pt").exists() and time.time() < deadline:
        time.sleep(0.2)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = checkpoint.load(tmp_path / "last.pt")["counts"]["step"]
    train(toy / "data", tmp_path, "--steps", before + 5)
    assert checkpoint.load(tmp_path / "last.pt")["counts"]["step"] == before + 5


def test_long_dev_sentences_are_measured(toy, tmp_path):
    """Longer ones than training takes."""
    data = shutil.copytree(toy / "data", tmp_path / "data")
    for side in ("src", "tgt"):
        np.save(data / f"dev.{side}.npy", np.full(300, 5, np.uint16))
        np.save(data / f"dev.{side}.index.npy", np.array([0, 300]))
    train(data, tmp_path / "run", "--steps", 2, "--engine", "native")
    assert rows(tmp_path / "run")[-1]["dev"] > 0


def test_auto_does_what_native_cannot(toy, tmp_path):
    train(toy / "data", tmp_path, "--steps", 2, "--heads", 4)
    assert checkpoint.load(tmp_path / "last.pt")["architecture"].heads == 4


def test_a_missing_checkpoint_is_an_error(toy, tmp_path):
    with pytest.raises(subprocess.CalledProcessError):
        train(toy / "data", tmp_path / "run", "--from", tmp_path / "missing.pt", "--steps", 1)
    assert not (tmp_path / "run" / "last.pt").exists()


def test_another_run_takes_over(toy, tmp_path):
    """--from: the decay of a run is trained in a copy."""
    train(toy / "data", tmp_path / "long", "--steps", 10)
    train(toy / "data", tmp_path / "decay", "--steps", 15, "--from", tmp_path / "long" / "last.pt")
    assert checkpoint.load(tmp_path / "long" / "last.pt")["counts"]["step"] == 10
    assert checkpoint.load(tmp_path / "decay" / "last.pt")["counts"]["step"] == 15


def test_data_without_a_short_enough_pair(toy, tmp_path):
    refused = subprocess.run([sys.executable, TRAINING / "train.py", toy / "data", tmp_path, "--longest", "2"],
                             env=ENVIRONMENT, stderr=subprocess.PIPE, encoding="utf-8")
    assert refused.returncode == 1 and "no training pair of at most 2 pieces" in refused.stderr


def test_the_log_is_json(toy, tmp_path):
    """With no end set there is no time left to tell."""
    train(toy / "data", tmp_path, "--steps", 20)
    def refuse(constant):
        raise ValueError(constant)
    log = [json.loads(line, parse_constant=refuse) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert any("tokens_per_s" in row and "left_min" not in row for row in log)
