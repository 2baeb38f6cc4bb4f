#include "runtime/tuning/store/sqlite.hpp"

#include "runtime/support/fork.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace jitgemm::tuning::sqlite {
namespace {

// One step may take 40 instructions for each byte of the file. The statements here take one or two.
constexpr int kPeriod = 10'000;  // instructions
constexpr std::uint64_t kLeastPeriods = 200;
constexpr std::uint64_t kPeriodsPerMegabyte = 4000;

constexpr int kPrimaryCode = 0xff;  // the rest of an extended code says which kind of it

/// A path as SQLite's URI takes it: all but the plainest bytes as %XX.
std::string uri_of(const std::string& path, std::string_view query) {
    std::string uri = "file:";
    for (const char letter : path) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool plain = std::isalnum(byte) != 0 || std::string_view("/._-").find(letter) != std::string_view::npos;
        uri += plain ? std::string(1, letter) : fmt::format("%{:02X}", byte);
    }
    return fmt::format("{}?{}", uri, query);
}

/// Nothing waits in a write-ahead log, and nothing in a rollback journal that a writer left who died: the file alone is
/// the whole database.
bool is_whole(const std::string& path) {
    const auto is_empty = [&](const char* tail) {
        std::error_code error;
        const auto size = std::filesystem::file_size(path + tail, error);
        return error ? error == std::errc::no_such_file_or_directory : size == 0;
    };
    return is_empty("-wal") && is_empty("-journal");
}

/// SQLite tries once more without writing where a file cannot be made, and then knows only that there is none.
int why_it_cannot_be_made(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return ::access(folder.c_str(), W_OK) == 0 ? ENOENT : errno;
}

/// The system's reason why SQLite could not open, read or write a file. It is empty if the system gives none.
std::string system_reason(int code, sqlite3* connection, const std::string& path) {
    const int primary = code & kPrimaryCode;
    const bool is_of_files = primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR;
    int number = is_of_files && connection != nullptr ? sqlite3_system_errno(connection) : 0;
    if (number == ENOENT) number = why_it_cannot_be_made(path);
    return number == 0 ? std::string() : fmt::format(": {}", std::strerror(number));
}

std::string advice(int code, std::chrono::milliseconds patience) {
    switch (code & kPrimaryCode) {
        case SQLITE_FULL: return "; what was stored before is untouched";
        case SQLITE_BUSY: return fmt::format("; another process has held it for {} ms", patience.count());
        case SQLITE_CANTOPEN:
        case SQLITE_IOERR:
        case SQLITE_READONLY: return "; JITGEMM_TUNING_DIR can name another folder";
        default: return {};
    }
}

}  // namespace

bool SqliteError::is_damage() const {
    return (code_ & kPrimaryCode) == SQLITE_CORRUPT || (code_ & kPrimaryCode) == SQLITE_NOTADB;
}

bool SqliteError::is_busy() const { return (code_ & kPrimaryCode) == SQLITE_BUSY; }

bool SqliteError::is_for_want_of_a_journal() const {
    return (code_ & kPrimaryCode) == SQLITE_CANTOPEN || (code_ & kPrimaryCode) == SQLITE_READONLY;
}

// ---- Statement ------------------------------------------------------------------------------------------------------

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::check(int code) const { database_->check(code); }

Statement& Statement::bind_integer(std::int64_t value) {
    check(sqlite3_bind_int64(statement_.get(), ++bound_, value));
    return *this;
}

Statement& Statement::bind_next(double value) {
    check(sqlite3_bind_double(statement_.get(), ++bound_, value));
    return *this;
}

Statement& Statement::bind_next(std::string_view value) {
    const char* const text = value.empty() ? "" : value.data();  // a null pointer would be a NULL
    check(sqlite3_bind_text64(statement_.get(), ++bound_, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

bool Statement::step() {
    const ForkGuard guard;
    database_->work_->periods = 0;
    database_->check_rows(++rows_);
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) check(code);
    return false;
}

void Statement::run() {
    while (step()) {
    }
}

void Statement::reset() {
    sqlite3_reset(statement_.get());  // its code is the last step's, which was told already
    bound_ = 0;
    rows_ = 0;
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
    const unsigned char* const bytes = sqlite3_column_text(statement_.get(), column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    return bytes == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(bytes), size);
}

// ---- Database -------------------------------------------------------------------------------------------------------

void Database::Closer::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Database::Database(std::string path, Access access, std::chrono::milliseconds patience)
    : path_(std::move(path)), patience_(patience), work_(std::make_unique<Work>()) {
    const ForkGuard guard;
    work_->path = path_;
    // A file that is only read is opened for writing all the same: the last to close a write-ahead log removes it.
    const int flags = SQLITE_OPEN_READWRITE | (access == Access::create ? SQLITE_OPEN_CREATE : 0);
    try {
        open(uri_of(path_, ""), flags);
        if (access == Access::read) execute("PRAGMA query_only = 1; SELECT count(*) FROM sqlite_schema");
    } catch (const SqliteError& error) {
        // In a folder that cannot be written a write-ahead log has no place; a file at rest can be read without.
        if (access != Access::read || !error.is_for_want_of_a_journal() || !is_whole(path_)) throw;
        open(uri_of(path_, "immutable=1"), SQLITE_OPEN_READONLY);
    }
}

void Database::open(const std::string& uri, int flags) {
    sqlite3* connection = nullptr;
    const int code = sqlite3_open_v2(uri.c_str(), &connection, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    connection_.reset(connection);
    check(code);
    check(sqlite3_extended_result_codes(connection, 1));
    check(sqlite3_busy_timeout(connection, static_cast<int>(patience_.count())));
    defend();
}

// ---- a file that nobody vouches for ---------------------------------------------------------------------------------

/// As https://www.sqlite.org/security.html has it.
void Database::defend() {
    constexpr int kMostBytesOfAValue = 1 << 26;
    sqlite3* const connection = connection_.get();
    sqlite3_progress_handler(connection, kPeriod, count_period, work_.get());
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kMostBytesOfAValue);
    check(sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
    execute("PRAGMA cell_size_check = 1");
}

std::uint64_t Database::Work::bytes_on_disk() const {
    std::uint64_t sum = 0;
    for (const std::string& file : {path, path + "-wal", attached, attached + "-wal"}) {
        std::error_code error;
        const std::uintmax_t size = std::filesystem::file_size(file, error);
        if (!error) sum += size;
    }
    return sum;
}

int Database::count_period(void* work) {
    auto* const own = static_cast<Work*>(work);
    if (++own->periods % kLeastPeriods != 0) return 0;
    return own->periods > kPeriodsPerMegabyte * (own->bytes_on_disk() >> 20U) ? 1 : 0;
}

/// Every row takes a byte at least.
void Database::check_rows(std::uint64_t rows) const {
    constexpr std::uint64_t kInterval = std::uint64_t{1} << 16;
    if (rows % kInterval != 0 || rows <= work_->bytes_on_disk()) return;
    throw SqliteError(fmt::format("tuning store {}: it has more rows than bytes", path_), SQLITE_CORRUPT);
}

void Database::check(int code) const {
    if (code == SQLITE_OK) return;
    if (code == SQLITE_INTERRUPT)  // by count_period() alone
        throw SqliteError(fmt::format("tuning store {}: reading it does not end", path_), SQLITE_CORRUPT);
    const char* const words = connection_ ? sqlite3_errmsg(connection_.get()) : sqlite3_errstr(code);
    throw SqliteError(
        fmt::format("{}: {}{}{}", path_, words, system_reason(code, connection_.get(), path_), advice(code, patience_)),
        code);
}

Statement Database::prepare(std::string_view sql) {
    const ForkGuard guard;
    work_->periods = 0;
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
    return {*this, statement};
}

void Database::execute(const std::string& sql) {
    const ForkGuard guard;
    work_->periods = 0;
    check(sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

std::int64_t Database::integer(std::string_view sql) {
    Statement statement = prepare(sql);
    return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(std::string_view sql) {
    Statement statement = prepare(sql);
    return statement.step() ? statement.text(0) : std::string();
}

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(connection_.get()); }

std::int64_t Database::total_changes() const { return sqlite3_total_changes64(connection_.get()); }

// ---- Attachment -----------------------------------------------------------------------------------------------------

Attachment::Attachment(Database& database, const std::string& path, std::string name)
    : database_(database), name_(std::move(name)) {
    database_.work_->attached = path;
    try {
        attach(uri_of(path, "mode=rw"));
    } catch (const SqliteError& error) {
        if (!error.is_for_want_of_a_journal() || !is_whole(path)) throw;
        attach(uri_of(path, "immutable=1"));
    }
}

/// Nothing stays attached when its first read fails.
void Attachment::attach(const std::string& uri) {
    database_.prepare("ATTACH ? AS " + name_).bind(uri).run();
    try {
        static_cast<void>(database_.integer(fmt::format("SELECT count(*) FROM {}.sqlite_schema", name_)));
    } catch (const SqliteError&) {
        database_.execute("DETACH " + name_);
        throw;
    }
}

Attachment::~Attachment() {
    try {
        database_.execute("DETACH " + name_);
    } catch (const SqliteError& error) {
        log().debug("{}", error.what());
    }
    database_.work_->attached.clear();
}

// ---- Transaction ----------------------------------------------------------------------------------------------------

Transaction::Transaction(Database& database, Access access) : database_(database) {
    database_.execute(access == Access::read ? "BEGIN" : "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
    if (!open_) return;
    try {
        database_.execute("ROLLBACK");
    } catch (const SqliteError& error) {  // SQLite rolls back by itself on a full disk
        log().debug("{}", error.what());
    }
}

void Transaction::commit() {
    database_.execute("COMMIT");
    open_ = false;
}

}  // namespace jitgemm::tuning::sqlite
