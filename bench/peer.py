"""The peers, driven as their documentation recommends.

usage: peer.py ctranslate2|transformers MODEL_DIR BEAM INTER INTRA BATCH file|tune|serve < sentences

BATCH: sentences in a batch, or tokens if it ends in t: 64, 2048t.
file: translates all of standard input at once, prints the translations.
tune: translates it once for each batch size of TUNED.
serve: translates line by line, as they come.
Prints a JSON object with the figures on standard error.
"""

import json
import sys
import time

TUNED = ["16", "32", "64", "1024t", "2048t"]


class CTranslate2:
    def __init__(self, directory, beam, inter, intra):
        import ctranslate2
        import sentencepiece

        self.beam = beam
        self.source = sentencepiece.SentencePieceProcessor(directory + "/source.spm")
        self.target = sentencepiece.SentencePieceProcessor(directory + "/target.spm")
        self.translator = ctranslate2.Translator(directory, device="cpu", compute_type="int8",
                                                 inter_threads=inter, intra_threads=intra)

    def __call__(self, lines, batch):
        pieces = [p + ["</s>"] for p in self.source.encode(lines, out_type=str)]
        # It sorts the sentences by length itself and shares the batches out among its workers.
        results = self.translator.translate_batch(
            pieces, beam_size=self.beam, max_batch_size=int(batch.rstrip("t")),
            batch_type="tokens" if batch.endswith("t") else "examples")
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

    def __call__(self, lines, batch):
        order = sorted(range(len(lines)), key=lambda i: len(lines[i]))
        texts, tokens = [""] * len(lines), 0
        for begin in range(0, len(order), int(batch)):
            chosen = order[begin:begin + int(batch)]
            inputs = self.tokenizer([lines[i] for i in chosen], return_tensors="pt", padding=True)
            with self.torch.inference_mode():
                ids = self.model.generate(**inputs, num_beams=self.beam)
            tokens += int((ids[:, 1:] != self.model.config.pad_token_id).sum())
            for i, text in zip(chosen, self.tokenizer.batch_decode(ids, skip_special_tokens=True)):
                texts[i] = text
        return texts, tokens


def peak_memory():
    """In MB, of this process alone; ru_maxrss would begin with what its parent had."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))


def read_lines():
    return [line.rstrip("\n") for line in sys.stdin]  # splitlines() ends them at U+2028 and others, too


def timed(translate, lines, batch):
    start = time.perf_counter()
    texts, tokens = translate(lines, batch)
    return texts, tokens, time.perf_counter() - start


def main():
    peer, directory, beam, inter, intra, batch, mode = sys.argv[1:8]
    translate = {"ctranslate2": CTranslate2, "transformers": Transformers}[peer](
        directory, int(beam), int(inter), int(intra))
    figures = {}
    if mode == "serve":
        for line in sys.stdin:
            print(translate([line.rstrip("\n")], batch)[0][0], flush=True)
    elif mode == "tune":
        lines = read_lines()
        translate(lines[:16], batch)  # warm, as in the middle of a file
        figures["seconds"] = {size: timed(translate, lines, size)[2] for size in TUNED}
    else:
        texts, figures["tokens"], figures["seconds"] = timed(
            translate, read_lines(), batch)
        print("\n".join(texts))
    figures["rss"] = peak_memory()
    print(json.dumps(figures), file=sys.stderr)


if __name__ == "__main__":
    main()
