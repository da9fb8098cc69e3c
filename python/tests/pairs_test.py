"""Pair constraints in Python: they hold, are checked, and give the result of the command."""

import numpy as np
import pytest

import coterie


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(120, 3))


@pytest.mark.parametrize("method", [coterie.KMeans, coterie.Subspace])
def test_pair_constraints_hold(points, method):
    must = np.array([[0, 1], [1, 2], [5, 90]])
    cannot = [(0, 3), (3, 4), (0, 4)]
    labels = method(3, must_links=must, cannot_links=cannot, random_state=2).fit_predict(points)
    assert labels[0] == labels[1] == labels[2] and labels[5] == labels[90]
    assert len({labels[0], labels[3], labels[4]}) == 3


def test_bad_pairs_are_named(points):
    with pytest.raises(ValueError, match="rows 3 and 1 must be apart, but must-links join them: rows 3, 2, 1"):
        coterie.KMeans(3, must_links=[(0, 1), (1, 2)], cannot_links=[(2, 0)]).fit(points)
    with pytest.raises(ValueError, match=r"must_links: .* is not accepted. Use row numbers of X in an array of shape \(n_pairs, 2\)"):
        coterie.KMeans(3, must_links=[0, 1]).fit(points)
    with pytest.raises(ValueError, match="^must_links: row 120 is not accepted. Use numbers from 0 to 119"):
        coterie.KMeans(3, must_links=[(0, 120)]).fit(points)
    with pytest.raises(ValueError, match="^cannot_links: row -1 is not accepted. Use numbers from 0 to 119"):
        coterie.KMeans(3, cannot_links=[(-1, 2)]).fit(points)
    with pytest.raises(ValueError, match=r"^cannot_links: rows 1 and 101 must be apart.*\(rows are counted from 1\)"):
        coterie.KMeans(3, must_links=[(0, 100)], cannot_links=[(0, 100)]).fit(points)
    with pytest.raises(ValueError, match="^must_links: pairs of rows cannot be combined with sizes"):
        coterie.KMeans(3, must_links=[(0, 100)], sizes=40).fit(points)
