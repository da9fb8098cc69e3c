"""The one table of names that Python spells differently from the library: those of scikit-learn, where it has one."""
import re

# The library's option, or field of a problem or a run, and the keyword in Python.
PARAMETERS = {
    "clusters": "n_clusters",
    "max_iterations": "max_iter",
    "tolerance": "tol",
    "restarts": "n_init",
    "seeding": "init",
    "initial_centroids": "init",
    "lambda": "lambda_value",  # a word of Python's own; and names that end in _ are those of what was fitted
    "neighbors": "n_neighbors",
    "components": "n_components",
    "seed": "random_state",
    "threads": "n_jobs",
    "weights": "sample_weight",
    "partial_labels": "y",
    "graph": "X",
    "max_epochs": "max_iter",  # of minibatch-kmeans: passes over all rows
    "patience": "max_no_improvement",
    "reassignment_share": "reassignment_ratio",
}

# Words of scikit-learn's for choices that the library calls otherwise.
CHOICES = {"k-means++": "kmeans++", "k-means||": "kmeans-parallel", "nearest_neighbors": "neighbors"}

# Parts of a fitted model that do not go by their own name and an underscore.
PARTS = {"centroids": "cluster_centers_"}

# What scikit-learn calls the objective of a method.
OBJECTIVES = {"kmeans": "inertia_", "minibatch-kmeans": "inertia_"}

# Classes whose name is not the method's in CamelCase.
CLASSES = {
    "kmeans": "KMeans",
    "minibatch-kmeans": "MiniBatchKMeans",
    "soft-kmeans": "SoftKMeans",
    "spherical-kmeans": "SphericalKMeans",
    "kernel-kmeans": "KernelKMeans",
    "ae-kmeans": "AeKMeans",
    "hdbscan": "HDBSCAN",
}

_MARK = re.compile(r"`([a-z][a-z0-9_]*)(?:=([^`]*))?`")

# What the library and its command say otherwise than Python.
_SAID = [(re.compile(pattern), python) for pattern, python in (
    (r"\bauto, or\b", "None, or"),
    (r"^option (?=\w+:)", "parameter "),
    (r"^(parameter n_clusters): auto is not accepted", r"\1: None is not accepted"),  # the word "auto" itself stands between quotes
    (r"\b((?:whole )?numbers) with commas between them", r"a list of \1"),
    (r"^points: ", "X: "),
    (r"^(?:predict|distances|embedding|memberships|label_scores|outlier_score|tune): (?=row \d)", "X: "),
    (r"^points (?=must be finite, column)", "X: points "),
    (r"^weights: ", "sample_weight: "),
    (r"^initial centroids: ", "init: "),
    (r"^(init: .*); a fit takes missing=.*$", r"\1"),
    (r"^((?:X|sample_weight|init): row \d+(?:, column [^:]+)?)(?=:)", r"\1 (counted from 1)"),  # NumPy counts from 0
    (r"^pairs of rows: ", "must_links and cannot_links: rows are counted from 1: "),
    (r"^pairs of rows ", "must_links and cannot_links "),
    (r"exclude=(.*) leaves it out, id_column=\1 carries it to the labels", "leave it out of X"),
    (r"; exclude leaves (?:columns|it) out$", "; leave it out of X"),
)]


def parameter(option):
    return PARAMETERS.get(option, option)


def attribute(part):
    return PARTS.get(part, part.replace(".", "_") + "_")


def class_of(method):
    return CLASSES.get(method, "".join(word.capitalize() for word in method.split("-")))


def in_python(text):
    """A text of the library, where names of options stand between backquotes, in Python's words."""

    def spelled(match):
        name, value = parameter(match[1]), match[2]
        if value is None:
            return name
        number = re.fullmatch(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", value)
        return f"{name}={value if number or value in ('true', 'false') else repr(value)}"

    text = _MARK.sub(spelled, text)
    for pattern, python in _SAID:
        text = pattern.sub(python, text)
    return text
