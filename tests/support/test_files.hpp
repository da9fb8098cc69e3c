#pragma once
// For tests: a temporary folder, files made of bytes, a Python to compare with, the data sets.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "coterie/base/error.hpp"

namespace coterie::testing {

class Folder {
public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "coterie-io-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) std::abort();
        path_ = pattern;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    /// Writes a file and returns its path.
    std::string file(const std::string& name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return (path_ / name).string();
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator{}));
    }

private:
    std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
std::string raw(std::initializer_list<T> values) {
    std::string out;
    for (const T value : values) {
        char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        out.append(bytes, sizeof(T));
    }
    return out;
}

inline std::string npy(std::string_view descr, std::string_view shape, std::string_view data, bool fortran = false,
                       int version = 1) {
    std::string dict = "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + std::string(shape) + ", }";
    const std::size_t prefix = version == 1 ? 10 : 12;
    while ((prefix + dict.size() + 1) % 64 != 0) dict += ' ';
    dict += '\n';
    std::string out = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
    for (std::size_t k = 0; k < prefix - 8; ++k) out += static_cast<char>(dict.size() >> (8 * k));
    return out + dict + std::string(data);
}

inline std::string idx(int type, std::initializer_list<std::uint32_t> shape, std::string_view data) {
    std::string out{'\0', '\0', static_cast<char>(type), static_cast<char>(shape.size())};
    for (const std::uint32_t extent : shape)
        for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(extent >> shift);
    return out + std::string(data);
}

/// The message of the coterie::Error of type E that f throws. Otherwise the test fails.
template <class E, class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const E& error) {
        return error.message();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another kind of exception: " << error.what();
        return {};
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The path of the system's Python; empty if it is missing or lacks a module of `imports`.
inline std::string python(const std::string& imports) {
    const std::string interpreter = "/usr/bin/python3";
    if (!std::filesystem::exists(interpreter)) return {};
    if (!imports.empty() && std::system((interpreter + " -c 'import " + imports + "' >/dev/null 2>&1").c_str()) != 0)
        return {};
    return interpreter;
}
inline bool run_python(const Folder& folder, std::string_view script, const std::string& arguments = {}) {
    const std::string path = folder.file("script.py", script);
    return std::system(("/usr/bin/python3 '" + path + "' " + arguments + " >/dev/null").c_str()) == 0;
}

/// The path of a file below $COTERIE_DATA; empty if it does not exist.
inline std::string data_file(const std::string& name) {
    std::filesystem::path folder;
    if (const char* data = std::getenv("COTERIE_DATA"))
        folder = data;
    else
        return {};
    const auto path = folder / name;
    return std::filesystem::exists(path) ? path.string() : std::string();
}

/// The text of each message.
inline std::vector<std::string> texts_of(const std::vector<Message>& messages) {
    std::vector<std::string> out;
    for (const Message& each : messages) out.push_back(each.text());
    return out;
}

}  // namespace coterie::testing
