#pragma once
// How a file of points is read, in the words that people write: what the command and Python take, from one description.

#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

struct COTERIE_API ReadRequest {
    std::string label_column;
    std::string id_column;
    std::string columns;  // lists, with commas; a name that holds one stands in quotes
    std::string exclude;
    Header header = Header::automatic;
    std::string separator = "auto";
    Decimal decimal = Decimal::automatic;
    Precision precision = Precision::automatic;
    std::string scratch_folder;  // where large text is converted; no option

    static const OptionSet& described();
    /// BadArgument on a list with an empty entry, and on a separator that is none.
    ReadOptions options() const;
};

}  // namespace coterie
