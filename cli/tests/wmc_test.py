"""Weighted manifold clustering."""

import numpy as np

from support import document, linked_rings, run, texts


def test_wmc_separates_linked_rings(tmp_path):
    points, truth = linked_rings(tmp_path)
    assert document("fit", "kmeans", points, "--truth", truth, "-k", 2)["scores"]["acc"] < 0.95
    for new_points in ["shares", "embedding"]:
        model = tmp_path / "rings.coterie"
        found = document("fit", "wmc", points, "--truth", truth, "-k", 2, "--normalize", "none", "--new-points", new_points, "--model-out", model)
        assert found["scores"]["acc"] == 1
        details = found["details"]
        assert details["kkt_residual"] <= 1e-5 and details["components"] >= 1
        assert len(details["eigenvalues"]) == 2 and 0 <= details["screened"] <= 1
        assert document("predict", model, points, "--truth", truth)["scores"]["acc"] == 1
    for method in ["ssc", "ensc", "ssc-omp", "smce"]:
        assert document("fit", method, points, "-k", 2)["clusters_found"] == 2


def test_wmc_warns_of_disconnected_graph_and_rejects_bad_options(tmp_path):
    points, truth = linked_rings(tmp_path)
    np.save(tmp_path / "cloud.npy", np.random.default_rng(1).normal(size=(200, 5)))
    found = document("fit", "wmc", tmp_path / "cloud.npy", "-k", 2, "--lambda", 1.01)
    assert found["details"]["components"] > 2
    assert any("--lambda (1.01)" in warning for warning in texts(found["warnings"]))
    assert "NSK" in run("fit", "wmc", points, "--affinity", "KKS", code=2).err
    assert "--weighting" in run("fit", "wmc", points, "--weighting", "cubic", code=2).err
    assert "there is no option --weights" in run("fit", "wmc", points, "--weights", truth, code=2).err
    assert "121 clusters requested, but there are only 120 rows" in run("fit", "smce", points, "-k", 121, code=2).err
