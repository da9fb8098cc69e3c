#pragma once
// The catalogue of data sets: small ones ship with coterie, large public ones are named with where to get them. The
// entries are in catalogue.json.
// "data:NAME" is a path that read_points understands.

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
    std::string name;  // "train-images-idx3-ubyte.gz"
    std::string url;   // empty: ships with coterie, or must be got by hand
    std::vector<std::string>
        sha256;               // of the file as it lies on disk; any one of them will do (re-packed copies differ)
    std::uint64_t bytes = 0;  // 0: not known
};

struct CatalogueEntry {
    std::string name;  // "digits"
    std::string title;
    Index rows = 0, columns = 0;
    int classes = 0;
    std::string licence;
    std::string citation;
    std::string homepage;
    std::string
        by_hand;  // how to come by the files that have no url; empty when all have one or the set ships with coterie
    std::string folder;  // below COTERIE_DATA, the cache, or the shipped data folder
    bool shipped = false;
    std::vector<CatalogueFile> files;
};

COTERIE_API const std::vector<CatalogueEntry>& catalogue();
/// BadArgument listing the names when there is none such.
COTERIE_API const CatalogueEntry& find_data(std::string_view name);

/// Where to look, in order: $COTERIE_DATA, the user's cache ($XDG_CACHE_HOME or ~/.cache, + /coterie), the data that
/// ships with coterie ($COTERIE_SHARE, else where the installation that holds this code has it).
COTERIE_API std::vector<std::filesystem::path> data_folders();
/// The user's cache, where get_data puts what it fetches; empty path when neither XDG_CACHE_HOME nor HOME says where
/// that is.
COTERIE_API std::filesystem::path cache_folder();
/// The folder that holds every file of the entry; empty path when none does. What ships with coterie is looked for in
/// the shipped folders first, and only a file of the right size will do: other collections have files of the same name.
COTERIE_API std::filesystem::path locate_data(const CatalogueEntry& entry);

/// Points and truth, all rows the set has (training before test). Rows with an unknown value ("?") are left out; `rows`
/// of the entry counts what remains. Of the options, precision and max_rows apply to every set, columns and
/// label_column to those that ship as csv; the others are the catalogue's own business. BadData that says how to get it
/// (`coterie data get NAME`, or by hand from the homepage) when it is not here.
COTERIE_API PointsFile read_data(std::string_view name, const ReadOptions& options, const Run& run);

/// Where the files are: with no `folder` given and all of them present and correct in one of data_folders(), that one,
/// and nothing is done. Else downloads what is missing into `folder`/entry.folder (empty: the user's cache): to
/// NAME.part, resumed where a former try stopped, SHA-256 verified, then renamed. A file that fails its checksum is
/// removed and ResourceError thrown. Present and correct files are not fetched. `base_url` (if not empty) replaces
/// everything before the file's name: mirrors and tests.
COTERIE_API std::filesystem::path get_data(const CatalogueEntry& entry, const std::filesystem::path& folder,
                                           const Run& run, std::string_view base_url = {});

}  // namespace coterie
