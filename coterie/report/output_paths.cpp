// All conflicts between paths are found before any output is opened for a trial, which leaves nothing behind. Two paths
// are compared by the files that they refer to, so no link or other spelling lets an output overwrite an input.

#include "coterie/report/output_paths.hpp"

#include <algorithm>
#include <filesystem>

#include "coterie/base/error.hpp"
#include "coterie/base/text_format.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/row_files.hpp"

namespace coterie {
namespace {

std::string extension_of(const std::string& path) {
    std::string out = std::filesystem::path(path).extension().string();
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (std::filesystem::equivalent(a, b, error)) return true;
    // First makes the path absolute, because a path that does not exist yet would stay relative.
    const auto whole = [&](const std::string& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    };
    return whole(a) == whole(b);
}

std::vector<std::string> input_files(const std::vector<std::string>& inputs) {
    if (std::count(inputs.begin(), inputs.end(), "-") > 1)
        throw BadArgument(Code::conflict, "standard input (-) can be read only once, but two inputs name it",
                          "Name a file for one of them");
    std::vector<std::string> out;
    for (const std::string& path : inputs) {
        if (path.empty() || path == "-" || path.starts_with("data:")) continue;
        try {
            for (auto& file : files_of(path)) out.push_back(std::move(file));
        } catch (const BadData&) {  // no file matches; the reader reports it
        }
        // "file.npz:key" refers to the file before the colon, unless a file has the whole name.
        std::error_code error;
        const auto colon = path.rfind(':');
        if (colon != std::string::npos && !std::filesystem::exists(path, error)) out.push_back(path.substr(0, colon));
    }
    return out;
}

[[noreturn]] void refuse(const OutputPath& output, Code code, std::string problem, std::string remedy) {
    throw BadArgument(code, std::move(problem), std::move(remedy), {.option = output.option, .value = output.path});
}

void check_extension(const OutputPath& output) {
    const auto& extensions = output.extensions;
    if (extensions.empty()) return;
    if (std::find(extensions.begin(), extensions.end(), extension_of(output.path)) != extensions.end()) return;
    std::vector<std::string> accepted;
    for (const auto& each : extensions) accepted.push_back(each.empty() ? "no extension" : each);
    refuse(
        output, Code::unsupported_format, "the extension of " + output.path + " is not accepted",
        (accepted.size() > 1 ? "Use one of " : "Use ") + internal::join(accepted) + "; the extension sets the format");
}

void try_to_open(const OutputPath& output) {
    std::error_code error;
    const auto folder = std::filesystem::path(output.path).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder, error))
        throw ResourceError(Code::not_found, "there is no folder " + folder.string(), "Create it first",
                            {.option = output.option, .value = output.path});
    try {
        const OutputFile attempt(output.path);
    } catch (ResourceError& refused) {
        refused.amend([&](Message& message) { message.option = output.option; });
        throw;
    }
}

}  // namespace

OutputPaths::OutputPaths(const std::vector<std::string>& inputs, std::vector<OutputPath> outputs,
                         std::string_view document_option)
    : outputs_(std::move(outputs)) {
    std::erase_if(outputs_, [](const OutputPath& output) { return output.path.empty(); });
    const std::vector<std::string> files = input_files(inputs);
    const bool document = !document_option.empty();
    std::string standard(document_option);  // the option whose output is standard output
    for (const OutputPath& output : outputs_) {
        if (output.path == "-") {
            if (!standard.empty())
                refuse(output, Code::conflict, "writes to standard output (-), and so does `" + standard + "`",
                       document ? "Name a file" : "Name a file for one of them");
            standard = output.option;
            continue;
        }
        check_extension(output);
        for (const auto& input : files)
            if (same_file(input, output.path))
                refuse(output, Code::conflict, output.path + " is an input, and would be overwritten",
                       "Name another file");
        for (const OutputPath& other : outputs_)
            if (&other != &output && other.path != "-" && same_file(other.path, output.path))
                refuse(output, Code::conflict, "names the same file as `" + other.option + "`, " + output.path,
                       "Name two files");
    }
    for (const OutputPath& output : outputs_)
        if (output.path != "-") try_to_open(output);
}

bool OutputPaths::use_standard_output() const {
    return std::any_of(outputs_.begin(), outputs_.end(), [](const OutputPath& output) { return output.path == "-"; });
}

std::string OutputPaths::folder() const {
    for (const OutputPath& output : outputs_)
        if (output.path != "-") return std::filesystem::path(output.path).parent_path().string();
    return {};
}

}  // namespace coterie
