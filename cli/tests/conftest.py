"""Input files that several tests read and none writes."""

import gzip

import numpy as np
import pytest

from support import blobs, other_version, run, write_csv, write_labels


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder of valid and invalid inputs. Tests never write to it."""
    folder = tmp_path_factory.mktemp("files")
    points, truth = blobs()
    np.save(folder / "points.npy", points)
    np.save(folder / "points32.npy", points.astype(np.float32))
    np.save(folder / "truth.npy", truth.astype(np.int32))
    np.save(folder / "weights.npy", np.ones(len(points)))
    np.savez(folder / "two.npz", a=points, b=points * 2)
    write_csv(folder / "points.csv", points, ["x", "y", "z"])
    write_csv(folder / "points-bare.csv", points)
    names = ["ash", "birch", "cedar"]
    write_csv(folder / "labelled.csv", [list(row) + [names[t]] for row, t in zip(points, truth)], ["x", "y", "z", "tree"])
    write_csv(folder / "truth.csv", [[names[t]] for t in truth], ["label"])
    (folder / "points.csv.gz").write_bytes(gzip.compress((folder / "points.csv").read_bytes()))
    write_csv(folder / "centroids.csv", points[:3])
    # Ten points of each label are known, in the order ash, birch, cedar.
    known = [names[t] if i < 30 else "" for i, t in enumerate(truth)]
    write_labels(folder / "partial.csv", known)
    write_csv(folder / "pairs.csv", [[1, 2, "must"], [1, 101, "must"], [1, 201, "cannot"]], ["row", "other", "link"])
    write_csv(folder / "pairs-far.csv", [[1, 2, "must"], [1, 301, "cannot"]], ["row", "other", "link"])
    write_csv(folder / "pairs-word.csv", [[1, 2, "must"], [1, 3, "maybe"]], ["row", "other", "link"])
    write_csv(folder / "pairs-conflict.csv", [[1, 2, "must"], [2, 3, "must"], [3, 1, "cannot"]], ["row", "other", "link"])
    write_csv(folder / "partial-of-two.csv", [[i, f'"{label}"'] for i, label in enumerate(known)], ["row", "tree"])
    np.save(folder / "partial.npy", np.where(np.arange(len(truth)) < 30, truth, -1))
    run("fit", "kmeans", folder / "points.npy", "-k", 3, "--model-out", folder / "model.safetensors", "--quiet")

    # Invalid inputs.
    whole = (folder / "points.npy").read_bytes()
    (folder / "truncated.npy").write_bytes(whole[: len(whole) // 2])
    (folder / "lying.npy").write_bytes(whole.replace(b"(300, 3)", b"(900, 3)"))
    (folder / "huge.npy").write_bytes(whole.replace(b"(300, 3), }    ", b"(9300000000, 3), }")[: len(whole)])
    (folder / "noise.npy").write_bytes(b"this is not an array" * 8)
    (folder / "ragged.csv").write_text("1,2,3\n4,5,6\n7,8\n9,1,2\n")
    (folder / "word.csv").write_text("1,2\n3,oak\n5,6\n")
    (folder / "blank-field.csv").write_text("1,2\n3,\n5,6\n")
    (folder / "empty.csv").write_text("")
    (folder / "header-only.csv").write_text("x,y,z\n")
    (folder / "nan.csv").write_text("1,2\n3,nan\n5,6\n")
    (folder / "inf.csv").write_text("1,2\n3,4\ninf,6\n")
    (folder / "big.csv").write_text("1e30,2\n3,4\n5,1e30\n")
    (folder / "same.csv").write_text("1,2\n" * 20)
    bad = points.copy()
    bad[7, 1] = np.nan
    np.save(folder / "nan.npy", bad)
    np.save(folder / "number.npy", np.zeros(()))
    np.save(folder / "complex.npy", points.astype(complex))
    (folder / "truncated.csv.gz").write_bytes((folder / "points.csv.gz").read_bytes()[:200])
    (folder / "points.parquet").write_bytes(b"PAR1")
    (folder / "not.h5").write_bytes(b"nothing hierarchical")
    (folder / "not.mat").write_bytes(b"no matrix here" * 20)
    (folder / "not.npz").write_bytes(b"PK no zip")
    (folder / "two-columns.csv").write_text("1,2\n3,4\n5,6\n")
    (folder / "weights-short.csv").write_text("1\n2\n3\n")
    (folder / "weights-negative.csv").write_text("1\n" * 298 + "-1\n1\n")
    (folder / "weights-nan.csv").write_text("1\n" * 299 + "nan\n")
    (folder / "weights-zero.csv").write_text("0\n" * 300)
    (folder / "centroids-narrow.csv").write_text("1,2\n3,4\n5,6\n")
    (folder / "centroids-few.csv").write_text("1,2,3\n4,5,6\n")
    write_labels(folder / "partial-blank.csv", [""] * 300)
    write_labels(folder / "partial-short.csv", ["ash", "", "birch"])
    (folder / "truth-short.csv").write_text("label\n0\n1\n2\n")
    (folder / "truth-blank.csv").write_text("label\n" + '""\n' * 300)
    model = (folder / "model.safetensors").read_bytes()
    flipped = bytearray(model)
    flipped[-5] ^= 0xFF
    (folder / "flipped.safetensors").write_bytes(flipped)
    flipped = bytearray(model)
    flipped[20] ^= 0xFF
    (folder / "flipped-header.safetensors").write_bytes(flipped)
    (folder / "short.safetensors").write_bytes(model[:-9])
    (folder / "tiny.safetensors").write_bytes(model[:5])
    (folder / "text.safetensors").write_text("not a model, just some text that is long enough\n")
    (folder / "version.safetensors").write_bytes(other_version(model))
    (folder / "method.safetensors").write_bytes(model.replace(b"kmeans", b"kmoans"))
    return folder
