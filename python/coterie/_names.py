"""The table of names that differ between Python and the library. Python uses scikit-learn's name if there is one."""
from . import _core

# The library's name of an option, or of a field of a problem or a run, and the keyword in Python.
PARAMETERS = {
    "clusters": "n_clusters",
    "max_iterations": "max_iter",
    "tolerance": "tol",
    "restarts": "n_init",
    "seeding": "init",
    "initial_centroids": "init",
    "lambda": "lambda_value",  # lambda is a keyword of Python, and names that end in _ are fitted attributes
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

# scikit-learn's names of choices that the library calls otherwise.
CHOICES = {"k-means++": "kmeans++", "k-means||": "kmeans-parallel", "nearest_neighbors": "neighbors"}

# The attributes of fitted parts that are not the part's name with an underscore.
PARTS = {"centroids": "cluster_centers_"}

# Instead of the command's options for reading a file, Python's users read the file with pandas or NumPy.
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

METHODS = {method["name"]: method for method in _core.methods()}  # the library's descriptions of the methods


def parameter(option):
    return PARAMETERS.get(option, option)


def attribute(part):
    return PARTS.get(part, part.replace(".", "_") + "_")


def class_of(method):
    return METHODS[method]["class"] or "".join(word.capitalize() for word in method.split("-"))


def in_python(text):
    """Returns a text of the library with Python's names of options. Options are between backquotes."""
    return _core.in_python(text)
