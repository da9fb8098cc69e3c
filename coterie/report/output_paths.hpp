#pragma once
// The files that a program is asked to write. They are checked before the work starts, so that a misspelt path is found
// before the fit.

#include <string>
#include <string_view>
#include <vector>

namespace coterie {

struct OutputPath {
    std::string option;                        // the option that names it
    std::string path;                          // "-": standard output; empty: no output
    std::vector<std::string> extensions = {};  // accepted ones; "": no extension; empty: any
};

class OutputPaths {
public:
    OutputPaths() = default;
    /// `inputs`: files that no output may overwrite; data:NAME, "-" and "" are ignored. `document_option`: the option
    /// that prints a document to standard output, if it is given. Throws BadArgument or ResourceError if an output
    /// cannot be written as requested.
    OutputPaths(const std::vector<std::string>& inputs, std::vector<OutputPath> outputs,
                std::string_view document_option = {});

    /// The folder for large temporary files: the folder of the first output that is a file, or "" (the current folder).
    std::string folder() const;
    /// Whether an output uses standard output; the result must then be printed elsewhere.
    bool use_standard_output() const;

private:
    std::vector<OutputPath> outputs_;
};

}  // namespace coterie
