#pragma once
// The catalogue of data sets: small ones ship with coterie, large public ones are named with where to get them.
// "data:NAME" is a path that read_points understands.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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
    std::string folder;  // below COTERIE_DATA, the cache, or the shipped data folder
    bool shipped = false;
    std::vector<CatalogueFile> files;
};

const std::vector<CatalogueEntry>& catalogue();
/// BadArgument listing the names when there is none such.
const CatalogueEntry& find_data(std::string_view name);

/// Where to look, in order: $COTERIE_DATA, the user's cache ($XDG_CACHE_HOME or ~/.cache, + /coterie), the shipped data
/// folder
/// ($COTERIE_SHARE, beside the executable, the install prefix, the source tree).
std::vector<std::filesystem::path> data_folders();
/// The folder that holds every file of the entry; empty path when none does.
std::filesystem::path locate_data(const CatalogueEntry& entry);

/// Points and truth. BadData that says how to get it (`coterie data get NAME`, or by hand from the homepage) when it is
/// not here.
PointsFile read_data(std::string_view name, const ReadOptions& options, const Run& run);

/// Downloads what is missing into `folder`/entry.folder (empty: the user's cache): to NAME.part, resumed where a former
/// try stopped, SHA-256 verified, then renamed. A file that fails its checksum is removed and ResourceError thrown.
/// Present and correct files are not fetched. `base_url` (if not empty) replaces everything before the file's name:
/// mirrors and tests.
std::filesystem::path get_data(const CatalogueEntry& entry, const std::filesystem::path& folder, const Run& run,
                               std::string_view base_url = {});

}  // namespace coterie
