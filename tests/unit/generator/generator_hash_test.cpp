#include "generator/generator_hash.hpp"

#include "generator/base/renderer.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/tuning/store/tuned_records.hpp"
#include "tests/catch.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

/// \file A tuned record must grow stale when the text of its kernel may have changed, whoever wrote it.

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

/// The file that a build of these sources would get; empty without CMake.
std::string hash_file_of(const TemporaryFolder& folder) {
    const std::string command = "cmake -DFOLDER='" + (folder / "generator") + "' -DOUTPUT='" + (folder / "hash.cpp") +
                                "' -P '" JITGEMM_SOURCE_DIR "/cmake/source_hash.cmake'";
    if (std::system(command.c_str()) != 0) return {};  // NOLINT(bugprone-command-processor): as a build runs it
    return text_in(folder / "hash.cpp");
}

}  // namespace

TEST_CASE("the generator's hash is of the C++ that writes kernels") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "generator/families/shared");
    std::filesystem::create_directories(folder / "generator/draw");
    put_text(folder / "generator/families/shared/wrapper_text.cpp", "ldmatrix");
    const std::string first = hash_file_of(folder);
    if (first.empty()) SKIP_TEST("no cmake");
    CHECK(first.find("generator_hash") != std::string::npos);
    put_text(folder / "generator/draw/svg.cpp", "a picture");
    put_text(folder / "generator/families/shared/simt_cost.cpp", "a constant");
    std::filesystem::create_directories(folder / "generator/base");
    put_text(folder / "generator/base/spec_text.cpp", "what is asked");
    CHECK(hash_file_of(folder) == first);
    put_text(folder / "generator/families/shared/wrapper_text.cpp", "ldmatrix.trans");
    CHECK(hash_file_of(folder) != first);
}

TEST_CASE("the versions of a tuned record know the C++ that writes kernels") {
    CHECK(generator_hash().size() == 64);
    CountingCompiler compiler;
    const std::map<std::string, std::string, std::less<>> files{{"a.cu", "text"}};
    const TemplateSet templates(files);
    const FakeDevice device;
    const std::string of_templates_alone = hash_hex(std::string("a.cu\0text\0", 10));
    const std::string known = tuning::device_facts(device, templates, compiler).versions.templates;
    CHECK(known != of_templates_alone);
    compiler.set_build("0a");
    CHECK(tuning::device_facts(device, templates, compiler).versions.templates == known + "-0a");
}
