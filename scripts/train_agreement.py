"""Train the models that find replies which take up a proposal, write their weights (`write.anchors.agreement`).

    python scripts/train_agreement.py --data tests/cases [--language zh …] [--errors] [--no-write]

Reads ``agreements_zh.tsv`` (Y or N, a proposal of the assistant, the user's reply) and ``replies_en.tsv`` (the same
with the problem before the proposal). All figures are five-fold by proposal, so that no reply is judged by a model
that has seen another to the same proposal.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gate_data import FOLDS
from learning import Grams, calibrated, sigmoid
from news_data import Embedded
from news_heads import Trained
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.anchors.agreement import make_agreement, reply_cues
from ltm_core.write.anchors.reply_en import reply_of
from ltm_core.write.anchors.worked import says
from ltm_core.write.known.news import Sentence, features
from ltm_core.write.learned.gate import BUCKETS
from ltm_core.write.read.clauses import split
from ltm_core.write.read.scopes import read
from ltm_core.write.read.units import mean_vector

FILES = {"en": "replies_en.tsv", "zh": "agreements_zh.tsv"}
WEIGHTS = Path("core/ltm_core/lexicon/write")
THRESHOLDS = {"en": {"mean": 0.6, "plain": 0.6}, "zh": {"mean": 0.6, "plain": 0.7}}
"""Probabilities from which a reply takes up the proposal: about nine in ten of those found are then right in the
figures below, and the vetoes of the rules (a question, "still not") come on top."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with its label; the problem is "" where the file tells none."""

    problem: str
    proposal: str
    text: str
    agrees: bool


def load(path: Path) -> list[Reply]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        label, *asked, proposal, reply = line.split("\t")
        if split(reply, default_lexicon()):
            found.append(Reply(asked[0] if asked else "", proposal, reply, label == "Y"))
    return found


def sentences(replies: Sequence[Reply], language: str, embed: Embedded) -> list[Sentence]:
    """What the model sees of the replies."""
    lexicon = default_lexicon()
    reads = [read(split(r.text, lexicon), lexicon) for r in replies]
    embed([c.clause.text for clauses in reads for c in clauses])
    seen = []
    for r, clauses in zip(replies, reads, strict=True):
        vectors = list(embed([c.clause.text for c in clauses]))
        if language == "en":
            seen.append(reply_of(r.text, clauses, vectors, lexicon, problem=r.problem, proposal=r.proposal))
            continue
        cues = reply_cues(
            [c.flags for c in clauses], r.text, r.proposal, lexicon.gate.function, says(clauses, r.proposal, lexicon)
        )
        norm = " ".join(c.clause.norm.strip() for c in clauses)
        seen.append(Sentence(text=r.text, norm=norm, language=language, cues=cues, vector=mean_vector(vectors)))
    return seen


def figures(title: str, p: NDArray[Any], y: NDArray[Any], threshold: float) -> None:
    hit = int(((p >= threshold) & (y > 0)).sum())
    precision, recall = hit / max(1, int((p >= threshold).sum())), hit / max(1, int(y.sum()))
    print(f"{title:<9} at {threshold}: P {precision:.3f} R {recall:.3f} of {int(y.sum())}/{len(y)}")


def train(language: str, replies: Sequence[Reply], *, errors: bool) -> dict[str, Any]:
    """The weights for a language, with their figures printed."""
    function = default_lexicon().gate.function
    seen = sentences(replies, language, Embedded())
    grams = Grams.of([features(s, function) for s in seen], BUCKETS)
    cues = np.stack([s.cues for s in seen])
    vectors = np.stack([s.vector for s in seen if s.vector is not None])
    y = np.array([float(r.agrees) for r in replies])
    folds = np.array([zlib.crc32((r.problem or r.proposal).encode()) % FOLDS for r in replies])
    za, zb = np.zeros(len(y)), np.zeros(len(y))
    for k in np.unique(folds):
        inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
        t = Trained.of(y[inside], grams.take(inside), cues[inside], vectors[inside], nets=0)
        za[outside], zb[outside] = t.logits(grams.take(outside), cues[outside], vectors[outside])
    calibration = {"mean": calibrated((za + zb) / 2, y), "grams": calibrated(za, y)}
    for name, z in (("mean", (za + zb) / 2), ("grams", za)):
        p = sigmoid(calibration[name][0] * z + calibration[name][1])
        for threshold in (0.4, 0.5, 0.6, 0.7, 0.8):
            figures(f"{language} {name}", p, y, threshold)
        for r, one in sorted(zip(replies, p, strict=True), key=lambda x: x[1]) if errors and name == "mean" else ():
            if (one >= THRESHOLDS[language]["mean"]) != r.agrees:
                print(f"   {'missed' if r.agrees else 'wrong'} {one:.2f} {r.proposal[:24]} | {r.text}")
    digest = hashlib.sha256("".join(r.text for r in replies).encode()).hexdigest()[:12]
    return {
        "version": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(replies)} replies/{digest}",
        "languages": [language],
        "head": Trained.of(y, grams, cues, vectors, nets=0).data(vectors.shape[1], calibration),
        "thresholds": THRESHOLDS[language],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--language", nargs="*", choices=sorted(FILES), default=sorted(FILES))
    parser.add_argument("--errors", action="store_true", help="print what cross-validation gets wrong")
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args()
    for language in args.language:
        data = train(language, load(args.data / FILES[language]), errors=args.errors)
        make_agreement(data, default_lexicon().gate.function)
        if not args.no_write:
            out = WEIGHTS / f"agreement_{language}.json"
            out.write_text(json.dumps(data) + "\n", encoding="utf-8")
            print("wrote", out, out.stat().st_size, "bytes,", data["version"])


if __name__ == "__main__":
    main()
