#pragma once
// Options for reading a file of points, as users write them. The command and Python share their description.

#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

struct COTERIE_API ReadRequest {
    std::string label_column;
    std::string id_column;
    std::string columns;  // comma-separated lists; a name that contains a comma needs quotes
    std::string exclude;
    Header header = Header::automatic;
    std::string separator = "auto";
    Decimal decimal = Decimal::automatic;
    Precision precision = Precision::automatic;
    std::string scratch_folder;  // folder for converted large text; not an option

    static const OptionSet& described();
    /// Throws BadArgument for a list with an empty entry, and for an invalid separator.
    ReadOptions options() const;
};

}  // namespace coterie
