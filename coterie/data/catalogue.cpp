#include "coterie/data/catalogue.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <system_error>
#include <utility>

#include "coterie/base/internal/own_place.hpp"
#include "coterie/base/memory.hpp"

namespace coterie {
namespace {

namespace fs = std::filesystem;

// One part of a set: an array and the labels of its rows, each a file or "file:array inside". Parts are stacked in
// order.
struct ArrayPart {
    std::string points;
    std::string labels;
};

// A text file without a header, as the UCI repository has them. Read here and not by read_points because rows with "?"
// are left out.
struct Table {
    bool blanks = false;             // fields are parted by blanks, not commas; "..." is one field
    int fields = 0;                  // in every row
    std::vector<int> coordinates;    // counted from 0
    std::vector<std::string> names;  // of the coordinates
    int label = 0;                   // counted from 0
    std::vector<std::pair<std::string, std::string>>
        classes;  // as the file writes it, as it is called; in the order of the numbers
};

// An entry and how to read it: from parts, from a table, or (neither given) as a csv with the column "label".
struct Source {
    CatalogueEntry entry;
    std::vector<ArrayPart> parts;
    Table table;
};

std::vector<int> fields_from(int first, int count) {
    std::vector<int> out(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), first);
    return out;
}

constexpr const char* kCreativeCommons = "CC BY 4.0";
constexpr const char* kResearch = "none stated; for research";

CatalogueEntry shipped(std::string name, std::string title, Index rows, Index columns, int classes,
                       std::string citation, std::string homepage, CatalogueFile file,
                       const char* licence = kCreativeCommons) {
    CatalogueEntry entry;
    entry.name = entry.folder = std::move(name);
    entry.title = std::move(title);
    entry.rows = rows;
    entry.columns = columns;
    entry.classes = classes;
    entry.licence = licence;
    entry.citation = std::move(citation);
    entry.homepage = std::move(homepage);
    entry.shipped = true;
    entry.files = {std::move(file)};
    return entry;
}

// MNIST's layout, which Fashion-MNIST took over.
std::vector<ArrayPart> idx_parts() {
    return {{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"},
            {"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}};
}

std::vector<Source> make_sources() {
    std::vector<Source> out;
    out.push_back(
        {.entry = shipped("digits", "Optical recognition of handwritten digits, 8 x 8 pixels (test part)", 1797, 64, 10,
                          "E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning "
                          "Repository, 1998. doi:10.24432/C50P49",
                          "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
                          {.name = "digits.csv.gz",
                           .url = {},
                           .sha256 = {"8264f537c58275741b89481e1db06d133b0fc87bbfa43fda66d5106f9b6ab21b"},
                           .bytes = 53592}),
         .parts = {},
         .table = {}});
    out.push_back(
        {.entry = shipped("iris", "Iris flowers of three species", 150, 4, 3,
                          "R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics "
                          "7(2), 1936. doi:10.24432/C56C76",
                          "https://archive.ics.uci.edu/dataset/53/iris",
                          {.name = "iris.csv",
                           .url = {},
                           .sha256 = {"e2e59531f2c1e97d2b1c7c20fe969d19a3c92c231c3e34176a40d92f45541167"},
                           .bytes = 3856}),
         .parts = {},
         .table = {}});
    out.push_back(
        {.entry = shipped("wine", "Chemical analysis of wines of three cultivators", 178, 13, 3,
                          "S. Aeberhard, M. Forina, Wine, UCI Machine Learning Repository, 1992. doi:10.24432/C5PC7J",
                          "https://archive.ics.uci.edu/dataset/109/wine",
                          {.name = "wine.csv",
                           .url = {},
                           .sha256 = {"f566d5d119ad9b3a20acea928cdb7066f3395c478e97cf77188cb24fdc974d09"},
                           .bytes = 12370}),
         .parts = {},
         .table = {}});
    out.push_back(
        {.entry = shipped("breast-cancer", "Breast cancer Wisconsin (diagnostic): cell nuclei in images", 569, 30, 2,
                          "W. Wolberg, O. Mangasarian, N. Street, W. Street, Breast Cancer Wisconsin (Diagnostic), UCI "
                          "Machine Learning Repository, 1993. doi:10.24432/C5DW2B",
                          "https://archive.ics.uci.edu/dataset/17/breast+cancer+wisconsin+diagnostic",
                          {.name = "breast_cancer.csv",
                           .url = {},
                           .sha256 = {"6f3eff0e0f37b736b8f6002c7b5651ec364298daf594bbfeb82a4b53294bbd99"},
                           .bytes = 123861}),
         .parts = {},
         .table = {}});
    out.push_back(
        {.entry = shipped("penguins", "Penguins of three species at Palmer Station, four measurements", 342, 4, 3,
                          "K. B. Gorman, T. D. Williams, W. R. Fraser, Ecological sexual dimorphism and environmental "
                          "variability within a "
                          "community of Antarctic penguins (genus Pygoscelis), PLoS ONE 9(3), 2014. "
                          "doi:10.1371/journal.pone.0090081",
                          "https://allisonhorst.github.io/palmerpenguins/",
                          {.name = "penguins.csv",
                           .url = {},
                           .sha256 = {"186f1d069f6c42a40fdaed5cc20576432a043ea1c4aedf39afd7c37e4a540418"},
                           .bytes = 8997},
                          "CC0 1.0"),
         .parts = {},
         .table = {}});
    out.push_back(
        {.entry = shipped("moons", "Two crescents that reach into each other (drawn)", 400, 2, 2,
                          "drawn by data/make-shapes of coterie, after make_moons of scikit-learn",
                          "https://scikit-learn.org/stable/modules/generated/sklearn.datasets.make_moons.html",
                          {.name = "moons.csv",
                           .url = {},
                           .sha256 = {"3332f74c774ebc012df4197ff8b3b5b3be84865f1cbd21d820c7c12de3504ad0"},
                           .bytes = 7458},
                          "Apache-2.0"),
         .parts = {},
         .table = {}});
    out.push_back(
        {.entry = shipped("clouds", "One wide cloud beside two tight ones (drawn)", 600, 2, 3,
                          "drawn by data/make-shapes of coterie, after an example of scikit-learn",
                          "https://scikit-learn.org/stable/auto_examples/cluster/plot_kmeans_assumptions.html",
                          {.name = "clouds.csv",
                           .url = {},
                           .sha256 = {"ac17a381e3dcc7d772ebd73284305d74f39e1a7a8d7c77d764c2fe2fe98c30cc"},
                           .bytes = 11105},
                          "Apache-2.0"),
         .parts = {},
         .table = {}});
    out.push_back({.entry = shipped("rings", "Two rings in space, each through the other (drawn)", 800, 3, 2,
                                    "drawn by data/make-shapes of coterie, after Chainlink of M. C. Thrun, A. Ultsch, "
                                    "Clustering benchmark datasets "
                                    "exploiting the fundamental clustering problems, Data in Brief 30, 2020",
                                    "https://doi.org/10.1016/j.dib.2020.105501",
                                    {.name = "rings.csv",
                                     .url = {},
                                     .sha256 = {"f99845bdc55903b23d4a68dde9baf4bfbfb183e5554cc9067d03dd356b4c24e1"},
                                     .bytes = 20637},
                                    "Apache-2.0"),
                   .parts = {},
                   .table = {}});

    // The training images have a second sum: a copy packed anew from the same 47,040,016 bytes.
    const std::string mnist = "https://storage.googleapis.com/cvdf-datasets/mnist/";
    out.push_back(
        {.entry = {.name = "mnist",
                   .title = "MNIST handwritten digits, 28 x 28 pixels, training and test",
                   .rows = 70000,
                   .columns = 784,
                   .classes = 10,
                   .licence = "usually given as CC BY-SA 3.0",
                   .citation =
                       "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document "
                       "recognition, Proceedings of the IEEE 86(11), 1998",
                   .homepage = "https://yann.lecun.com/exdb/mnist/",
                   .by_hand = {},
                   .folder = "mnist",
                   .shipped = false,
                   .files = {{"train-images-idx3-ubyte.gz",
                              mnist + "train-images-idx3-ubyte.gz",
                              {"440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                               "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971"},
                              9912422},
                             {"train-labels-idx1-ubyte.gz",
                              mnist + "train-labels-idx1-ubyte.gz",
                              {"3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
                              28881},
                             {"t10k-images-idx3-ubyte.gz",
                              mnist + "t10k-images-idx3-ubyte.gz",
                              {"8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
                              1648877},
                             {"t10k-labels-idx1-ubyte.gz",
                              mnist + "t10k-labels-idx1-ubyte.gz",
                              {"f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
                              4542}}},
         .parts = idx_parts(),
         .table = {}});
    const std::string fashion = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/";
    out.push_back(
        {.entry = {.name = "fashion-mnist",
                   .title = "Fashion-MNIST articles of clothing, 28 x 28 pixels, training and test",
                   .rows = 70000,
                   .columns = 784,
                   .classes = 10,
                   .licence = "MIT",
                   .citation = "H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST: a novel image dataset for benchmarking "
                               "machine learning algorithms, arXiv:1708.07747, 2017",
                   .homepage = "https://github.com/zalandoresearch/fashion-mnist",
                   .by_hand = {},
                   .folder = "fashion-mnist",
                   .shipped = false,
                   .files = {{"train-images-idx3-ubyte.gz",
                              fashion + "train-images-idx3-ubyte.gz",
                              {"3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
                              0},
                             {"train-labels-idx1-ubyte.gz",
                              fashion + "train-labels-idx1-ubyte.gz",
                              {"a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
                              0},
                             {"t10k-images-idx3-ubyte.gz",
                              fashion + "t10k-images-idx3-ubyte.gz",
                              {"346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
                              0},
                             {"t10k-labels-idx1-ubyte.gz",
                              fashion + "t10k-labels-idx1-ubyte.gz",
                              {"67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"},
                              0}}},
         .parts = idx_parts(),
         .table = {}});

    out.push_back(
        {.entry = {.name = "usps",
                   .title = "USPS handwritten digits, 16 x 16 pixels, training and test",
                   .rows = 9298,
                   .columns = 256,
                   .classes = 10,
                   .licence = kResearch,
                   .citation = "J. J. Hull, A database for handwritten text recognition research, IEEE Transactions on "
                               "Pattern Analysis and Machine Intelligence 16(5), 1994",
                   .homepage = "https://www.kaggle.com/datasets/bistaumanga/usps-dataset",
                   .by_hand = "usps.h5, the HDF5 file with train/data, train/target, test/data and test/target",
                   .folder = "usps",
                   .shipped = false,
                   .files = {{"usps.h5",
                              {},
                              {"734f88c541104a956d88be2c95d03b4a463ffd74ccc2ba9c80841fb98e3fcb36"},
                              2913522}}},
         .parts = {{"usps.h5:/train/data", "usps.h5:/train/target"}, {"usps.h5:/test/data", "usps.h5:/test/target"}},
         .table = {}});
    out.push_back(
        {.entry = {.name = "coil-20",
                   .title = "COIL-20 objects on a turntable, grey, 32 x 32 pixels",
                   .rows = 1440,
                   .columns = 1024,
                   .classes = 20,
                   .licence = kResearch,
                   .citation = "S. A. Nene, S. K. Nayar, H. Murase, Columbia Object Image Library (COIL-20), Technical "
                               "Report CUCS-005-96, Columbia University, 1996",
                   .homepage = "https://www.cs.columbia.edu/CAVE/software/softlib/coil-20.php",
                   .by_hand = "COIL20.mat, the 32 x 32 version with X and Y, from "
                              "https://jundongl.github.io/scikit-feature/datasets.html",
                   .folder = "coil-20",
                   .shipped = false,
                   .files = {{"COIL20.mat",
                              {},
                              {"4595ebdda07f47b0eb014fcfaddc22b452f9aed9c1d9261a0d5bc336c1ee1344"},
                              3024549}}},
         .parts = {{"COIL20.mat:X", "COIL20.mat:Y"}},
         .table = {}});
    out.push_back(
        {.entry =
             {.name = "coil-100",
              .title = "COIL-100 objects on a turntable, colour, 32 x 32 pixels",
              .rows = 7200,
              .columns = 3072,
              .classes = 100,
              .licence = kResearch,
              .citation = "S. A. Nene, S. K. Nayar, H. Murase, Columbia Object Image Library (COIL-100), Technical "
                          "Report CUCS-006-96, Columbia University, 1996",
              .homepage = "https://www.cs.columbia.edu/CAVE/software/softlib/coil-100.php",
              .by_hand = "coil100_x.npy, 7200 x 3072 bytes, row (object - 1) * 72 + degrees / 5, each row an image "
                         "reduced to 32 x 32 in height x width x RGB order, and coil100_y.npy, the object numbers "
                         "as int32",
              .folder = "coil-100",
              .shipped = false,
              .files =
                  {{"coil100_x.npy",
                    {},
                    {"893c8a3672d64d5f603b6c69ae7c8d552602c2a3d11274295990fafcb061f7da"},
                    22118528},
                   {"coil100_y.npy", {}, {"8dc266399eda0926bec23714f37d81f3353a304f6c0f9fbe3cb72758639c6ef9"}, 28928}}},
         .parts = {{"coil100_x.npy", "coil100_y.npy"}},
         .table = {}});

    const std::string uci = "https://archive.ics.uci.edu/ml/machine-learning-databases/";
    out.push_back({.entry = {.name = "dermatology",
                             .title = "Erythemato-squamous diseases of the skin (8 rows of unknown age left out)",
                             .rows = 358,
                             .columns = 34,
                             .classes = 6,
                             .licence = kCreativeCommons,
                             .citation = "N. Ilter, H. A. Guvenir, Dermatology, UCI Machine Learning Repository, 1998. "
                                         "doi:10.24432/C5FK5P",
                             .homepage = "https://archive.ics.uci.edu/dataset/33/dermatology",
                             .by_hand = {},
                             .folder = "dermatology",
                             .shipped = false,
                             .files = {{"dermatology.data",
                                        uci + "dermatology/dermatology.data",
                                        {"455eba77f72cd087ce54a5a266c514c5f34e85000c8689ad09e796d68ad45742"},
                                        25964}}},
                   .parts = {},
                   .table = {.blanks = false,
                             .fields = 35,
                             .coordinates = fields_from(0, 34),
                             .names = {"erythema",
                                       "scaling",
                                       "definite_borders",
                                       "itching",
                                       "koebner_phenomenon",
                                       "polygonal_papules",
                                       "follicular_papules",
                                       "oral_mucosal_involvement",
                                       "knee_and_elbow_involvement",
                                       "scalp_involvement",
                                       "family_history",
                                       "melanin_incontinence",
                                       "eosinophils_in_the_infiltrate",
                                       "pnl_infiltrate",
                                       "fibrosis_of_the_papillary_dermis",
                                       "exocytosis",
                                       "acanthosis",
                                       "hyperkeratosis",
                                       "parakeratosis",
                                       "clubbing_of_the_rete_ridges",
                                       "elongation_of_the_rete_ridges",
                                       "thinning_of_the_suprapapillary_epidermis",
                                       "spongiform_pustule",
                                       "munro_microabcess",
                                       "focal_hypergranulosis",
                                       "disappearance_of_the_granular_layer",
                                       "vacuolisation_and_damage_of_basal_layer",
                                       "spongiosis",
                                       "saw_tooth_appearance_of_retes",
                                       "follicular_horn_plug",
                                       "perifollicular_parakeratosis",
                                       "inflammatory_monoluclear_inflitrate",
                                       "band_like_infiltrate",
                                       "age"},
                             .label = 34,
                             .classes = {{"1", "psoriasis"},
                                         {"2", "seboreic dermatitis"},
                                         {"3", "lichen planus"},
                                         {"4", "pityriasis rosea"},
                                         {"5", "chronic dermatitis"},
                                         {"6", "pityriasis rubra pilaris"}}}});
    out.push_back({.entry = {.name = "ecoli",
                             .title = "Where proteins of E. coli are found in the cell",
                             .rows = 336,
                             .columns = 7,
                             .classes = 8,
                             .licence = kCreativeCommons,
                             .citation = "K. Nakai, Ecoli, UCI Machine Learning Repository, 1996. doi:10.24432/C5388M",
                             .homepage = "https://archive.ics.uci.edu/dataset/39/ecoli",
                             .by_hand = {},
                             .folder = "ecoli",
                             .shipped = false,
                             .files = {{"ecoli.data",
                                        uci + "ecoli/ecoli.data",
                                        {"008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d"},
                                        19488}}},
                   .parts = {},
                   .table = {.blanks = true,
                             .fields = 9,
                             .coordinates = fields_from(1, 7),
                             .names = {"mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"},
                             .label = 8,
                             .classes = {{"cp", "cp"},
                                         {"im", "im"},
                                         {"pp", "pp"},
                                         {"imU", "imU"},
                                         {"om", "om"},
                                         {"omL", "omL"},
                                         {"imL", "imL"},
                                         {"imS", "imS"}}}});
    out.push_back(
        {.entry = {.name = "auto-mpg",
                   .title = "Cars and where they come from (6 rows of unknown horsepower left out)",
                   .rows = 392,
                   .columns = 7,
                   .classes = 3,
                   .licence = kCreativeCommons,
                   .citation = "R. Quinlan, Auto MPG, UCI Machine Learning Repository, 1993. doi:10.24432/C5859H",
                   .homepage = "https://archive.ics.uci.edu/dataset/9/auto+mpg",
                   .by_hand = {},
                   .folder = "auto-mpg",
                   .shipped = false,
                   .files = {{"auto-mpg.data",
                              uci + "auto-mpg/auto-mpg.data",
                              {"48b830e11feee5572525f8f1691ddb9d38d3d7b7063edcd8fca672c2a5e17d8d"},
                              30286}}},
         .parts = {},
         .table = {.blanks = true,
                   .fields = 9,
                   .coordinates = fields_from(0, 7),
                   .names = {"mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "model_year"},
                   .label = 7,
                   .classes = {{"1", "USA"}, {"2", "Europe"}, {"3", "Japan"}}}});
    out.push_back(
        {.entry = {.name = "pima-indians-diabetes",
                   .title = "Diabetes among Pima women (implausible zeros kept, as is usual)",
                   .rows = 768,
                   .columns = 8,
                   .classes = 2,
                   .licence = "CC0 as published on Kaggle",
                   .citation =
                       "J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler, R. S. Johannes, Using the ADAP "
                       "learning algorithm to forecast the onset of diabetes mellitus, 1988",
                   .homepage = "https://www.kaggle.com/datasets/uciml/pima-indians-diabetes-database",
                   .by_hand = {},
                   .folder = "pima-indians-diabetes",
                   .shipped = false,
                   .files = {{"pima-indians-diabetes.data",
                              "https://raw.githubusercontent.com/jbrownlee/Datasets/"
                              "d20fcb6402ae34e653d4513b00f39257bb37ed7f/pima-indians-diabetes.data.csv",
                              {"6bfe5d0f379d17a0e0819b996407e3c09bf80febd4287f2ed212190dfff154af"},
                              23278}}},
         .parts = {},
         .table = {.blanks = false,
                   .fields = 9,
                   .coordinates = fields_from(0, 8),
                   .names = {"pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "body_mass_index",
                             "pedigree", "age"},
                   .label = 8,
                   .classes = {{"0", "negative"}, {"1", "positive"}}}});
    out.push_back(
        {.entry = {.name = "breast-cancer-wisconsin",
                   .title = "Breast cancer Wisconsin (original; 16 rows with unknown bare nuclei left out)",
                   .rows = 683,
                   .columns = 9,
                   .classes = 2,
                   .licence = kCreativeCommons,
                   .citation = "W. Wolberg, Breast Cancer Wisconsin (Original), UCI Machine Learning Repository, 1990. "
                               "doi:10.24432/C5HP4Z",
                   .homepage = "https://archive.ics.uci.edu/dataset/15/breast+cancer+wisconsin+original",
                   .by_hand = {},
                   .folder = "breast-cancer-wisconsin",
                   .shipped = false,
                   .files = {{"breast-cancer-wisconsin.data",
                              uci + "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
                              {"402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64"},
                              19889}}},
         .parts = {},
         .table = {
             .blanks = false,
             .fields = 11,
             .coordinates = fields_from(1, 9),
             .names = {"clump_thickness", "uniformity_of_cell_size", "uniformity_of_cell_shape", "marginal_adhesion",
                       "single_epithelial_cell_size", "bare_nuclei", "bland_chromatin", "normal_nucleoli", "mitoses"},
             .label = 10,
             .classes = {{"2", "benign"}, {"4", "malignant"}}}});
    return out;
}

const std::vector<Source>& sources() {
    static const std::vector<Source> all = make_sources();
    return all;
}

fs::path from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? fs::path(value) : fs::path();
}

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

// Folders that may hold what ships with coterie, those that are there.
std::vector<fs::path> shipped_folders() {
    std::vector<fs::path> candidates;
    if (const fs::path share = from_environment("COTERIE_SHARE"); !share.empty()) {
        candidates.push_back(share / "data");
        candidates.push_back(share);
    }
    for (fs::path& folder : internal::own_data_folders()) candidates.push_back(std::move(folder));
    std::erase_if(candidates, [](const fs::path& folder) { return !is_folder(folder); });
    return candidates;
}

std::string how_to_get(const CatalogueEntry& entry) {
    if (entry.shipped)
        return "it ships with coterie: set COTERIE_SHARE to the folder share/coterie of the installation, or "
               "COTERIE_DATA to the "
               "folder data of the source tree";
    const bool direct =
        std::all_of(entry.files.begin(), entry.files.end(), [](const auto& file) { return !file.url.empty(); });
    if (direct)
        return "get it with 'coterie data get " + entry.name + "', or set COTERIE_DATA to the folder that holds " +
               entry.folder + "/";
    return "get it by hand (" + entry.homepage + ": " + entry.by_hand + ") into the folder " + entry.folder +
           "/ of $COTERIE_DATA or of the cache";
}

// ---- text tables
// ----------------------------------------------------------------------------------------------------------------------

std::string read_text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw BadData(path.string() + ": cannot be opened");
    std::string out((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (in.bad()) throw BadData(path.string() + ": reading failed");
    return out;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view line, bool blanks) {
    std::vector<std::string_view> out;
    if (!blanks) {
        for (std::size_t begin = 0;;) {
            const std::size_t end = line.find(',', begin);
            out.push_back(trimmed(line.substr(begin, end == std::string_view::npos ? end : end - begin)));
            if (end == std::string_view::npos) return out;
            begin = end + 1;
        }
    }
    for (std::size_t i = line.find_first_not_of(" \t\r"); i != std::string_view::npos;) {
        std::size_t end;
        if (line[i] == '"') {
            end = line.find('"', i + 1);
            end = end == std::string_view::npos ? line.size() : end + 1;
        } else {
            end = std::min(line.find_first_of(" \t\r", i), line.size());
        }
        out.push_back(line.substr(i, end - i));
        i = line.find_first_not_of(" \t\r", end);
    }
    return out;
}

PointsFile read_table(const fs::path& path, const Table& table, const ReadOptions& options) {
    const std::string text = read_text(path);
    const auto columns = static_cast<Index>(table.coordinates.size());
    std::vector<double> values;
    LabelColumn labels;
    for (const auto& [code, name] : table.classes) labels.names.push_back(name);
    Index row = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        begin = end + 1;
        ++row;
        if (trimmed(line).empty()) continue;
        if (options.max_rows >= 0 && static_cast<Index>(labels.labels.size()) >= options.max_rows) break;
        const auto where = [&](int field) {
            return path.string() + ": row " + std::to_string(row) + ", column " + std::to_string(field + 1) + ": ";
        };
        const std::vector<std::string_view> fields = split(line, table.blanks);
        if (static_cast<int>(fields.size()) != table.fields)
            throw BadData(path.string() + ": row " + std::to_string(row) + " has " + std::to_string(fields.size()) +
                          " fields instead of " + std::to_string(table.fields));
        const auto field = [&](int i) { return fields[static_cast<std::size_t>(i)]; };
        const bool unknown =
            field(table.label) == "?" ||
            std::any_of(table.coordinates.begin(), table.coordinates.end(), [&](int i) { return field(i) == "?"; });
        if (unknown) continue;
        for (const int i : table.coordinates) {
            const std::string_view word = field(i);
            double value = 0;
            const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
            if (error != std::errc() || stop != word.data() + word.size() || !std::isfinite(value))
                throw BadData(where(i) + "'" + std::string(word) + "' is not a finite number");
            values.push_back(value);
        }
        const auto known = std::find_if(table.classes.begin(), table.classes.end(),
                                        [&](const auto& one) { return one.first == field(table.label); });
        if (known == table.classes.end())
            throw BadData(where(table.label) + "'" + std::string(field(table.label)) + "' is none of the classes");
        labels.labels.push_back(static_cast<std::int32_t>(known - table.classes.begin()));
    }
    PointsFile out;
    const Eigen::Map<const Matrix<double>> read(values.data(), static_cast<Index>(labels.labels.size()), columns);
    if (options.precision == Precision::float32)
        out.points = Points(Matrix<float>(read.cast<float>()));
    else
        out.points = Points(Matrix<double>(read));
    out.column_names = table.names;
    out.labels = std::move(labels);
    out.format = "text";
    return out;
}

// ---- arrays
// ---------------------------------------------------------------------------------------------------------------------------

Points stacked(const std::vector<Points>& parts, const std::string& what) {
    if (parts.size() == 1) return parts.front();
    Index rows = 0;
    for (const Points& part : parts) {
        rows += part.rows();
        if (part.columns() != parts.front().columns())
            throw BadData(what + ": the training part has " + std::to_string(parts.front().columns()) +
                          " columns, the test part " + std::to_string(part.columns()));
    }
    const Index columns = parts.front().columns();
    return parts.front().view().visit([&]<class Scalar>(Rows<Scalar>) {
        require_memory(static_cast<double>(rows) * static_cast<double>(columns) * sizeof(Scalar), what);
        Matrix<Scalar> all(rows, columns);
        Index begin = 0;
        for (const Points& part : parts) {
            all.middleRows(begin, part.rows()) =
                part.view().visit([](auto block) -> Matrix<Scalar> { return block.matrix().template cast<Scalar>(); });
            begin += part.rows();
        }
        return Points(std::move(all));
    });
}

// Numbers by value where both words are numbers, else by the words' order.
bool goes_before(const std::string& a, const std::string& b) {
    double x = 0, y = 0;
    const auto first = std::from_chars(a.data(), a.data() + a.size(), x);
    const auto second = std::from_chars(b.data(), b.data() + b.size(), y);
    const bool numbers = first.ec == std::errc() && second.ec == std::errc();
    return numbers && x != y ? x < y : a < b;
}

// The parts' labels one after the other: a class has the same number in every part, whether or not each part has all
// classes.
LabelColumn joined(const std::vector<LabelColumn>& parts) {
    if (parts.size() == 1) return parts.front();
    LabelColumn out;
    for (const LabelColumn& part : parts) out.names.insert(out.names.end(), part.names.begin(), part.names.end());
    std::sort(out.names.begin(), out.names.end(), goes_before);
    out.names.erase(std::unique(out.names.begin(), out.names.end()), out.names.end());
    std::map<std::string, std::int32_t> number;
    for (std::size_t i = 0; i < out.names.size(); ++i) number[out.names[i]] = static_cast<std::int32_t>(i);
    for (const LabelColumn& part : parts)
        for (const std::int32_t label : part.labels)
            out.labels.push_back(label < 0 ? -1 : number.at(part.names.at(static_cast<std::size_t>(label))));
    return out;
}

PointsFile read_parts(const fs::path& folder, const Source& source, const ReadOptions& options, const Run& run) {
    std::vector<Points> points;
    std::vector<LabelColumn> labels;
    PointsFile out;
    Index rows = 0;
    for (const ArrayPart& part : source.parts) {
        run.throw_if_stopped("reading");
        ReadOptions part_options;
        part_options.precision = options.precision;
        if (options.max_rows >= 0) {
            part_options.max_rows = options.max_rows - rows;
            if (part_options.max_rows == 0 && !points.empty()) break;
        }
        PointsFile read = read_points_file((folder / part.points).string(), part_options, run);
        LabelColumn truth = read_labels_file((folder / part.labels).string());
        const auto labelled = static_cast<Index>(truth.labels.size());
        if (options.max_rows < 0 ? labelled != read.points.rows() : labelled < read.points.rows())
            throw BadData((folder / part.labels).string() + ": " + std::to_string(labelled) + " labels for " +
                          std::to_string(read.points.rows()) + " rows");
        truth.labels.resize(static_cast<std::size_t>(read.points.rows()));
        rows += read.points.rows();
        out.format = read.format;
        points.push_back(std::move(read.points));
        labels.push_back(std::move(truth));
    }
    out.points = stacked(points, "data set " + source.entry.name);
    out.labels = joined(labels);
    return out;
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
    static const std::vector<CatalogueEntry> entries = [] {
        std::vector<CatalogueEntry> out;
        for (const Source& source : sources()) out.push_back(source.entry);
        return out;
    }();
    return entries;
}

const CatalogueEntry& find_data(std::string_view name) {
    std::string names;
    for (const CatalogueEntry& entry : catalogue()) {
        if (entry.name == name) return entry;
        names += (names.empty() ? "" : ", ") + entry.name;
    }
    throw BadArgument("there is no data set '" + std::string(name) + "' in the catalogue; there are " + names);
}

fs::path cache_folder() {
    if (const fs::path cache = from_environment("XDG_CACHE_HOME"); !cache.empty()) return cache / "coterie";
    if (const fs::path home = from_environment("HOME"); !home.empty()) return home / ".cache" / "coterie";
    return {};
}

std::vector<fs::path> data_folders() {
    std::vector<fs::path> out;
    for (const fs::path& folder : {from_environment("COTERIE_DATA"), cache_folder()})
        if (!folder.empty()) out.push_back(folder);
    for (fs::path& folder : shipped_folders()) out.push_back(std::move(folder));
    return out;
}

fs::path locate_data(const CatalogueEntry& entry) {
    const auto holds_all = [&](const fs::path& folder) {
        return std::all_of(entry.files.begin(), entry.files.end(), [&](const CatalogueFile& file) {
            std::error_code failed;
            const fs::path path = folder / file.name;
            if (!fs::is_regular_file(path, failed) || failed) return false;
            return !entry.shipped || (fs::file_size(path, failed) == file.bytes && !failed);
        });
    };
    std::vector<fs::path> folders = entry.shipped ? shipped_folders() : std::vector<fs::path>{};
    for (fs::path& folder : data_folders()) folders.push_back(std::move(folder));
    for (const fs::path& folder : folders)
        if (holds_all(folder / entry.folder)) return folder / entry.folder;
    return {};
}

PointsFile read_data(std::string_view name, const ReadOptions& options, const Run& run) {
    const CatalogueEntry& entry = find_data(name);
    const Source& source = sources()[static_cast<std::size_t>(&entry - catalogue().data())];
    const fs::path folder = locate_data(entry);
    if (folder.empty()) throw BadData("data set '" + entry.name + "' is not on this machine; " + how_to_get(entry));

    const bool csv = source.parts.empty() && source.table.fields == 0;
    if (!csv && (!options.columns.empty() || !options.label_column.empty()))
        throw BadArgument("data set '" + entry.name +
                          "' has its columns and its labels from the catalogue; columns and label_column "
                          "can be chosen of those that ship as csv only");
    PointsFile out;
    if (csv) {
        ReadOptions csv_options = options;
        csv_options.header = Header::yes;
        csv_options.separator = ',';
        if (csv_options.label_column.empty()) csv_options.label_column = "label";
        out = read_points_file((folder / entry.files.front().name).string(), csv_options, run);
    } else if (source.parts.empty()) {
        out = read_table(folder / entry.files.front().name, source.table, options);
    } else {
        out = read_parts(folder, source, options, run);
    }

    const Index rows = options.max_rows < 0 ? entry.rows : std::min(entry.rows, options.max_rows);
    const bool whole_rows =
        options.columns.empty() && (options.label_column.empty() || options.label_column == "label");
    if (out.points.rows() != rows || (whole_rows && out.points.columns() != entry.columns))
        throw BadData(folder.string() + ": " + std::to_string(out.points.rows()) + " rows of " +
                      std::to_string(out.points.columns()) + " columns where the catalogue has " +
                      std::to_string(rows) + " of " + std::to_string(entry.columns) + " for '" + entry.name + "'");
    return out;
}

}  // namespace coterie
