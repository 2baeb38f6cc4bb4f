/// The examples of docs/epilogues.md are kernels that compute what the text says.

#include "runtime/context/context_state.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"

#include <fstream>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

/// The lines of the page's block of examples.
std::vector<std::string> examples() {
    std::ifstream page(std::string(JITGEMM_SOURCE_DIR) + "/docs/epilogues.md");
    std::vector<std::string> lines;
    bool is_example = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("```"))
            is_example = line == "```epilogue";
        else if (is_example)
            lines.push_back(line);
    }
    return lines;
}

}  // namespace

TEST_CASE("the examples of docs/epilogues.md compute what they say") {
    const std::vector<std::string> texts = examples();
    REQUIRE(texts.size() >= 20);
    for (Context* const context : {&on_emulator(), &on_hopper()})
        for (const std::string& text : texts) {
            INFO(text);
            const bool has_pairs = text.find("[m,h]") != std::string::npos;
            const GemmKernel kernel = context->kernel({.m = 35, .n = has_pairs ? 48 : 44, .k = 40, .epilogue = text});
            const Verification verdict = verify(state_of(*context), kernel, {});
            INFO(kernel.info().name << ": " << verdict.message);
            CHECK(verdict.ok);
        }
}
