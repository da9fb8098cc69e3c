"""The one table of names that Python spells differently from the library: those of scikit-learn, where it has one."""
from . import _core

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
    "points": "X",
    "pairs": "must_links and cannot_links",
    "vectors": "vectors",
    "max_epochs": "max_iter",  # of minibatch-kmeans: passes over all rows
    "patience": "max_no_improvement",
    "reassignment_share": "reassignment_ratio",
}

# Words of scikit-learn's for choices that the library calls otherwise.
CHOICES = {"k-means++": "kmeans++", "k-means||": "kmeans-parallel", "nearest_neighbors": "neighbors"}

# Parts of a fitted model that do not go by their own name and an underscore.
PARTS = {"centroids": "cluster_centers_"}

# What Python's users do where the command has options for reading a file: pandas and NumPy read what is guessed wrongly.
REMEDIES = {
    "header=yes": "pandas.read_csv(path, header=0)",
    "header=no": "pandas.read_csv(path, header=None)",
    "decimal=comma": "pandas.read_csv(path, decimal=',')",
    "decimal=point": "pandas.read_csv(path)",
    "separator": "pandas.read_csv(path, sep=...)",
    "columns=numeric": "X.select_dtypes('number')",
    "exclude": "X.drop(columns=...)",
    "id_column": "X.set_index(...)",
    "label_column": "y",
}

_core.spell(PARAMETERS, REMEDIES)

METHODS = {method["name"]: method for method in _core.methods()}  # what the library says of them


def parameter(option):
    return PARAMETERS.get(option, option)


def attribute(part):
    return PARTS.get(part, part.replace(".", "_") + "_")


def class_of(method):
    return METHODS[method]["class"] or "".join(word.capitalize() for word in method.split("-"))


def in_python(text):
    """A text of the library, where names of options stand between backquotes, in Python's words."""
    return _core.in_python(text)
