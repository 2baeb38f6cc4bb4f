#pragma once

#include "jitgemm/error.hpp"
#include "runtime/support/fork.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

/// \file SQLite's C interface with owners and exceptions. No other header knows SQLite, and this one does not know
/// tuning.

namespace jitgemm::tuning::sqlite {

/// A failed call. what() has the file and SQLite's message.
class SqliteError : public Error {
public:
    SqliteError(const std::string& message, int code) : Error(message), code_(code) {}
    [[nodiscard]] bool is_damage() const;                 ///< SQLITE_CORRUPT or SQLITE_NOTADB
    [[nodiscard]] bool is_busy() const;                   ///< locked by another process for longer than the patience
    [[nodiscard]] bool is_for_want_of_a_journal() const;  ///< its folder does not accept a journal
    [[nodiscard]] int code() const { return code_; }      ///< extended result code

private:
    int code_;
};

/// One prepared statement. Parameters are bound in order; reset() makes it ready for the next values.
class Statement {
public:
    template <typename... Values>
    Statement& bind(const Values&... values) {
        (bind_next(values), ...);
        return *this;
    }
    Statement& bind_next(std::integral auto value) { return bind_integer(static_cast<std::int64_t>(value)); }
    Statement& bind_next(double value);
    Statement& bind_next(std::string_view value);

    /// Returns whether there is a row, or another one.
    [[nodiscard]] bool step();
    /// Runs a statement to its end without reading its rows.
    void run();
    void reset();

    /// Read the current row. Columns count from 0.
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string text(int column) const;

private:
    friend class Database;
    struct Finalizer {
        void operator()(sqlite3_stmt* statement) const;
    };
    Statement(class Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
    Statement& bind_integer(std::int64_t value);
    void check(int code) const;

    class Database* database_;
    std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
    int bound_ = 0;
    std::uint64_t rows_ = 0;  ///< since it was made or reset
};

enum class Access : std::uint8_t {
    create,  ///< read and write; made if it does not exist
    write,   ///< read and write; must exist
    read,    ///< never writes; must exist. A file in a folder that cannot be written is read as it is
};

/// One connection, for one thread at a time.
class Database {
public:
    /// Waits at most `patience` for others' locks, now and in every call. Throws SqliteError.
    Database(std::string path, Access access, std::chrono::milliseconds patience);

    [[nodiscard]] Statement prepare(std::string_view sql);
    /// One or more statements without parameters.
    void execute(const std::string& sql);
    /// The first column of the first row; 0 or "" if there is none.
    [[nodiscard]] std::int64_t integer(std::string_view sql);
    [[nodiscard]] std::string text(std::string_view sql);

    [[nodiscard]] std::int64_t last_row() const;       ///< rowid of the last insert
    [[nodiscard]] std::int64_t total_changes() const;  ///< rows inserted, changed or deleted since the opening
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    friend class Statement;
    friend class Attachment;
    struct Closer {
        void operator()(sqlite3* connection) const;
    };
    void open(const std::string& uri, int flags);
    void defend();
    void check(int code) const;
    void check_rows(std::uint64_t rows) const;

    /// The work of one step of SQLite's machine, and the size of the files that it may read: a page that leads back to
    /// itself would never end.
    struct Work {
        std::string path;
        std::string attached;
        std::uint64_t periods = 0;  ///< of a fixed number of instructions
        [[nodiscard]] std::uint64_t bytes_on_disk() const;
    };
    static int count_period(void* work);

    std::string path_;
    std::chrono::milliseconds patience_;
    std::unique_ptr<Work> work_;  ///< before the connection, which points to it
    std::unique_ptr<sqlite3, Closer> connection_;
};

/// Another database's tables under their own schema name, for reading, as long as the object lives. No transaction may
/// be open at its begin and end. Throws SqliteError.
class Attachment {
public:
    Attachment(Database& database, const std::string& path, std::string name);
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
    ~Attachment();

private:
    void attach(const std::string& uri);

    Database& database_;
    std::string name_;
};

/// The work until commit() happens as a whole or, if the object ends before, not at all. A writing transaction takes
/// the lock at once, so that it does not fail later because of another. A reading one takes none: everything read
/// within it is from one moment, whatever others write meanwhile.
class Transaction {
public:
    explicit Transaction(Database& database, Access access = Access::write);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    void commit();

private:
    ForkGuard guard_;  // a child would take its parent's file locks for its own
    Database& database_;
    bool open_ = true;
};

}  // namespace jitgemm::tuning::sqlite
