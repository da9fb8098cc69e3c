#pragma once
// Internal: SHA-256 (FIPS 180-4), for checksums of model files, downloads and checkpoints.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

struct evp_md_ctx_st;  // from OpenSSL

namespace coterie {

/// SHA-256 of everything passed to update(), in lower-case hexadecimal. Call hex() last.
class Sha256 {
public:
    Sha256();
    void update(const void* data, std::size_t bytes);
    std::string hex();

private:
    std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace coterie
