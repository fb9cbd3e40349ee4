"""Model directories: there and back, int8, old weight files, the whole way from data to program."""
import json
import os
import shutil
import subprocess

import pytest
from safetensors.torch import load_file, save_file
import torch

from conftest import command, train
from recipe import checkpoint, engines, marian, network, parameters as P, program
from recipe.data import Pairs, in_order


@pytest.fixture(scope="session")
def model(toy):
    """A directory with a model that has learnt the toy language."""
    train(toy / "data", toy / "run", "--steps", 250)
    command("export.py", toy / "data", toy / "run", toy / "model", "--plain")
    return toy / "model"


def test_reads_what_it_writes(toy, model):
    a, flat = marian.read_model(model)
    state = checkpoint.load(toy / "run" / "last.pt")
    assert a == state["architecture"] and torch.equal(flat, state["flat"])


def quantised(model, out):
    """The int8 form, made here: a scale for each row of each matrix."""
    shutil.copytree(model, out)
    tensors = {}
    for name, t in load_file(model / "model.safetensors").items():
        if t.dim() == 2 and t.shape[0] > 1:
            scale = t.abs().amax(1).clamp_min(1e-8) / 127
            tensors[name + ".scale"] = scale
            t = (t / scale[:, None]).round().to(torch.int8)
        tensors[name] = t
    save_file(tensors, out / "model.safetensors")
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**config, "quantization_config": {"bits": 8}}))
    return out


def test_training_begins_from_int8(toy, model, tmp_path):
    a, flat = marian.read_model(model)
    _, rounded = marian.read_model(quantised(model, tmp_path / "int8"))
    assert 0 < float((flat - rounded).norm() / flat.norm()) < 0.02
    train(toy / "data", tmp_path / "run", "--init", tmp_path / "int8", "--steps", 2)
    assert checkpoint.load(tmp_path / "run" / "last.pt")["architecture"] == a


def test_old_weight_files(model, tmp_path):
    shutil.copytree(model, tmp_path / "old")
    tensors = load_file(model / "model.safetensors")
    shared = tensors["model.shared.weight"]
    tied = {"lm_head.weight": shared, "model.encoder.embed_tokens.weight": shared}
    positions = {"model.encoder.embed_positions.weight": P.sinusoids(512, 64)}
    torch.save({**tensors, **tied, **positions}, tmp_path / "old" / "pytorch_model.bin")
    (tmp_path / "old" / "model.safetensors").unlink()
    command("convert_bin.py", tmp_path / "old")
    converted = load_file(tmp_path / "old" / "model.safetensors")
    assert converted.keys() == tensors.keys()
    assert all(torch.equal(converted[k], tensors[k]) for k in tensors)


def test_old_weight_files_run_no_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)
    torch.save({"model.shared.weight": Trap()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(subprocess.CalledProcessError):
        command("convert_bin.py", tmp_path)
    assert not (tmp_path / "sprung").exists()


@pytest.fixture(scope="session")
def by_transformers(toy, model):
    """The dev sentences and their greedy translations by transformers."""
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.MarianTokenizer.from_pretrained(model)
    network = transformers.MarianMTModel.from_pretrained(model).eval()
    sources = [line.split("\t")[0] for line in (toy / "dev.tsv").read_text(encoding="utf-8").splitlines()]
    ids = [network.generate(**tokenizer([s], return_tensors="pt"), num_beams=1, max_length=100)[0] for s in sources]
    return sources, ids, [tokenizer.decode(i, skip_special_tokens=True) for i in ids]


def greedy(a, w, source, longest=100):
    """Token ids of the recipe's own network, <pad> first and </s> last, as transformers gives them."""
    memory, out = network.encode(a, w, torch.tensor([source])), [a.pad]
    while out[-1] != P.END and len(out) < longest:
        x, _ = network.decode(a, w, torch.tensor([out]), memory)
        out.append(int(network.logits(a, w, x[:, -1]).argmax()))
    return out


def test_transformers_makes_the_same_tokens(toy, model, by_transformers):
    a, flat = marian.read_model(model)
    pairs = Pairs(toy / "data", "dev", a.pad)
    for row, ids in enumerate(by_transformers[1]):
        source = pairs.source[pairs.source_index[row]:pairs.source_index[row + 1]].tolist()
        assert greedy(a, P.views(a, flat), [*source, P.END]) == ids.tolist()


def test_it_translates(toy, by_transformers):
    references = [line.split("\t")[1] for line in (toy / "dev.tsv").read_text(encoding="utf-8").splitlines()]
    right = sum(h == r for h, r in zip(by_transformers[2], references))
    assert right > 0.5 * len(references)


needs_zhen = pytest.mark.skipif(not shutil.which(program.find()), reason="no zhen: set ZHEN, or build it")


@needs_zhen
def test_zhen_says_the_same(model, by_transformers):
    sources, _, expected = by_transformers
    assert program.translate(program.find(), model, sources, 1)[0] == expected


@needs_zhen
def test_zhen_quantises_and_evaluates(toy, model, tmp_path):
    command("quantise.py", model, tmp_path / "int8")
    command("evaluate.py", tmp_path / "report", "--model", model, tmp_path / "int8", "--set", toy / "dev.tsv")
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert {(r["form"], r["beam"]) for r in report} == {("fp32", 1), ("fp32", 4), ("int8", 1), ("int8", 4)}
    assert all(r["bleu"] > 30 and r["empty"] == 0 for r in report)
    a, flat = marian.read_model(model)
    _, rounded = marian.read_model(tmp_path / "int8")
    dev = in_order(Pairs(toy / "data", "dev", a.pad), 256)
    losses = [engines.TorchEngine(a, f, 0, 0).measure(dev, f).per_token()["nll"] for f in (flat, rounded)]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
