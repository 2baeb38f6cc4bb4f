#include "runtime/cache/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/child.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>

/// \file A cache that lies in a lower layer of overlayfs, as in a container image. Such a layer's folders cannot be
/// renamed (EXDEV).

using namespace jitgemm;
using namespace jitgemm::testing;
namespace fs = std::filesystem;

namespace {

constexpr int kNoMounts = 77;

/// Mounts an overlay over `folder`/lower at `folder`/merged, for this process alone.
bool mount_overlay(const std::string& folder) {
    for (const char* name : {"/scratch", "/merged"}) fs::create_directory(folder + name);
    const std::string scratch = folder + "/scratch";  // an upper layer cannot lie on an overlay
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    if (::mount("tmpfs", scratch.c_str(), "tmpfs", 0, nullptr) != 0) return false;
    for (const char* name : {"/upper", "/work"}) fs::create_directory(scratch + name);
    const std::string layers =
        "lowerdir=" + folder + "/lower,upperdir=" + scratch + "/upper,workdir=" + scratch + "/work";
    return ::mount("overlay", (folder + "/merged").c_str(), "overlay", 0, layers.c_str()) == 0;
}

std::string cubin_of(const std::string& root, const CompileRequest& request) {
    CountingCompiler compiler;
    return KernelCache(root, {}).get_or_compile(request, compiler, request.body).directory + "/kernel.cubin";
}

/// Makes a cache of two kernels in the lower layer, one of them damaged, and runs the steps on the merged folder.
int on_overlay(const std::function<int(const std::string& root, const CompileRequest& damaged)>& steps) {
    TemporaryFolder folder;
    fs::create_directory(folder / "lower");
    const CompileRequest damaged = request_of("kernel_a", "a");
    put_text(cubin_of(folder / "lower/cache", damaged), "damage");
    static_cast<void>(cubin_of(folder / "lower/cache", request_of("kernel_b", "b")));
    return in_child([&] {
        if (!mount_overlay(folder.path())) return kNoMounts;
        const std::string root = folder / "merged/cache";
        const std::string place = root + "/" + KernelCache(root, {}).entries(false).front().directory;
        if (::rename(place.c_str(), (place + "-moved").c_str()) == 0 || errno != EXDEV) return kNoMounts;
        return steps(root, damaged);
    });
}

}  // namespace

TEST_CASE("entries of a lower layer of overlayfs are removed in place: clear, prune, verify --drop, rebuild") {
    struct Way {
        const char* name;
        std::function<int(const std::string&, const CompileRequest&)> steps;
    };
    const Way way = GENERATE(
        Way{"clear",
            [](const std::string& root, const CompileRequest&) {
                KernelCache cache(root, {});
                const CacheRemoval removal = cache.clear();
                return removal.kept.empty() && removal.removed == 2 && cache.entries(false).empty() ? 0 : 1;
            }},
        Way{"prune",
            [](const std::string& root, const CompileRequest&) {
                KernelCache cache(root, {});
                const CacheRemoval removal = cache.prune({.bytes = 0, .age = {}});
                return removal.kept.empty() && removal.removed == 2 && cache.total_bytes() == 0 ? 0 : 1;
            }},
        Way{"verify --drop",
            [](const std::string& root, const CompileRequest&) {
                KernelCache cache(root, {});
                const CacheRemoval removal = cache.drop_damaged();
                return removal.kept.empty() && removal.removed == 1 && cache.entries(true).size() == 1 ? 0 : 1;
            }},
        Way{"rebuild", [](const std::string& root, const CompileRequest& damaged) {
                CapturedLog log;
                CountingCompiler compiler;
                KernelCache first(root, {});
                if (first.get_or_compile(damaged, compiler, damaged.body).directory.empty()) return 1;
                KernelCache next(root, {});
                return next.get_or_compile(damaged, compiler, damaged.body).source == CacheSource::disk ? 0 : 2;
            }});
    INFO(way.name);
    const int status = on_overlay(way.steps);
    if (status == kNoMounts) SKIP_TEST("no right to mount overlayfs here, or it renames folders");
    CHECK(status == 0);
}
