#pragma once
// Shared by all fuzzers: pass the bytes to a reader, and accept coterie's errors only.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "coterie/base/checks.hpp"
#include "coterie/base/error.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/sha256.hpp"

namespace coterie::fuzz {

/// Copies the input to a heap block of exactly its size, so that the sanitizer reports reads beyond its end.
inline formats::Bytes bytes_of(const std::uint8_t* data, std::size_t size) {
    const auto copy = std::make_shared<std::vector<std::byte>>(size);
    for (std::size_t i = 0; i < size; ++i) (*copy)[i] = static_cast<std::byte>(data[i]);
    return {{copy->data(), copy->size()}, copy};
}

/// Gives a model file a correct checksum. Otherwise random changes would never get past the checksum test.
inline void mend_checksum(std::string& file) {
    const std::string key = "\"sha256\":\"";
    const std::size_t at = file.find(key);
    if (at == std::string::npos || at + key.size() + 64 > file.size()) return;
    file.replace(at + key.size(), 64, std::string(64, '0'));
    Sha256 hash;
    hash.update(file.data(), file.size());
    file.replace(at + key.size(), 64, hash.hex());
}

/// Writes a file that a reader opens by its path. All such files lie in one temporary folder of this process.
inline std::string write_input(const std::string& name, std::string_view text) {
    static const std::string folder = [] {
        const auto path = std::filesystem::temp_directory_path() / ("coterie-fuzz-" + std::to_string(::getpid()));
        std::filesystem::create_directories(path);
        return path.string();
    }();
    const std::string path = folder + "/" + name;
    write_file(path, text);
    return path;
}

/// Splits an input that stands for several files or options.
struct Parts {
    std::string_view rest;

    /// The text before the next `mark`, or all that is left. The mark itself is dropped.
    std::string until(char mark) {
        const std::size_t end = std::min(rest.find(mark), rest.size());
        const std::string out(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return out;
    }
};

template <class F>
void expect_only_errors(F&& read) {
    try {
        read();
    } catch (const InternalError&) {
        throw;  // these are the bugs that the fuzzers look for
    } catch (const Error&) {
    }
}

/// Converts an array in all ways: to points in each precision, labels and numbers.
inline void use(const formats::Array& array) {
    for (const Precision precision : {Precision::automatic, Precision::float32, Precision::float64})
        expect_only_errors([&] {
            const Points points = formats::to_points(array, precision, -1, "fuzz", 1);
            require_finite(points, "fuzz");
        });
    for (const bool blank : {false, true}) expect_only_errors([&] { formats::to_labels(array, blank, "fuzz"); });
    expect_only_errors([&] { formats::to_numbers(array, "fuzz"); });
}

}  // namespace coterie::fuzz
