#include "runtime/support/request_record.hpp"

#include "generator/base/spec_text.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/absolute_name.hpp"
#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/fork.hpp"
#include "runtime/support/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_set>

namespace jitgemm {

std::atomic<bool> requests_are_recorded = false;

namespace {

using namespace std::chrono_literals;

constexpr auto kRecordPatience = 2s;  // an append takes microseconds; whoever holds on longer is stopped
constexpr auto kRecordPause = 1ms;

/// Opened for each line: a lock belongs to an open file, which a fork would share.
FileDescriptor open_record(const std::string& path) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
    if (!file) throw_system_error("cannot write", path);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) throw_system_error("cannot look at", path);
    if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{} is no regular file: a record needs one", path));
    return file;
}

/// Until the file is closed. A file system without locks has none; a line is still written in one piece.
void lock_record(const FileDescriptor& file) {
    const auto end = std::chrono::steady_clock::now() + kRecordPatience;
    while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (std::chrono::steady_clock::now() > end) return;
        std::this_thread::sleep_for(kRecordPause);
    }
}

class RequestRecord {
public:
    explicit RequestRecord(std::string path) : path_(std::move(path)) { static_cast<void>(open_record(path_)); }

    [[nodiscard]] const std::string& path() const { return path_; }

    /// Throws where it can't be written, or is full.
    void add(const GemmSpec& spec) {
        if (seen_.contains(spec)) return;
        if (problems(spec).empty()) append(to_string(resolved(spec)));
        if (seen_.size() < kMostRecordedLines) seen_.insert(spec);
    }

    void add_range(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m) {
        if (is_sound_range(spec, first_m, last_m)) append(range_text(spec, first_m, last_m));
    }

private:
    static bool is_sound_range(GemmSpec spec, std::int64_t first_m, std::int64_t last_m) {
        if (first_m < 1 || first_m > last_m || last_m > kLargestExtent) return false;
        for (const std::int64_t m : {first_m, last_m}) {
            spec.m = m;
            if (!problems(spec).empty()) return false;
        }
        return true;
    }

    void append(const std::string& line) {
        const FileDescriptor file = open_record(path_);
        lock_record(file);
        read_rest(file);
        if (lines_.contains(line)) return;
        if (lines_.size() >= kMostRecordedLines)
            throw Error(fmt::format("{} holds {} lines, the most that a record may hold", path_, lines_.size()));
        write(file, (rest_.empty() ? "" : "\n") + line + "\n");
    }

    /// Reads the lines that were added since the last call.
    void read_rest(const FileDescriptor& file) {
        struct stat status {};
        if (::fstat(file.number(), &status) != 0) throw_system_error("cannot look at", path_);
        if (status.st_size < read_) forget();  // somebody emptied it
        std::array<char, 65536> buffer{};
        for (ssize_t got = 0; (got = ::pread(file.number(), buffer.data(), buffer.size(), read_)) != 0; read_ += got) {
            if (got < 0) throw_system_error("cannot read", path_);
            take({buffer.data(), static_cast<std::size_t>(got)});
        }
    }

    void take(std::string_view text) {
        for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
            if (lines_.size() < kMostRecordedLines) lines_.insert(rest_ + std::string(text.substr(0, end)));
            rest_.clear();
        }
        rest_ += text;
    }

    void forget() {
        lines_.clear();
        rest_.clear();
        read_ = 0;
    }

    /// All of it, or nothing.
    void write(const FileDescriptor& file, const std::string& text) {
        const off_t before = ::lseek(file.number(), 0, SEEK_END);
        const ssize_t written = ::write(file.number(), text.data(), text.size());
        if (written == static_cast<ssize_t>(text.size())) return;
        const int reason = written < 0 ? errno : ENOSPC;
        if (written > 0 && ::ftruncate(file.number(), before) != 0)
            log().debug("half a line stays at the end of {}", path_);
        errno = reason;
        throw_system_error("cannot write", path_);
    }

    std::string path_;
    std::unordered_set<GemmSpec> seen_;      ///< as asked
    std::unordered_set<std::string> lines_;  ///< of the file, as far as it was read
    std::string rest_;                       ///< a last line without its end
    off_t read_ = 0;
};

struct CurrentRecord {
    std::mutex mutex;  // guards what follows
    std::unique_ptr<RequestRecord> record;
};

/// Never destroyed: threads may ask for kernels while the process ends.
CurrentRecord& current_record() {
    static auto* const only = new CurrentRecord;
    return *only;
}

/// The mutex must be held.
std::string replace_record(std::unique_ptr<RequestRecord> record) {
    std::unique_ptr<RequestRecord>& now = current_record().record;
    std::string before = now == nullptr ? std::string() : now->path();
    now = std::move(record);
    requests_are_recorded = now != nullptr;
    return before;
}

}  // namespace

std::string record_requests(const std::string& file) {
    const ForkGuard guard;
    std::unique_ptr<RequestRecord> record;
    if (!file.empty()) record = std::make_unique<RequestRecord>(absolute_path(file));
    const std::lock_guard lock(current_record().mutex);
    return replace_record(std::move(record));
}

void record_as_environment_says() {
    static std::atomic<bool> is_done = false;
    if (is_done) return;
    if (const std::string file = record_file_from_environment(); !file.empty()) record_requests(file);
    is_done = true;
}

namespace {

template <typename Add>
void add_to_record(const Add& add) noexcept {
    try {
        const ForkGuard guard;
        const std::lock_guard lock(current_record().mutex);
        if (current_record().record == nullptr) return;
        try {
            add(*current_record().record);
        } catch (const std::exception& error) {
            log().warn("what is asked for is recorded no more: {}", error.what());
            static_cast<void>(replace_record(nullptr));
        }
    } catch (const std::exception&) {  // a fork that could not wait: there is nobody to tell
        requests_are_recorded = false;
    }
}

}  // namespace

void record_request(const GemmSpec& spec) noexcept {
    add_to_record([&](RequestRecord& record) { record.add(spec); });
}

void record_request(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m) noexcept {
    add_to_record([&](RequestRecord& record) { record.add_range(spec, first_m, last_m); });
}

}  // namespace jitgemm
