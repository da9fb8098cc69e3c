#pragma once
// The catalogue of data sets. Small sets ship with coterie; for large public sets, the catalogue says where to get
// them. The entries are in catalogue.json.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

struct CatalogueFile {
    std::string name;                 // "train-images-idx3-ubyte.gz"
    std::string url;                  // empty: ships with coterie, or the user must get it by hand
    std::vector<std::string> sha256;  // of the file on disk; one of them must match (re-packed copies differ)
    std::uint64_t bytes = 0;          // 0: unknown
};

struct CatalogueEntry {
    std::string name;  // "digits"
    std::string title;
    Index rows = 0, columns = 0;
    int classes = 0;
    std::string licence;
    std::string citation;
    std::string homepage;
    std::string by_hand;  // how to get files without a url; empty if there are none or the set ships with coterie
    std::string folder;   // below COTERIE_DATA, the cache, or the shipped data folder
    bool shipped = false;
    std::vector<CatalogueFile> files;
};

COTERIE_API const std::vector<CatalogueEntry>& catalogue();
/// Throws BadArgument that lists the names if there is no such set.
COTERIE_API const CatalogueEntry& find_data(std::string_view name);

/// Folders to search, in order: $COTERIE_DATA, cache_folder() ($XDG_CACHE_HOME/coterie or ~/.cache/coterie), and the
/// data that ship with coterie ($COTERIE_SHARE, otherwise the folder in this installation).
COTERIE_API std::vector<std::filesystem::path> data_folders();
/// The user's cache folder, where get_data stores downloads. Empty path if neither XDG_CACHE_HOME nor HOME is set.
COTERIE_API std::filesystem::path cache_folder();
/// The folder that holds every file of the entry; empty path if there is none. For a set that ships with coterie,
/// searches the shipped folders first and compares sizes, because other collections use the same names.
COTERIE_API std::filesystem::path locate_data(const CatalogueEntry& entry);

/// Points and true labels of all rows of the set (training before test). Rows with an unknown value ("?") are left out,
/// and `rows` of the entry does not count them. The options precision and max_rows apply to every set, columns and
/// label_column only to sets that ship as csv. Throws BadData that says how to get the set (`coterie data get NAME`, or
/// by hand from the homepage) if it is not on this machine.
COTERIE_API PointsFile read_data(std::string_view name, const ReadOptions& options, const Run& run);

/// Returns the folder with the files. If `folder` is empty and all files are present and correct in one of
/// data_folders(), returns that folder. Otherwise downloads the files that are not present and correct into
/// `folder`/entry.folder (empty: the user's cache). A file is downloaded to NAME.part, continued where an earlier try
/// stopped, verified by its SHA-256, then renamed. If the checksum is wrong, removes the file and throws ResourceError.
/// `base_url` (if not empty) replaces everything before the file's name, for mirrors and tests.
COTERIE_API std::filesystem::path get_data(const CatalogueEntry& entry, const std::filesystem::path& folder,
                                           const Run& run, std::string_view base_url = {});

}  // namespace coterie
