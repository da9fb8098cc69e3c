"""What scikit-learn and SciPy say about the cases that metrics_peers_test.cpp wrote.

usage: metrics_peers.py CASES ANSWERS      both are text files, one case a line, in the same order

Cases:   labels n a_1 .. a_n b_1 .. b_n | silhouette n d x_11 .. x_nd a_1 .. a_n | partition (the same) | assignment r c cost_11 .. cost_rc
         | paired n a_1 .. a_n b_1 .. b_n
Answers: numbers with all their digits, separated by blanks.
"""

import sys

import numpy
import scipy.optimize
import scipy.stats
from sklearn import metrics, mixture


def of_labels(words):
    n = int(words[0])
    labels = [int(w) for w in words[1 : 1 + n]]
    truth = [int(w) for w in words[1 + n :]]
    averages = ("arithmetic", "geometric", "min", "max")
    return [
        metrics.homogeneity_score(truth, labels),
        metrics.completeness_score(truth, labels),
        metrics.adjusted_rand_score(truth, labels),
        *(metrics.normalized_mutual_info_score(truth, labels, average_method=a) for a in averages),
    ]


def of_silhouette(words):
    n, d = int(words[0]), int(words[1])
    points = numpy.array([float(w) for w in words[2 : 2 + n * d]]).reshape(n, d)
    return [metrics.silhouette_score(points, [int(w) for w in words[2 + n * d :]])]


def of_partition(words):
    """Calinski-Harabasz, Davies-Bouldin, and the BIC of scikit-learn's Gaussian mixture with the parameters that the partition estimates."""
    n, d = int(words[0]), int(words[1])
    points = numpy.array([float(w) for w in words[2 : 2 + n * d]]).reshape(n, d)
    labels = numpy.array([int(w) for w in words[2 + n * d :]])
    clusters, of = numpy.unique(labels, return_inverse=True)
    means = numpy.array([points[of == c].mean(axis=0) for c in range(len(clusters))])
    variance = ((points - means[of]) ** 2).sum() / (n * d)
    model = mixture.GaussianMixture(len(clusters), covariance_type="spherical")
    model.weights_, model.means_ = numpy.bincount(of) / n, means
    model.covariances_ = numpy.full(len(clusters), variance)
    model.precisions_cholesky_ = 1 / numpy.sqrt(model.covariances_)
    # Its model has a variance for each cluster: k parameters where one variance for all is one.
    bic = model.bic(points) - (len(clusters) - 1) * numpy.log(n)
    return [metrics.calinski_harabasz_score(points, labels), metrics.davies_bouldin_score(points, labels), bic]


def of_assignment(words):
    cost = numpy.array([float(w) for w in words[2:]]).reshape(int(words[0]), int(words[1]))
    return [cost[scipy.optimize.linear_sum_assignment(cost)].sum()]


def of_paired(words):
    n = int(words[0])
    test = scipy.stats.ttest_rel([float(w) for w in words[1 : 1 + n]], [float(w) for w in words[1 + n :]])
    return [test.statistic, test.pvalue]


def main():
    answer = {"labels": of_labels, "silhouette": of_silhouette, "partition": of_partition, "assignment": of_assignment, "paired": of_paired}
    with open(sys.argv[1], encoding="ascii") as cases, open(sys.argv[2], "w", encoding="ascii") as answers:
        for line in cases:
            kind, *words = line.split()
            print(*(repr(float(value)) for value in answer[kind](words)), file=answers)


if __name__ == "__main__":
    main()
