#ifdef JITGEMM_TOOL

#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <fmt/format.h>

#include <string>

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A .npy file of zeros as numpy writes it.
std::string npy(const std::string& descr, std::size_t rows, std::size_t columns, std::size_t element_bytes,
                bool fortran = false) {
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}, {}), }}", descr,
                                     fortran ? "True" : "False", rows, columns);
    header.append(117 - header.size(), ' ').push_back('\n');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string(rows * columns * element_bytes, '\0');
}

/// Arrays in files; `run` must refuse them before it looks for a GPU.
class Arrays {
public:
    void put(const std::string& name, const std::string& text) const { put_text(file(name), text); }
    [[nodiscard]] std::string file(const std::string& name) const { return tool_.folder() / (name + ".npy"); }

    [[nodiscard]] ToolResult run(const std::string& options, bool with_c = false) const {
        const std::string c = with_c ? " --c '" + file("c") + "'" : "";
        return tool_.run("run --device cuda --a '" + file("a") + "' --b '" + file("b") + "'" + c + " --out '" +
                             file("d") + "' " + options,
                         "CUDA_VISIBLE_DEVICES=-1");
    }

    void check_refused(const std::string& phrase, const std::string& options = "", bool with_c = false) const {
        const ToolResult result = run(options, with_c);
        INFO(result.err);
        CHECK(result.exit_code == 2);
        CHECK(result.out.empty());
        CHECK_THAT(result.err, ContainsSubstring(phrase));
    }

    /// Everything fits: only the GPU is missing.
    void check_accepted(const std::string& options, bool with_c = false) const {
        const ToolResult result = run(options, with_c);
        INFO(result.err);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.err, ContainsSubstring("jitgemm doctor"));
    }

private:
    Tool tool_;
};

}  // namespace

TEST_CASE("run of arrays: shapes must fit together") {
    const Arrays arrays;
    arrays.put("a", npy("<f2", 8, 16, 2));
    arrays.put("b", npy("<f2", 24, 8, 2));
    arrays.check_refused("16");
    arrays.put("b", npy("<f2", 16, 8, 2));
    arrays.check_accepted("");
    arrays.put("c", npy("<f2", 8, 9, 2));
    arrays.check_refused("c.npy", "", true);
    arrays.put("c", npy("<f2", 8, 8, 2));
    arrays.check_accepted("", true);
}

TEST_CASE("run of arrays: files that are truncated, of another type or no arrays at all") {
    const Arrays arrays;
    arrays.put("b", npy("<f2", 16, 8, 2));
    const std::string whole = npy("<f2", 8, 16, 2);
    arrays.put("a", whole.substr(0, whole.size() - 1));
    arrays.check_refused("truncated");
    arrays.put("a", whole.substr(0, 20));
    arrays.check_refused("a.npy");
    arrays.put("a", "no array");
    arrays.check_refused("a.npy");
    arrays.put("a", npy("<f8", 8, 16, 8));
    arrays.check_refused("<f8");
    arrays.put("a", npy(">f2", 8, 16, 2));
    arrays.check_refused(">f2");
}

TEST_CASE("run of arrays: f32 files are multiplied as f32 or converted, others are not converted") {
    const Arrays arrays;
    arrays.put("a", npy("<f4", 8, 16, 4));
    arrays.put("b", npy("<f4", 16, 8, 4));
    arrays.check_accepted("");
    arrays.check_accepted("--type f32");
    arrays.check_accepted("--type bf16");
    arrays.put("b", npy("<f2", 16, 8, 2));
    arrays.check_refused("holds f16, --type asks for bf16", "--type bf16");
    arrays.check_refused("--type f16 would convert", "");
    arrays.check_accepted("--type f16");
    arrays.put("a", npy("|V2", 8, 16, 2));
    arrays.put("b", npy("|V2", 16, 8, 2));
    arrays.check_accepted("");
}

TEST_CASE("run of arrays: C lies as D does") {
    const Arrays arrays;
    arrays.put("a", npy("<f2", 8, 16, 2));
    arrays.put("b", npy("<f2", 16, 8, 2));
    arrays.put("c", npy("<f2", 8, 8, 2, true));
    arrays.check_accepted("", true);
    arrays.check_refused("Fortran", "--d-layout t", true);
    arrays.put("c", npy("<f4", 8, 8, 4));
    arrays.check_accepted("--c-type f32", true);
    arrays.check_refused("C is to be read", "--beta 2");
}

TEST_CASE("run of arrays: a C of one row") {
    const Arrays arrays;
    arrays.put("a", npy("<f2", 8, 16, 2));
    arrays.put("b", npy("<f2", 16, 24, 2));
    for (const bool fortran : {false, true}) {
        arrays.put("c", npy("<f2", 1, 24, 2, fortran));
        arrays.check_refused("1x24", "", true);
        arrays.check_refused("1x24 and not 8x24", "--broadcast-c no", true);
        arrays.check_accepted("--broadcast-c yes", true);
        arrays.check_refused("1x24 and not 8x1", "--broadcast-c yes --d-layout n", true);
    }
    arrays.put("c", npy("<f2", 8, 1, 2));
    arrays.check_accepted("--broadcast-c yes --d-layout n", true);
    arrays.check_refused("8x1 and not 1x24", "--broadcast-c yes", true);
}

TEST_CASE("run of arrays: what the files say is not said again") {
    const Arrays arrays;
    arrays.put("a", npy("<f2", 8, 16, 2));
    arrays.put("b", npy("<f2", 16, 8, 2));
    arrays.check_refused("--m", "--m 8");
    arrays.check_refused("--layout", "--layout tn");
    const Tool tool;
    CHECK(tool.run("run --a x.npy --b y.npy").exit_code == 2);
    CHECK(tool.run("run --a /no/x.npy --b /no/y.npy --out z.npy").exit_code == 2);
}

#endif
