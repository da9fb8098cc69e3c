// get_data downloads missing files to NAME.part, verifies them, then renames them, so a file with the final name is
// complete. NAME.part is locked against a second process. After an interruption it remains, and the next try continues
// it. If a server ignores the requested range or sends another range, this is detected. A file with a wrong checksum is
// removed.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>

#include "coterie/data/catalogue.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/sha256.hpp"

#ifdef COTERIE_HAVE_CURL
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace coterie {
namespace {

using internal::filled;

namespace fs = std::filesystem;

bool present_and_correct(const fs::path& path, const CatalogueFile& file) {
    std::error_code failed;
    if (!fs::is_regular_file(path, failed) || failed) return false;
    if (file.sha256.empty()) return true;
    return std::find(file.sha256.begin(), file.sha256.end(), sha256_of_file(path)) != file.sha256.end();
}

std::string url_of(const CatalogueFile& file, std::string_view base_url) {
    if (base_url.empty()) return file.url;
    std::string out(base_url);
    if (out.back() != '/') out += '/';
    return out + file.name;
}

#ifdef COTERIE_HAVE_CURL

constexpr int kTries = 3;  // tries per file if the connection breaks during the download

// NAME.part, open for writing and locked against a second process that downloads the same file.
class PartFile {
public:
    explicit PartFile(fs::path path) : path_(std::move(path)) {
        descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (descriptor_ < 0) fail("the file cannot be written");
        const auto refuse = [&](std::string problem, std::string remedy) {
            ::close(descriptor_);
            throw ResourceError(Code::download_failed, std::move(problem), std::move(remedy), {.file = path_.string()});
        };
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
            refuse("another process is downloading this file", "Wait until it has finished");
        // Between open and lock, another process may have finished and renamed the file that was opened here.
        struct stat mine {
        }, named{};
        if (::fstat(descriptor_, &mine) != 0 || ::stat(path_.c_str(), &named) != 0 || mine.st_ino != named.st_ino)
            refuse("another process was downloading this file", "Try again");
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    ~PartFile() {
        struct stat status {};
        if (!renamed_ && ::fstat(descriptor_, &status) == 0 && status.st_size == 0) ::unlink(path_.c_str());
        ::close(descriptor_);
    }

    const fs::path& path() const { return path_; }
    std::uint64_t size() const {
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0) fail("the file cannot be examined");
        return static_cast<std::uint64_t>(status.st_size);
    }
    void clear() {
        if (::ftruncate(descriptor_, 0) != 0) fail("the file cannot be emptied");
    }
    void append(const char* data, std::size_t bytes) {
        if (::lseek(descriptor_, 0, SEEK_END) < 0) fail("the file cannot be extended");
        if (!formats::write_all(descriptor_, data, bytes)) fail("the file cannot be written");
    }
    void rename_to(const fs::path& target) {
        if (::fsync(descriptor_) != 0) fail("the file cannot be written");
        if (::rename(path_.c_str(), target.c_str()) != 0) fail("the file cannot be renamed to " + target.string());
        renamed_ = true;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ResourceError(Code::cannot_write, what + ": " + std::generic_category().message(errno), "",
                            {.file = path_.string()});
    }
    fs::path path_;
    int descriptor_ = -1;
    bool renamed_ = false;
};

std::string goes_on(const PartFile& part) {
    return "Try again to continue; the data received so far are in " + part.path().string();
}

struct Transfer {
    CURL* handle = nullptr;
    PartFile* part = nullptr;
    const Run* run = nullptr;
    std::uint64_t resumed_at = 0;
    std::uint64_t known_bytes = 0;
    bool started = false;
    bool wrong_range = false;  // a partial answer that does not begin at the requested offset
    bool cancelled = false;
    long long range_begin = -1;  // from the Content-Range header
    double files_done = 0, files = 1;
    std::exception_ptr error;  // exceptions must not pass through libcurl, so they are stored and rethrown afterwards
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::string_view line(data, size * count);
    const std::size_t digits = line.find_first_of("0123456789");
    if (line.starts_with("HTTP/")) transfer.range_begin = -1;  // ignores the headers of a redirect
    if (digits != std::string_view::npos && formats::lower_case(line.substr(0, digits)).starts_with("content-range:"))
        std::from_chars(line.data() + digits, line.data() + line.size(), transfer.range_begin);
    return size * count;
}

long response_code(CURL* handle) {
    long code = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

std::size_t on_data(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    try {
        if (!transfer.started) {
            transfer.started = true;
            const long code = response_code(transfer.handle);
            if (transfer.resumed_at > 0 && code == 206 &&
                transfer.range_begin != static_cast<long long>(transfer.resumed_at)) {
                transfer.wrong_range = true;
                return 0;
            }
            if (transfer.resumed_at > 0 && code != 206) {  // the server ignores the range and sends the whole file
                transfer.part->clear();
                transfer.resumed_at = 0;
            }
        }
        transfer.part->append(data, size * count);
    } catch (...) {
        transfer.error = std::current_exception();
        return 0;
    }
    return size * count;
}

int on_progress(void* user, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(user);
    try {
        if (transfer.run->stop_requested_here()) {
            transfer.cancelled = true;
            return 1;
        }
        const double done = static_cast<double>(transfer.resumed_at) + static_cast<double>(now);
        const double all = total > 0 ? static_cast<double>(transfer.resumed_at) + static_cast<double>(total)
                                     : static_cast<double>(transfer.known_bytes);
        const double file = all > 0 ? std::min(1.0, done / all) : 0.0;
        transfer.run->report({.stage = "downloading",
                              .fraction = (transfer.files_done + file) / transfer.files,
                              .objective = std::numeric_limits<double>::quiet_NaN(),
                              .iteration = static_cast<int>(transfer.files_done)});
    } catch (...) {
        transfer.error = std::current_exception();
        return 1;
    }
    return 0;
}

class Curl {
public:
    Curl() {
        static std::once_flag once;
        std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
        handle_ = curl_easy_init();
        if (handle_ == nullptr) throw ResourceError(Code::download_failed, "libcurl could not be started");
    }
    Curl(const Curl&) = delete;
    Curl& operator=(const Curl&) = delete;
    ~Curl() { curl_easy_cleanup(handle_); }
    CURL* get() const { return handle_; }
    template <class Value>
    void set(CURLoption option, Value value) {
        if (curl_easy_setopt(handle_, option, value) != CURLE_OK)
            throw ResourceError(Code::missing_library, "libcurl is too old or does not support http and https");
    }

private:
    CURL* handle_ = nullptr;
};

enum class Outcome {
    whole,        // the server sent everything
    broken,       // the connection broke; the data received so far are kept
    not_a_range,  // the existing part cannot be continued
};

// Makes one request. Throws if another try would not help.
Outcome request(const std::string& url, Transfer& transfer, std::string& broken_because) {
    Curl curl;
    char message[CURL_ERROR_SIZE] = "";
    transfer.handle = curl.get();
    transfer.resumed_at = transfer.part->size();
    transfer.started = transfer.wrong_range = false;
    transfer.range_begin = -1;
    curl.set(CURLOPT_URL, url.c_str());
    curl.set(CURLOPT_ERRORBUFFER, message);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl.set(CURLOPT_PROTOCOLS_STR, "http,https");
    curl.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl.set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl.set(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl.set(CURLOPT_FOLLOWLOCATION, 1L);
    curl.set(CURLOPT_MAXREDIRS, 8L);
    curl.set(CURLOPT_FAILONERROR, 1L);
    curl.set(CURLOPT_NOSIGNAL, 1L);
    curl.set(CURLOPT_CONNECTTIMEOUT, 20L);
    curl.set(CURLOPT_LOW_SPEED_LIMIT, 100L);
    curl.set(CURLOPT_LOW_SPEED_TIME, 30L);
    curl.set(CURLOPT_USERAGENT, "coterie/" COTERIE_VERSION);
    curl.set(CURLOPT_WRITEFUNCTION, &on_data);
    curl.set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    curl.set(CURLOPT_HEADERFUNCTION, &on_header);
    curl.set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    curl.set(CURLOPT_NOPROGRESS, 0L);
    curl.set(CURLOPT_XFERINFOFUNCTION, &on_progress);
    curl.set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
    // CURLOPT_RESUME_FROM is not used: with it, libcurl gives up if a server ignores the range.
    const std::string range = std::to_string(transfer.resumed_at) + "-";
    if (transfer.resumed_at > 0) curl.set(CURLOPT_RANGE, range.c_str());

    const CURLcode result = curl_easy_perform(curl.get());
    transfer.handle = nullptr;
    if (transfer.error) std::rethrow_exception(transfer.error);
    if (transfer.cancelled)
        throw Cancelled(Code::cancelled, filled("the download of {} was stopped", url), goes_on(*transfer.part));
    if (transfer.wrong_range) return Outcome::not_a_range;
    if (result == CURLE_OK) {
        // If the answer is empty, libcurl never calls on_data.
        if (!transfer.started && transfer.resumed_at > 0 && response_code(curl.get()) != 206) transfer.part->clear();
        return Outcome::whole;
    }
    const std::string reason = message[0] != 0 ? message : curl_easy_strerror(result);
    switch (result) {
        case CURLE_HTTP_RETURNED_ERROR: {
            const long code = response_code(curl.get());
            if (code == 416 && transfer.resumed_at > 0)
                return Outcome::not_a_range;  // nothing left, or the file has changed
            throw ResourceError(Code::download_failed, filled("the server answered with HTTP status {}", code), "",
                                {.file = url});
        }
        case CURLE_PARTIAL_FILE:
        case CURLE_RECV_ERROR:
        case CURLE_SEND_ERROR:
        case CURLE_GOT_NOTHING:
        case CURLE_HTTP2:
        case CURLE_HTTP2_STREAM:
        case CURLE_OPERATION_TIMEDOUT: broken_because = reason; return Outcome::broken;
        default: throw ResourceError(Code::download_failed, reason, "", {.file = url});
    }
}

void fetch(const std::string& url, const CatalogueFile& file, const fs::path& target, Transfer& transfer) {
    PartFile part(target.string() + ".part");
    transfer.part = &part;
    transfer.known_bytes = file.bytes;
    std::string reason;
    for (int tries = 1;;) {
        const bool continued = part.size() > 0;
        const Outcome outcome = request(url, transfer, reason);
        if (outcome == Outcome::broken) {
            if (++tries > kTries)
                throw ResourceError(Code::download_failed, filled("{} ({} tries)", reason, kTries), goes_on(part),
                                    {.file = url});
            continue;
        }
        if ((outcome == Outcome::whole || transfer.resumed_at > 0) && present_and_correct(part.path(), file))
            return part.rename_to(target);
        // A part from an earlier try may belong to another file, so a wrong checksum then leads to one more try.
        if (!continued || (outcome == Outcome::whole && transfer.resumed_at == 0)) break;
        part.clear();
    }
    const std::string sum = sha256_of_file(part.path());
    part.clear();  // an empty part is removed
    throw ResourceError(
        Code::download_failed,
        filled("the download has SHA-256 {}, not {}, and was removed: the file changed at its source or on the way",
               sum, file.sha256.front()),
        "", {.file = url});
}

void fetch_all(const std::vector<const CatalogueFile*>& missing, const fs::path& folder, const Run& run,
               std::string_view base_url) {
    Transfer transfer;
    transfer.run = &run;
    transfer.files = static_cast<double>(missing.size());
    for (const CatalogueFile* file : missing) {
        run.throw_if_stopped_here("downloading");
        fetch(url_of(*file, base_url), *file, folder / file->name, transfer);
        transfer.files_done += 1;
    }
    run.report({.stage = "downloading",
                .fraction = 1.0,
                .objective = std::numeric_limits<double>::quiet_NaN(),
                .iteration = static_cast<int>(missing.size())});
}

#else

void fetch_all(const std::vector<const CatalogueFile*>& missing, const fs::path& folder, const Run&,
               std::string_view base_url) {
    throw ResourceError(Code::missing_library,
                        "this build of coterie cannot download, because it was built without libcurl",
                        filled("Install libcurl4-openssl-dev (Debian) and build again, or put {} into {}",
                               url_of(*missing.front(), base_url), folder.string()));
}

#endif

}  // namespace

fs::path get_data(const CatalogueEntry& entry, const fs::path& folder, const Run& run, std::string_view base_url) {
    const auto all_correct = [&](const fs::path& place) {
        return std::all_of(entry.files.begin(), entry.files.end(),
                           [&](const auto& file) { return present_and_correct(place / file.name, file); });
    };
    fs::path root = folder;
    if (root.empty()) {
        for (const fs::path& place : data_folders())
            if (all_correct(place / entry.folder)) return place / entry.folder;
        root = cache_folder();
        if (root.empty())
            throw ResourceError(Code::missing_argument,
                                "there is no folder for data: neither XDG_CACHE_HOME nor HOME is set",
                                "Set one of them, or name a folder");
    }
    const fs::path target = root / entry.folder;
    std::vector<const CatalogueFile*> missing;
    for (const CatalogueFile& file : entry.files)
        if (!present_and_correct(target / file.name, file)) missing.push_back(&file);
    if (missing.empty()) return target;

    for (const CatalogueFile* file : missing)
        if (url_of(*file, base_url).empty()) {
            const std::string what = filled("{} of data set '{}' ", file->name, entry.name);
            if (entry.shipped)
                throw ResourceError(Code::not_found, what + "is part of coterie but was not found",
                                    "Set COTERIE_SHARE to the folder share/coterie of the installation");
            throw ResourceError(
                Code::download_failed, what + "cannot be downloaded",
                filled("Get it by hand ({}: {}) into the folder {}", entry.homepage, entry.by_hand, target.string()));
        }
    std::error_code failed;
    fs::create_directories(target, failed);
    if (failed)
        throw ResourceError(Code::cannot_write, "the folder cannot be created: " + failed.message(), "",
                            {.file = target.string()});
    fetch_all(missing, target, run, base_url);
    return target;
}

}  // namespace coterie
