#!/usr/bin/env python3
"""Writes the reference files in this folder with Hugging Face's programs. coterie/ner/encoder_test.cpp compares with them.

    python3 -m venv golden && golden/bin/pip install torch transformers tokenizers && golden/bin/python tests/ner/make_golden.py

pieces.json    texts and their pieces from the crate tokenizers, cased and uncased, with vocab.txt
bert, distilbert, mpnet    folders with tiny random encoders. states.npy: all hidden states (layers + 1, pieces, hidden) of one
               sentence without padding, in float64. sentence.json: its words, and the pieces of each word
"""
import json
import pathlib
import unicodedata

import numpy as np
import torch
import transformers
from tokenizers import BertWordPieceTokenizer

HERE = pathlib.Path(__file__).resolve().parent
NASTY = [
    "", " ", "plain words", "Unaffable PLAYERS", "caf\u00e9 CAF\u00c9 cafe\u0301", "na\u00efve co\u00f6perate \u00c5ngstr\u00f6m", "don't stop--now...",
    "a,b;c:d!e?f", "$100 5% #1 @home ^_^ `x` ~y~ <z> |", "U.S.A. 3.14 1,000", "\u4e2d\u6587 text\u4e2dtext", "\u65e5\u672c\u8a9e\u3072\u3089\u304c\u306a\u30ab\u30bf",
    "\ud55c\uad6d\uc5b4", "\u0130stanbul \u0131 \u0049", "stra\u00dfe STRASSE \u1e9e", "\u03a3\u03a3 \u03c3\u03c2", "\ufb01ne \ufb03", "\U0001d400\U0001d401 math", "emoji \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 end",
    "zero\u200bwidth joi\u200dner soft\u00adhyphen bom\ufeffmark", "tab\tnew\nline\rret", "nb\u00a0sp thin\u2009sp ideo\u3000sp", "nul\x01\x07ctl", "repl\ufffdaced",
    "\u201cquoted\u201d \u2018single\u2019 \u2026 \u2014 \u00ab\u00bb", "\u0645\u0631\u062d\u0628\u0627 \u0639\u0627\u0644\u0645", "\u0648\u064e\u0644\u064e\u062f", "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "z\u0334\u0301\u0353alg\u0489o", "\u1e69 \u0073\u0323\u0307", "x" * 100, "x" * 101, "\u00e9" * 101, "[CLS] [SEP] [MASK] [UNK]", "##ing ing", "\u2460 \u00bd \u00b2",
    "\u20ac \u00a3 \u00a5", "\u00bfqu\u00e9? \u00a1s\u00ed!", "a\u0000b", "\ue000private", "\u2028line\u2029para", "\u180emongol", "\u166d \u1735 \u104a",
    "\ud7ff", "\uf900\ufa1f", "\U00020000\U0002b820\U0002b920", "ⅣIV", "Å Å K K", "ǅ ǆ Ǆ", "ΐ ΰ", "\u2e52new", "\u1734\ua9bd",
]


def vocabulary():
    """Special pieces and some words, then the characters of most texts in each form. Padding is number 1, where MPNet expects it."""
    pieces = ["<s>", "[PAD]", "</s>", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##ing", "##able", "un", "##aff", "plain", "words", "play", "##ers", "cafe", "text", "stop"]
    for text in NASTY[: len(NASTY) - 6]:
        for form in (text, text.lower(), unicodedata.normalize("NFD", text.lower())):
            for character in form:
                if character.strip() and character.isprintable():
                    for piece in (character, "##" + character):
                        if piece not in pieces:
                            pieces.append(piece)
    return pieces


def write_pieces(pieces):
    (HERE / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces))
    out = []
    for lower in (True, False):
        program = BertWordPieceTokenizer(str(HERE / "vocab.txt"), lowercase=lower, strip_accents=lower)
        for text in NASTY:
            if any(special in text for special in ("[CLS]", "[SEP]")):
                continue  # the crate removes these from the text
            out.append({"lower_case": lower, "text": text, "pieces": program.encode(text, add_special_tokens=False).ids})
    (HERE / "pieces.json").write_text(json.dumps(out, indent=0) + "\n")


def write_encoder(name, model, pieces, words):
    folder = HERE / name
    torch.manual_seed(5)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    model = model.float().eval()
    model.save_pretrained(folder)
    for extra in folder.glob("generation_config.json"):
        extra.unlink()
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces))
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}) + "\n")
    program = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)
    cut = [program.encode(word, add_special_tokens=False).ids for word in words]
    ends = ("<s>", "</s>") if name == "mpnet" else ("[CLS]", "[SEP]")
    ids = [pieces.index(ends[0])] + [piece for word in cut for piece in word] + [pieces.index(ends[1])]
    with torch.no_grad():
        states = model.double()(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)), output_hidden_states=True).hidden_states
    np.save(folder / "states.npy", np.concatenate([state[0].numpy() for state in states]))
    (folder / "sentence.json").write_text(json.dumps({"words": words, "pieces": cut}) + "\n")


def main():
    pieces = vocabulary()
    write_pieces(pieces)
    few = pieces[:60]
    words = ["Unaffable", "players", "stop", "--", "caf\u00e9", "plain", "u", "playing", "text", ",", "words"] * 3
    size = len(few)
    write_encoder("bert", transformers.BertModel(transformers.BertConfig(
        vocab_size=size, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40, max_position_embeddings=80),
        add_pooling_layer=False), few, words)
    write_encoder("distilbert", transformers.DistilBertModel(transformers.DistilBertConfig(
        vocab_size=size, dim=24, n_layers=2, n_heads=2, hidden_dim=40, max_position_embeddings=80, activation="relu")), few, words)
    write_encoder("mpnet", transformers.MPNetModel(transformers.MPNetConfig(
        vocab_size=size, hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40, max_position_embeddings=82),
        add_pooling_layer=False), few, words)


main()
