#pragma once
// SHA-256 (FIPS 180-4), for checksums of model files and downloads.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace coterie {

/// Lower-case hexadecimal SHA-256.
class Sha256 {
public:
    Sha256();
    void update(const void* data, std::size_t bytes);
    std::string hex();

private:
    std::uint32_t state_[8];
    std::uint64_t total_ = 0;
    unsigned char buffer_[64];
    void block(const unsigned char* data);
};
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace coterie
