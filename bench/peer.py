"""The peers, driven as their documentation recommends. One process is one measurement.

usage: peer.py ctranslate2|transformers MODEL_DIR BEAM INTER INTRA file|warm < sentences

file: translates all of standard input at once, prints the translations.
warm: translates line by line and measures each.
Prints a JSON object with the figures on standard error.
"""

import json
import sys
import time

BATCH = 64  # sentences


class CTranslate2:
    def __init__(self, directory, beam, inter, intra):
        import ctranslate2
        import sentencepiece

        self.beam = beam
        self.source = sentencepiece.SentencePieceProcessor(directory + "/source.spm")
        self.target = sentencepiece.SentencePieceProcessor(directory + "/target.spm")
        self.translator = ctranslate2.Translator(directory, device="cpu", compute_type="int8",
                                                 inter_threads=inter, intra_threads=intra)

    def __call__(self, lines):
        pieces = [p + ["</s>"] for p in self.source.encode(lines, out_type=str)]
        results = self.translator.translate_batch(pieces, beam_size=self.beam,
                                                  max_batch_size=BATCH)
        best = [r.hypotheses[0] for r in results]
        return self.target.decode_pieces(best), sum(len(h) + 1 for h in best)


class Transformers:
    def __init__(self, directory, beam, inter, intra):
        import torch
        from transformers import MarianMTModel, MarianTokenizer

        torch.set_num_threads(inter * intra)
        self.beam = beam
        self.torch = torch
        self.tokenizer = MarianTokenizer.from_pretrained(directory)
        self.model = MarianMTModel.from_pretrained(directory).eval()

    def __call__(self, lines):
        order = sorted(range(len(lines)), key=lambda i: len(lines[i]))
        texts, tokens = [""] * len(lines), 0
        for begin in range(0, len(order), BATCH):
            batch = order[begin:begin + BATCH]
            inputs = self.tokenizer([lines[i] for i in batch], return_tensors="pt", padding=True)
            with self.torch.inference_mode():
                ids = self.model.generate(**inputs, num_beams=self.beam)
            tokens += int((ids[:, 1:] != self.model.config.pad_token_id).sum())
            for i, text in zip(batch, self.tokenizer.batch_decode(ids, skip_special_tokens=True)):
                texts[i] = text
        return texts, tokens


def peak_memory():
    """In MB, of this process alone; ru_maxrss would begin with what its parent had."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))


def main():
    peer, directory, beam, inter, intra, mode = sys.argv[1:7]
    start = time.perf_counter()
    translate = {"ctranslate2": CTranslate2, "transformers": Transformers}[peer](
        directory, int(beam), int(inter), int(intra))
    figures = {"load": time.perf_counter() - start}
    lines = sys.stdin.read().splitlines()
    if mode == "file":
        start = time.perf_counter()
        texts, figures["tokens"] = translate(lines)
        figures["seconds"] = time.perf_counter() - start
        print("\n".join(texts))
    else:
        translate(lines[:1])
        figures["latencies"] = []
        for line in lines:
            start = time.perf_counter()
            translate([line])
            figures["latencies"].append(time.perf_counter() - start)
    figures["rss"] = peak_memory()
    print(json.dumps(figures), file=sys.stderr)


if __name__ == "__main__":
    main()
