#include "runtime/bench/peer_library.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::TemporaryFolder;

namespace {

/// Compiles a peer written in C, as its author would. False where there is no C compiler.
bool compile_peer(const TemporaryFolder& folder, const std::string& name, const std::string& text,
                  const std::string& headers = "include") {
    std::ofstream(folder / (name + ".c"))
        << "#include <jitgemm/jitgemm_peer.h>\n#include <stdlib.h>\n#include <string.h>\n"
        << text;
    const std::string command =
        fmt::format("cc -std=c99 -Wall -Werror -pedantic -shared -fPIC -I {}/{} {} -o {} 2>/dev/null",
                    JITGEMM_SOURCE_DIR, headers, folder / (name + ".c"), folder / (name + ".so"));
    return std::system(command.c_str()) == 0;
}

/// Writes the variant's number where D is; takes row-major A only.
constexpr const char* kPeer = R"(
int jitgemm_peer_gemm(const struct jitgemm_peer_problem *p, const void *a, const void *b, const void *c, void *d,
                      void *stream) {
    (void)a; (void)b; (void)c; (void)stream;
    if (p->order_a != 't') return 3;
    *(float *)d = p->alpha * 100 + (float)p->variant;
    return 0;
}
const char *jitgemm_peer_name(void) { return "a peer in C"; }
int jitgemm_peer_variants(const struct jitgemm_peer_problem *p) { return strcmp(p->type_a, "f32") == 0 ? 2 : 0; }
)";

constexpr const char* kPlainPeer = R"(
int jitgemm_peer_gemm(const struct jitgemm_peer_problem *p, const void *a, const void *b, const void *c, void *d,
                      void *stream) {
    (void)p; (void)a; (void)b; (void)c; (void)d; (void)stream;
    return 1;
}
)";

/// Writes what it was told of the epilogue's operands where D is: of each its value, or what it points to.
constexpr const char* kPeerWithEpilogues = R"(
int jitgemm_peer_gemm(const struct jitgemm_peer_problem *p, const void *a, const void *b, const void *c, void *d,
                      void *stream) {
    uint64_t i;
    (void)a; (void)b; (void)c; (void)stream;
    if (p->size < sizeof *p || p->operand_size < sizeof *p->operands) return 4;
    for (i = 0; i < p->operand_count; ++i) {
        const struct jitgemm_peer_operand *one =
            (const struct jitgemm_peer_operand *)((const char *)p->operands + i * p->operand_size);
        ((float *)d)[i] = one->type ? *(const float *)one->pointer : one->value;
    }
    return 0;
}
int jitgemm_peer_variants(const struct jitgemm_peer_problem *p) {
    return p->epilogue != NULL && strstr(p->epilogue, "relu") != NULL ? 1 : 0;
}
int jitgemm_peer_version(void) { return JITGEMM_PEER_VERSION; }
)";

/// D of an A and a B of ones: sums of the scales of A, times the K of their blocks.
constexpr const char* kScalingPeer = R"(
int jitgemm_peer_gemm(const struct jitgemm_peer_problem *p, const void *a, const void *b, const void *c, void *d,
                      void *stream) {
    const struct jitgemm_peer_operand *sa = p->operands;
    int64_t row, block, k;
    (void)a; (void)b; (void)c; (void)stream;
    if (strcmp(p->sums, "promoted") != 0 || sa->order != 't' || sa->row_index == NULL) return 5;
    for (row = 0; row < p->m; ++row)
        for (((float *)d)[row] = 0, block = 0; block * 128 < p->k; ++block) {
            int blocks_are_rows = strcmp(sa->row_index, "k/128") == 0;
            k = p->k - block * 128 < 128 ? p->k - block * 128 : 128;
            ((float *)d)[row] += (float)k * ((const float *)sa->pointer)[blocks_are_rows ? block * sa->ld + row
                                                                                          : row * sa->ld + block];
        }
    return 0;
}
int jitgemm_peer_version(void) { return JITGEMM_PEER_VERSION; }
)";

GemmSpec with_epilogue(const char* text) {
    return resolved(
        {.m = 8, .n = 16, .k = 24, .a = DataType::f32, .b = DataType::f32, .d = DataType::f32, .epilogue = text});
}

GemmSpec float_problem(GemmLayout layout = GemmLayout::tn) {
    return resolved(
        {.m = 8, .n = 16, .k = 24, .a = DataType::f32, .b = DataType::f32, .d = DataType::f32, .layout = layout});
}

}  // namespace

TEST_CASE("a peer is told the whole problem") {
    GemmSpec spec{
        .m = 8, .n = 16, .k = 24, .c = DataType::f32, .layout = GemmLayout::nt, .d_order = Order::column, .align_b = 4};
    const jitgemm_peer_problem problem = peer_problem(resolved(spec));
    CHECK(problem.version == JITGEMM_PEER_VERSION);
    CHECK(problem.m == 8);
    CHECK(problem.n == 16);
    CHECK(problem.k == 24);
    CHECK(std::string(problem.type_a) == "bf16");
    CHECK(std::string(problem.type_c) == "f32");
    CHECK(std::string(problem.type_accumulator) == "f32");
    CHECK(problem.order_a == 'n');
    CHECK(problem.order_b == 't');
    CHECK(problem.order_d == 'n');
    CHECK(problem.lda == 8);
    CHECK(problem.ldb == 16);
    CHECK(problem.ldd == 8);
    CHECK(problem.align_a == 256);
    CHECK(problem.align_b == 4);
    CHECK(peer_problem(float_problem()).type_c == nullptr);
}

TEST_CASE("a peer's structs keep the places of their fields") {
    // Those of version 1 end where this header's `size` begins: a library of that version reads no further.
    CHECK(offsetof(jitgemm_peer_problem, type_a) == 32);
    CHECK(offsetof(jitgemm_peer_problem, lda) == 72);
    CHECK(offsetof(jitgemm_peer_problem, alpha) == 124);
    CHECK(offsetof(jitgemm_peer_problem, size) == 136);
    CHECK(offsetof(jitgemm_peer_problem, sums) == 176);
    CHECK(sizeof(jitgemm_peer_problem) == 192);
    CHECK(offsetof(jitgemm_peer_operand, row_index) == 56);
    CHECK(sizeof(jitgemm_peer_operand) == 80);
}

TEST_CASE("a peer is told the operands of an epilogue") {
    GemmSpec spec = with_epilogue("limit: f32; bias: bf16[n]; d = clamp(acc + bias[n] + x[m,n] * w[m], -limit, limit)");
    spec.epilogue = spec.epilogue.with("x", {.ld = 20, .align = 4});
    const std::vector<jitgemm_peer_operand> operands = peer_operands(spec);
    const jitgemm_peer_problem problem = peer_problem(spec);
    CHECK(problem.size == sizeof problem);
    REQUIRE(problem.operand_count == operands.size());
    REQUIRE(operands.size() == 4);
    const auto named = [&](std::string_view name) {
        return *std::ranges::find_if(operands, [&](const auto& operand) { return operand.name == name; });
    };
    CHECK(std::string(named("bias").type) == "bf16");
    CHECK(named("bias").rows == 1);
    CHECK(named("bias").columns == 16);
    CHECK(named("bias").align == 256);
    CHECK(named("w").rows == 8);
    CHECK(named("w").columns == 1);
    CHECK(named("x").rows == 8);
    CHECK(named("x").columns == 16);
    CHECK(named("x").ld == 20);
    CHECK(named("x").align == 4);
    CHECK(named("limit").type == nullptr);
    CHECK(peer_problem(float_problem()).epilogue == nullptr);
    CHECK(peer_operands(float_problem()).empty());
}

TEST_CASE("a peer of version 2 gets an epilogue's text, addresses and scalars") {
    const TemporaryFolder folder;
    if (!compile_peer(folder, "fused", kPeerWithEpilogues)) SKIP_TEST("there is no C compiler");
    const std::unique_ptr<Peer> peer = open_peer_library(folder / "fused.so", nullptr);
    std::string reason;
    const auto candidates = peer->candidates(with_epilogue("limit: f32; d = relu(acc + bias[n]) * limit"), reason);
    REQUIRE(candidates.size() == 1);
    const float bias = 5;
    std::array<float, 2> d{};
    GemmArguments arguments;
    arguments.d = d.data();
    arguments.operands = {{"limit", 7.0F}, {"bias", &bias}};
    candidates[0].launch(arguments, nullptr);
    CHECK(d == std::array{5.0F, 7.0F});
    CHECK(peer->candidates(with_epilogue("d = gelu(acc)"), reason).empty());
    CHECK_THAT(reason, ContainsSubstring("gelu(acc)"));
}

TEST_CASE("a peer that was compiled with the header of version 2 gets what that header has") {
    const TemporaryFolder folder;
    if (!compile_peer(folder, "older", kPeerWithEpilogues, "tests/data/abi/peer2")) SKIP_TEST("there is no C compiler");
    const std::unique_ptr<Peer> peer = open_peer_library(folder / "older.so", nullptr);
    std::string reason;
    const auto candidates = peer->candidates(with_epilogue("limit: f32; d = relu(acc + bias[n]) * limit"), reason);
    REQUIRE(candidates.size() == 1);
    const float bias = 5;
    std::array<float, 2> d{};
    GemmArguments arguments;
    arguments.d = d.data();
    arguments.operands = {{"limit", 7.0F}, {"bias", &bias}};
    candidates[0].launch(arguments, nullptr);
    CHECK(d == std::array{5.0F, 7.0F});
}

TEST_CASE("a peer is told where scales of blocks lie, and how sums are added") {
    GemmSpec spec{.m = 300, .n = 256, .k = 700, .a = DataType::e4m3, .b = DataType::e4m3};
    spec.d_order = Order::column;
    spec.epilogue = EpilogueText("d = acc * sa[k/128,m] * sb[n/128,k/128] + x[m,n] + bias[n]").with("sa", {.ld = 304});
    const GemmSpec asked = resolved(spec);
    const std::vector<jitgemm_peer_operand> operands = peer_operands(asked);
    const auto named = [&](std::string_view name) {
        return *std::ranges::find_if(operands, [&](const auto& operand) { return operand.name == name; });
    };
    const jitgemm_peer_operand of_a = named("sa"), of_b = named("sb"), x = named("x"), bias = named("bias");
    CHECK(std::string(of_a.row_index) == "k/128");
    CHECK(std::string(of_a.column_index) == "m");
    CHECK(of_a.order == 't');
    CHECK(of_a.rows == 6);
    CHECK(of_a.columns == 300);
    CHECK(of_a.ld == 304);
    CHECK(std::string(of_b.row_index) == "n/128");
    CHECK(std::string(of_b.column_index) == "k/128");
    CHECK(of_b.order == 't');
    CHECK(of_b.rows == 2);
    CHECK(of_b.columns == 6);
    CHECK(of_b.ld == 6);
    CHECK(std::string(x.row_index) == "m");
    CHECK(x.order == 'n');
    CHECK(bias.row_index == nullptr);
    CHECK(std::string(bias.column_index) == "n");
    CHECK(std::string(peer_problem(asked).sums) == "promoted");
    CHECK(std::string(peer_problem(asked).math) == "ieee");
    GemmSpec in_parts = float_problem();
    in_parts.math = Math::f16x3;
    CHECK(std::string(peer_problem(in_parts).sums) == "fast");
    CHECK(std::string(peer_problem(in_parts).math) == "f16x3");
}

TEST_CASE("a peer of version 3 scales blocks by what it was told of them") {
    const TemporaryFolder folder;
    if (!compile_peer(folder, "scaling", kScalingPeer)) SKIP_TEST("there is no C compiler");
    const std::unique_ptr<Peer> peer = open_peer_library(folder / "scaling.so", nullptr);
    for (const char* const text : {"d = acc * sa[m,k/128]", "d = acc * sa[k/128,m]"}) {
        INFO(text);
        GemmSpec spec{.m = 2, .n = 1, .k = 300, .a = DataType::e4m3, .b = DataType::e4m3, .d = DataType::f32};
        spec.epilogue = EpilogueText(text).with("sa", {.ld = 4});
        std::string reason;
        const auto candidates = peer->candidates(resolved(spec), reason);
        REQUIRE(candidates.size() == 1);
        const bool by_row = std::string_view(text).find("[m") != std::string_view::npos;
        std::array<float, 12> scales{};
        for (std::size_t row = 0; row < 2; ++row)
            for (std::size_t block = 0; block < 3; ++block)
                scales.at(by_row ? row * 4 + block : block * 4 + row) = static_cast<float>(10 * row + block + 1);
        std::array<float, 2> d{};
        GemmArguments arguments;
        arguments.d = d.data();
        arguments.operands = {{"sa", scales.data()}};
        candidates[0].launch(arguments, nullptr);
        CHECK(d == std::array{128.0F * 1 + 128 * 2 + 44 * 3, 128.0F * 11 + 128 * 12 + 44 * 13});
    }
}

TEST_CASE("a peer of version 1 computes problems without an epilogue, and is passed over for others") {
    const TemporaryFolder folder;
    if (!compile_peer(folder, "peer", kPeer)) SKIP_TEST("there is no C compiler");
    const std::unique_ptr<Peer> peer = open_peer_library(folder / "peer.so", nullptr);
    std::string reason;
    CHECK(peer->candidates(with_epilogue("d = relu(acc)"), reason).empty());
    CHECK_THAT(reason, ContainsSubstring("epilogue=") && ContainsSubstring("relu(acc)"));
    CHECK(peer->candidates(float_problem(), reason).size() == 2);
}

TEST_CASE("a peer written in C is loaded, named and called") {
    const TemporaryFolder folder;
    if (!compile_peer(folder, "peer", kPeer)) SKIP_TEST("there is no C compiler");
    const std::unique_ptr<Peer> peer = open_peer_library(folder / "peer.so", nullptr);
    CHECK(peer->name() == "a peer in C");

    std::string reason;
    const std::vector<BenchCandidate> candidates = peer->candidates(float_problem(), reason);
    REQUIRE(candidates.size() == 2);
    CHECK(reason.empty());
    CHECK(candidates[1].name == "a peer in C#1");
    float d = 0;
    GemmArguments arguments;
    arguments.d = &d;
    arguments.alpha = 2;
    candidates[1].launch(arguments, nullptr);
    CHECK(d == 201);

    CHECK(peer->candidates({.m = 8, .n = 8, .k = 8}, reason).empty());  // bf16: no variants
    CHECK_THAT(reason, ContainsSubstring("cannot compute bf16 tn 8x8x8"));
    GemmSpec as_tf32 = float_problem();
    as_tf32.math = Math::tf32;
    CHECK(peer->candidates(as_tf32, reason).empty());
    CHECK_THAT(reason, ContainsSubstring("cannot compute tf32 tn 8x16x24"));

    const std::vector<BenchCandidate> refusing = peer->candidates(float_problem(GemmLayout::nn), reason);
    CHECK_THROWS_WITH(refusing.at(0).launch(arguments, nullptr), ContainsSubstring("returned 3"));
}

TEST_CASE("a peer without the optional functions has one way and its file's name") {
    const TemporaryFolder folder;
    if (!compile_peer(folder, "plain", kPlainPeer)) SKIP_TEST("there is no C compiler");
    const std::unique_ptr<Peer> peer = open_peer_library(folder / "plain.so", nullptr);
    CHECK(peer->name() == "plain");
    std::string reason;
    const std::vector<BenchCandidate> candidates = peer->candidates(float_problem(), reason);
    REQUIRE(candidates.size() == 1);
    CHECK(candidates[0].name == "plain");
}

TEST_CASE("a peer is not asked for a row of C if its interface has none") {
    const TemporaryFolder folder;
    if (!compile_peer(folder, "peer", kPeer)) SKIP_TEST("there is no C compiler");
    const std::unique_ptr<Peer> peer = open_peer_library(folder / "peer.so", nullptr);
    std::string reason;
    GemmSpec with_row = float_problem();
    with_row.c = DataType::f32;
    with_row.broadcast_c = true;
    CHECK(peer->candidates(with_row, reason).empty());
    CHECK_THAT(reason, ContainsSubstring("only plain problems, without broadcast-c=yes"));
}

TEST_CASE("only a peer that takes batches is asked for one") {
    struct OneWay final : Peer {
        explicit OneWay(bool it_takes) : takes(it_takes) {}
        [[nodiscard]] std::string name() const override { return "one way"; }
        [[nodiscard]] bool takes_batch() const override { return takes; }
        [[nodiscard]] std::vector<BenchCandidate> candidates_of_one(const GemmSpec& spec, std::string&) override {
            asked = spec;
            BenchCandidate only;
            only.name = "it";
            return {only};
        }
        bool takes;
        GemmSpec asked;
    };
    GemmSpec batch = float_problem();
    batch.batch = 3;
    batch.batch_stride_b = 0;
    for (const Math math : {Math::ieee, Math::tf32}) {
        batch.math = math;
        std::string reason;
        OneWay taking(true);
        CHECK(taking.candidates(resolved(batch), reason).size() == 1);
        CHECK(taking.asked.batch == 3);
        CHECK(taking.asked.batch_stride_a == 8 * 24);
        CHECK(taking.asked.batch_stride_b == 0);
        CHECK(reason.empty());
        CHECK(OneWay(false).candidates(resolved(batch), reason).empty());
        CHECK_THAT(reason, ContainsSubstring("batch=3"));
    }
}

TEST_CASE("a peer computes the full product of a symmetric one, with A's memory as B") {
    struct Full final : Peer {
        [[nodiscard]] std::string name() const override { return "full"; }
        [[nodiscard]] std::vector<BenchCandidate> candidates_of_one(const GemmSpec& spec, std::string&) override {
            asked = spec;
            BenchCandidate only;
            only.launch = [this](const GemmArguments& arguments, Stream) { given = arguments; };
            return {only};
        }
        GemmSpec asked;
        GemmArguments given;
    };
    const GemmSpec spec{
        .m = 16, .n = 16, .k = 24, .a = DataType::f32, .b = DataType::f32, .d = DataType::f32, .symmetric = true};
    std::string reason;
    Full full;
    const std::vector<BenchCandidate> candidates = full.candidates(resolved(spec), reason);
    REQUIRE(candidates.size() == 1);
    CHECK_FALSE(full.asked.symmetric);
    CHECK(problems(full.asked).empty());
    candidates[0].launch({.a = DevicePointer{4096}, .d = DevicePointer{8192}}, nullptr);
    CHECK(full.given.b.address == 4096);
}

TEST_CASE("what is no peer library is refused with the reason") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(open_peer_library(folder / "absent.so", nullptr), ContainsSubstring("absent.so"));
    std::ofstream(folder / "text.so") << "not a library";
    CHECK_THROWS_WITH(open_peer_library(folder / "text.so", nullptr), ContainsSubstring("text.so"));
    if (!compile_peer(folder, "empty", "int nothing;")) SKIP_TEST("there is no C compiler");
    CHECK_THROWS_WITH(open_peer_library(folder / "empty.so", nullptr),
                      ContainsSubstring("does not define jitgemm_peer_gemm"));
}
