// Files from elsewhere that try to crash their reader, to keep it busy for ever or to take all memory.

#include "generator/base/condition.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/layout/layout_expression.hpp"
#include "runtime/cache/cache_meta.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/json_limits.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/tuned_records.hpp"
#include "runtime/tuning/store/wisdom.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/ptx_run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tuning_records.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

const std::string kDeep = repeated("[", 100000) + repeated("]", 100000);
const std::string kWisdomHeader = "{\"jitgemm wisdom\":1}\n";

/// The meta.json of a kernel with one field changed, and the checksum over what it holds then.
std::string meta_with(const std::string& pointer, const nlohmann::json& value) {
    CacheMeta meta;
    meta.name = "kernel";
    nlohmann::json fields = nlohmann::json::parse(to_json(meta));
    fields[nlohmann::json::json_pointer(pointer)] = value;
    fields.erase("checksum");
    fields["checksum"] = hash_hex(fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return fields.dump();
}

}  // namespace

// ---- JSON -----------------------------------------------------------------------------------------------------------

TEST_CASE("JSON that nests too deep or has too many members is refused before it is parsed") {
    CHECK_NOTHROW(check_json_limits(repeated("[", 64) + repeated("]", 64)));
    CHECK_THROWS_WITH(check_json_limits(repeated("[", 65) + repeated("]", 65)), ContainsSubstring("deeper than 64"));
    CHECK_THROWS_WITH(check_json_limits(repeated("{\"a\":", 65)), ContainsSubstring("deeper than 64"));
    CHECK_NOTHROW(check_json_limits("\"" + repeated("[", 100) + R"(\"{{)" + "\""));
    CHECK_NOTHROW(check_json_limits("\"never ends \\"));
    CHECK_NOTHROW(check_json_limits(repeated("[],", 5000) + repeated("]", 100)));
    CHECK_NOTHROW(check_json_limits("{" + repeated("\"a\":1,", 1000) + "}"));
    CHECK_THROWS_WITH(check_json_limits("{" + repeated("\"a\":1,", 1001) + "}"), ContainsSubstring("1000 members"));
}

TEST_CASE("wisdom whose values nest deep ends no stack") {
    const std::string good = json_line(winner_for(kOtherSpec)) + "\n";
    Json line = winner_for(kTunedSpec);
    line["kernel"] = "HERE";
    std::string deep = json_line(line);
    deep.replace(deep.find("\"HERE\""), 6, kDeep);
    const Wisdom wisdom = parse_wisdom(kWisdomHeader + good + deep, "w");
    CHECK(wisdom.winners.size() == 1);
    REQUIRE(wisdom.problems.size() == 1);
    CHECK_THAT(wisdom.problems[0], ContainsSubstring("w:3: its JSON nests deeper than 64 levels"));
    CHECK_THROWS_AS(parse_wisdom("{\"jitgemm wisdom\":" + kDeep + "}\n", "w"), WisdomError);
}

TEST_CASE("a meta.json that nests deep, or whose numbers are none, is damaged and nothing else") {
    CHECK_NOTHROW(parse_cache_meta(meta_with("/ptxas/registers", 255)));
    CHECK_THROWS_WITH(parse_cache_meta("{\"checksum\":\"\",\"name\":" + kDeep + "}"), ContainsSubstring("deeper"));
    for (const nlohmann::json& value :
         {nlohmann::json(1e300), nlohmann::json(std::int64_t{1} << 40), nlohmann::json(1.5)})
        CHECK_THROWS_WITH(parse_cache_meta(meta_with("/ptxas/registers", value)), ContainsSubstring("registers"));
    CHECK_THROWS_WITH(parse_cache_meta(meta_with("/binary/bytes", -1)), ContainsSubstring("bytes"));
    CHECK_THROWS_WITH(parse_cache_meta(meta_with("/key/body_bytes", -1)), ContainsSubstring("body_bytes"));
}

// ---- kernels that are only named ------------------------------------------------------------------------------------

TEST_CASE("the model is not asked of a heuristic's kernel that breaks the rules") {
    const GemmSpec asked{.m = 4096, .n = 512, .k = 1056};
    const GpuModel& h200 = find_gpu("h200");
    Winner winner = winner_for(kTunedSpec);
    KernelId impossible = parse_kernel_name(winner.heuristic_kernel);
    impossible.config = with_parameters(impossible.config, {{"block", "65536x65536x64"}});
    winner.heuristic_kernel = kernel_name(impossible);
    const TunedChoices choices({winner}, h200_facts().versions);
    CHECK(choices.choose(problem_of(asked), h200).source != ChoiceSource::exact);
}

// ---- templates ------------------------------------------------------------------------------------------------------

TEST_CASE("a template's condition that nests without end, or whose value overflows, is refused") {
    const std::map<std::string, int, std::less<>> macros{{"GEMM_A", 1}};
    const std::string large = "2147483647 * 2147483647 * 2";
    CHECK(evaluate_condition(repeated("!", 200) + "GEMM_A", macros) == 1);
    CHECK_THROWS_WITH(evaluate_condition(repeated("!", 100000) + "GEMM_A", macros), ContainsSubstring("deeper than"));
    CHECK_THROWS_WITH(evaluate_condition(repeated("(", 100000) + "GEMM_A", macros), ContainsSubstring("deeper than"));
    CHECK(evaluate_condition(large + " > GEMM_A", macros) == 1);
    CHECK_THROWS_WITH(evaluate_condition(large + " * GEMM_A * 2", macros), ContainsSubstring("exceeds 63 bits"));
    CHECK_THROWS_WITH(evaluate_condition("-(" + large + ") - (" + large + ")", macros), ContainsSubstring("63 bits"));
}

// ---- layouts --------------------------------------------------------------------------------------------------------

TEST_CASE("the least of all integers is none of a layout's: it has no absolute value") {
    CHECK_THROWS_WITH(evaluate_layout_expression("4:-9223372036854775808"), ContainsSubstring("exceeds 63 bits"));
    CHECK_THROWS_WITH(evaluate_layout_expression("Swizzle<-9223372036854775808,0,3>"), ContainsSubstring("63 bits"));
    CHECK_NOTHROW(evaluate_layout_expression("4:-2305843009213693951"));
}

// ---- PTX ------------------------------------------------------------------------------------------------------------

namespace {

std::string refusal_of_module(const std::string& text) {
    try {
        static_cast<void>(emulator::load_program(".version 8.0\n.target sm_80\n.address_size 64\n" + text));
    } catch (const emulator::PtxError& error) {
        return error.what();
    }
    return "none";
}

std::string refusal_of_statement(const std::string& statement) {
    return refusal_of_module(".entry k() {\n" + statement + "\nret;\n}");
}

}  // namespace

TEST_CASE("emulator PTX: what nests without end is refused") {
    CHECK_THAT(refusal_of_statement("mov.b32 " + repeated("{", 100000)), ContainsSubstring("operands nest deeper"));
    CHECK_THAT(refusal_of_statement("mov.b32 " + repeated("[", 100000)), ContainsSubstring("operands nest deeper"));
    CHECK_THAT(refusal_of_statement(repeated("{", 100000)), ContainsSubstring("braces nest deeper"));
    CHECK_THAT(refusal_of_module(".global .b8 x[4] = " + repeated("{", 100000)),
               ContainsSubstring("values nest deeper"));
}

TEST_CASE("emulator PTX: a few letters cannot declare more than a GPU has") {
    CHECK_THAT(refusal_of_statement(".reg .b32 %r<2000000000>;"), ContainsSubstring("registers"));
    CHECK_THAT(refusal_of_statement(".reg .b32 %r<-5>;"), ContainsSubstring("registers"));
    CHECK_THAT(refusal_of_statement(repeated(".reg .b32 %r<200000>;", 2)), ContainsSubstring("registers in all"));
    CHECK_THAT(refusal_of_module(".global .b8 x[9223372036854775807];"), ContainsSubstring("too large"));
    CHECK_THAT(refusal_of_module(".global .b64 x[4294967296][4294967296];"), ContainsSubstring("too large"));
    CHECK_THAT(refusal_of_module(repeated(".global .b8 x[200000000] = {1};", 2)), ContainsSubstring("in all"));
    CHECK_THAT(refusal_of_module(".shared .b8 x[300000]; .entry k() { ret; }"), ContainsSubstring("shared memory"));
    CHECK_THAT(refusal_of_statement(".local .b8 x[600000];"), ContainsSubstring("local memory"));
    CHECK_THAT(refusal_of_module(".entry k(.param .b8 x[100000]) { ret; }"), ContainsSubstring("parameters"));
    CHECK_THAT(refusal_of_module(".global .align 0 .b8 x[4];"), ContainsSubstring("alignment of 0"));
    CHECK_THAT(refusal_of_module(".global .align 4611686018427387904 .b8 x[4];"), ContainsSubstring("alignment"));
}

TEST_CASE("emulator PTX: numbers beyond their type are refused or cut, never undefined") {
    CHECK_THAT(refusal_of_module(".entry k() .maxntid 9223372036854775807, 9223372036854775807 { ret; }"),
               ContainsSubstring("extent"));
    CHECK_THROWS_WITH(emulator::load_program(".version 99999999999.0\n"), ContainsSubstring("malformed .version"));
    CHECK_THROWS_WITH(emulator::load_program(".version 8.0e5\n"), ContainsSubstring("malformed .version"));
    const auto program = emulator::load_program(".version 8.0\n.target sm_99999999999999\n.entry k() { ret; }");
    CHECK(program->compute_capability() >= 90);
    CHECK_THAT(refusal_of_statement(".reg .b32 %r<4>;\nmov.u32 %r99999999999, 1;"), ContainsSubstring("%r99999999999"));
}

TEST_CASE("emulator: calls whose frames would take all memory are refused") {
    const std::string recursion = R"(
.func deep()
{
    .local .align 16 .b8 stack[524288];
    .reg .b64 %a;
    mov.u64 %a, stack;
    call.uni deep, ();
    ret;
}
)";
    const std::optional<Fault> fault = fault_of({.body = "call.uni deep, ();", .functions = recursion});
    REQUIRE(fault.has_value());
    CHECK(fault->kind == emulator::FaultKind::unsupported);
    CHECK_THAT(fault->text, ContainsSubstring("nested activations"));
}

// ---- SQLite ---------------------------------------------------------------------------------------------------------

namespace {

class Sql {
public:
    explicit Sql(const std::string& path) {
        sqlite3* database = nullptr;
        REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
        database_.reset(database);
    }
    void execute(const std::string& sql) {
        INFO(sql);
        REQUIRE(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    }
    std::size_t integer(const std::string& sql) {
        std::size_t number = 0;
        const auto take = [](void* to, int, char** texts, char**) {
            *static_cast<std::size_t*>(to) = std::stoul(texts[0]);
            return 0;
        };
        REQUIRE(sqlite3_exec(database_.get(), sql.c_str(), take, &number, nullptr) == SQLITE_OK);
        return number;
    }

private:
    struct Closer {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    std::unique_ptr<sqlite3, Closer> database_;
};

/// A store of one winner, changed by that SQL.
std::string changed_store(const TemporaryFolder& folder, const std::string& sql) {
    REQUIRE(TuningStore(folder.path()).add_winners({winner_for(kTunedSpec)}) == 1);
    Sql(folder / "tuning.sqlite").execute(sql);
    return folder / "tuning.sqlite";
}

/// A reader's complaint about the store, which gives it no winner.
std::string refusal_of_store(const TemporaryFolder& folder) {
    const StoredWinners stored = stored_winners(folder.path());
    CHECK(stored.winners.empty());
    return stored.problems.size() == 1 ? stored.problems[0] : fmt::format("{} problems", stored.problems.size());
}

constexpr std::size_t kPage = 512;

void put_big_endian(std::string& bytes, std::size_t at, std::size_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(value >> 8 * (count - 1 - i) & 0xFFU);
}

/// An interior page of a table: 20 children and the last, all of them one page.
std::string page_of_children(std::size_t child) {
    constexpr std::size_t kChildren = 20;
    constexpr std::size_t kHeader = 12;
    constexpr std::size_t kCell = 5;
    std::string page(kPage, '\0');
    page[0] = 5;
    put_big_endian(page, 3, kChildren, 2);
    put_big_endian(page, 5, kPage - kChildren * kCell, 2);
    put_big_endian(page, 8, child, 4);
    for (std::size_t i = 0; i < kChildren; ++i) {
        const std::size_t cell = kPage - (i + 1) * kCell;
        put_big_endian(page, kHeader + 2 * i, cell, 2);
        put_big_endian(page, cell, child, 4);
        page[cell + 4] = static_cast<char>(i + 1);
    }
    return page;
}

/// The table's one page of rows gets 15 levels of pages above it. Each leads 21 times to the next.
void grow_tree(const std::string& file, std::size_t root) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(bytes.size() % kPage == 0);
    std::size_t child = bytes.size() / kPage + 1;
    bytes += bytes.substr((root - 1) * kPage, kPage);
    for (int level = 0; level < 14; ++level) bytes += page_of_children(child++);
    bytes.replace((root - 1) * kPage, kPage, page_of_children(child));
    put_big_endian(bytes, 28, bytes.size() / kPage, 4);
    std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a store is tables: a view or a generated column in their place is not run") {
    const TemporaryFolder folder;
    const char* rename = "PRAGMA journal_mode = DELETE; ALTER TABLE winners RENAME TO w; ";
    SECTION("a view without end") {
        changed_store(folder,
                      std::string(rename) +
                          "CREATE VIEW winners AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                          "SELECT w.* FROM n, w");
    }
    SECTION("a column made up as it is read") {
        changed_store(folder, std::string(rename) +
                                  "CREATE TABLE winners AS SELECT * FROM w; ALTER TABLE winners DROP "
                                  "COLUMN kernel; ALTER TABLE winners ADD COLUMN kernel TEXT AS "
                                  "(hex(zeroblob(30000000)))");
    }
    CHECK_THAT(refusal_of_store(folder), ContainsSubstring("is a database of something else"));
}

TEST_CASE("a store whose pages lead back to each other is damaged, not endless") {
    const TemporaryFolder folder;
    const std::string file = changed_store(
        folder,
        "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; ALTER TABLE winners RENAME TO w; CREATE TABLE "
        "winners AS SELECT * FROM w; DROP TABLE w; VACUUM");
    CHECK(stored_winners(folder.path()).winners.size() == 1);
    const std::size_t root = Sql(file).integer("SELECT rootpage FROM sqlite_schema WHERE name = 'winners'");
    grow_tree(file, root);
    CHECK_THAT(refusal_of_store(folder), ContainsSubstring("does not end"));
}

TEST_CASE("a stored winner of an impossible problem is passed over and does not spoil the others") {
    const TemporaryFolder folder;
    REQUIRE(TuningStore(folder.path()).add_winners({winner_for(kTunedSpec), winner_for(kOtherSpec)}) == 2);
    Sql(folder / "tuning.sqlite").execute("UPDATE winners SET spec = replace(spec, 'm=17 ', 'm=-17 ')");
    const CapturedLog captured;
    CHECK(stored_winners(folder.path()).winners.size() == 1);
    CHECK(captured.lines_with("a winner is skipped") == 1);
}
