"""Fits on the rows of a Ray cluster's nodes: the bits of one process."""
import os
import threading
import time

import numpy as np
import pytest

import coterie

ray = pytest.importorskip("ray")

import coterie.ray  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: E402


@pytest.fixture(scope="module")
def nodes():
    """Three nodes on this machine."""
    more = dict(num_cpus=1, object_store_memory=80_000_000, include_dashboard=False)
    cluster = Cluster(initialize_head=True, head_node_args=more)
    cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
    cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
    ray.init(address=cluster.address, log_to_driver=False)
    yield [node["NodeID"] for node in ray.nodes()]
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    return (random.normal(size=(30000, 6)) + 3 * random.normal(size=(5, 6))[random.integers(5, size=30000)]).astype(np.float32)


def placed(parts, nodes):
    """References to the parts, each stored on its node."""

    def same(part):
        return part + 0

    return [
        ray.remote(same).options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(part)
        for part, node in zip(parts, nodes)
    ]


def test_three_nodes_are_bit_identical_to_one_process(nodes, rows):
    model = coterie.KMeans(5, n_jobs=1)
    alone = coterie.KMeans(5, n_jobs=1).fit(rows)
    ends = [9000, 16000, 23000, 30000]
    blocks = placed(np.split(rows, ends[:-1]), [nodes[1], nodes[0], nodes[2], nodes[1]])
    ray.wait(blocks, num_returns=4, fetch_local=False)
    held = [each["node_ids"] for each in ray.experimental.get_object_locations(blocks).values()]
    assert held == [[nodes[1]], [nodes[0]], [nodes[2]], [nodes[1]]]
    found = coterie.ray.fit(model, blocks)
    assert [len(part) for part in ray.get(found.labels_)] == [9000, 7000, 7000, 7000]
    assert np.array_equal(np.concatenate(ray.get(found.labels_)), alone.labels_)
    assert np.array_equal(found.cluster_centers_, alone.cluster_centers_) and found.objective_ == alone.objective_
    assert not hasattr(model, "labels_")
    assert np.array_equal(found.predict(rows), alone.predict(rows))


def test_fit_with_weights_labels_and_small_blocks(nodes, rows):
    weights = np.random.default_rng(1).random(9000)
    y = np.where(np.arange(9000) % 50 == 0, np.arange(9000) % 5, -1)
    alone = coterie.KMeans(5, scale="zscore", n_jobs=1).fit(rows[:9000], y, weights)
    blocks = [*placed([rows[:7000]], [nodes[2]]), *(ray.put(part) for part in np.array_split(rows[7000:9000], 4))]
    found = coterie.ray.fit(coterie.KMeans(5, scale="zscore", n_jobs=1), blocks, y, weights)
    assert np.array_equal(np.concatenate(ray.get(found.labels_)), alone.labels_) and found.objective_ == alone.objective_


def test_fit_of_a_ray_dataset(nodes, rows):
    import pandas
    import ray.data

    table = pandas.DataFrame(rows[:6000], columns=list("abcdef"))
    found = coterie.ray.fit(coterie.KMeans(5, n_jobs=1), ray.data.from_pandas([table[:2500], table[2500:]]))
    assert np.array_equal(np.concatenate(ray.get(found.labels_)), coterie.KMeans(5, n_jobs=1).fit(rows[:6000]).labels_)


def test_errors_are_raised_in_the_driver(nodes, rows):
    blocks = placed(np.split(rows, 3), nodes)
    with pytest.raises(coterie.BadArgument, match="n_clusters"):
        coterie.ray.fit(coterie.KMeans(0), blocks)
    with pytest.raises(TypeError, match="Ward does not work in several processes"):
        coterie.ray.fit(coterie.Ward(3), blocks)
    with pytest.raises(TypeError, match="X: ndarray is not accepted. Use a list of references"):
        coterie.ray.fit(coterie.KMeans(3), rows)
    with pytest.raises(ValueError, match=r"sample_weight: an array of shape \(5,\) for 30000 rows"):
        coterie.ray.fit(coterie.KMeans(3), blocks, sample_weight=np.ones(5))
    with pytest.raises(ValueError, match="a block has 1 dimensions"):
        coterie.ray.fit(coterie.KMeans(3), [ray.put(rows[0])])
    assert len(ray.get(coterie.ray.fit(coterie.KMeans(3), blocks).labels_)) == 3


def test_feature_names_are_kept(nodes, rows):
    import pandas
    import ray.data

    table = pandas.DataFrame(rows[:6000], columns=list("abcdef"))
    alone = coterie.KMeans(5, n_jobs=1).fit(table)
    for given in (ray.data.from_pandas([table[:2500], table[2500:]]), placed([table[:2500], table[2500:]], nodes)):
        found = coterie.ray.fit(coterie.KMeans(5, n_jobs=1), given)
        assert found.feature_names_in_.tolist() == list("abcdef")
        assert np.array_equal(found.predict(table[list("fbdace")]), alone.labels_)
    with pytest.raises(ValueError, match=r"block 1 has the columns \['f', .*, block 0 has \['a', .*. All blocks need the same columns, in the same order"):
        coterie.ray.fit(coterie.KMeans(5), placed([table[:2500], table[list("fbdace")][2500:]], nodes))


def shares():
    """The processes that work on a fit."""
    out = []
    for process in os.listdir("/proc"):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as line:
                if line.read().startswith(b"ray::_Process"):
                    out.append(int(process))
        except OSError:
            pass
    return out


def test_killed_process_ends_the_fit(nodes, rows):
    blocks = placed(np.split(rows, 3), nodes)
    ended = []

    def end_one():
        while len(shares()) < 3:
            time.sleep(0.05)
        time.sleep(3)
        ended.append(time.monotonic())
        os.kill(shares()[1], 9)

    killer = threading.Thread(target=end_one)
    killer.start()
    with pytest.raises(ConnectionError, match="ended during the fit"):
        coterie.ray.fit(coterie.KMeans(200, max_iter=10**6, tol=0, n_jobs=1, n_init=1000), blocks)
    assert time.monotonic() - ended[0] < 10
    killer.join()
    while shares() and time.monotonic() - ended[0] < 10:
        time.sleep(0.05)
    assert not shares()
    assert len(ray.get(coterie.ray.fit(coterie.KMeans(3), blocks).labels_)) == 3
