#include "runtime/compiler/compile_message.hpp"

#include "tests/catch.hpp"

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

const CompileRequest kRequest{
    .name = "my_kernel", .body = "one\ntwo\nthree\nfour\nfive\nsix\n", .arch = "sm_90a", .options = {}};

}  // namespace

TEST_CASE("a refused kernel: name, log, numbered source lines, options") {
    const std::string message = compile_message(kRequest, {"--gpu-architecture=sm_90a", "--std=c++17"},
                                                "kernel.cu(4): error: no four\nkernel.cu(4): error: again\n"
                                                "kernel.cu(1): warning #1-D: harmless\n",
                                                {}, 130);
    CHECK(message ==
          "NVRTC 13.0 refused kernel my_kernel:\n"
          "kernel.cu(4): error: no four\nkernel.cu(4): error: again\nkernel.cu(1): warning #1-D: harmless\n"
          "source, line 4:\n"
          "      2 | two\n"
          "      3 | three\n"
          ">     4 | four\n"
          "      5 | five\n"
          "      6 | six\n"
          "options: --gpu-architecture=sm_90a --std=c++17");
}

TEST_CASE("errors of ptxas quote the PTX it refused") {
    const std::string message =
        compile_message(kRequest, {}, "ptxas application ptx input, line 2; error   : Unknown modifier\n",
                        ".version 9.0\nmma.bogus;\n", 130);
    CHECK_THAT(message, ContainsSubstring("generated PTX, line 2:\n      1 | .version 9.0\n>     2 | mma.bogus;\n"));
}

TEST_CASE("lines outside the text and floods of errors are harmless") {
    std::string log = "kernel.cu(999): error: beyond the end\n";
    for (int line = 1; line <= 6; ++line) log += "kernel.cu(" + std::to_string(line) + "): error: x\n";
    const std::string message = compile_message(kRequest, {}, log, {}, 124);
    CHECK_THAT(message, ContainsSubstring("source, line 4:"));
    CHECK_THAT(message, !ContainsSubstring("source, line 5:"));
}
