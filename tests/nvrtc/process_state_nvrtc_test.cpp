/// NVRTC must not change the state of the process that it runs in.

#include "runtime/compiler/nvrtc.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <langinfo.h>
#include <locale.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace jitgemm;

namespace {

/// As text, so that a difference can be read.
std::vector<std::string> process_state() {
    std::vector<std::string> state;
    const auto add = [&](const std::string& name, const auto& value) { state.push_back(name + " " + value); };
    add("locale", std::setlocale(LC_ALL, nullptr));
    add("codeset", nl_langinfo(CODESET));
    add("decimal point", std::localeconv()->decimal_point);
    add("thread's locale", std::to_string(reinterpret_cast<std::uintptr_t>(uselocale(nullptr))));
    add("rounding", std::to_string(std::fegetround()));
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (int number = 1; number < SIGRTMIN; ++number) {
        struct sigaction action {};
        if (sigaction(number, nullptr, &action) != 0) continue;
        add("signal " + std::to_string(number),
            std::to_string(sigismember(&blocked, number)) + " " +
                std::to_string(reinterpret_cast<std::uintptr_t>(action.sa_handler)));
    }
    for (const auto resource : {RLIMIT_STACK, RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_AS}) {
        rlimit limit{};
        getrlimit(resource, &limit);
        add("limit " + std::to_string(resource), std::to_string(limit.rlim_cur) + " " + std::to_string(limit.rlim_max));
    }
    const mode_t mask = umask(0);
    umask(mask);
    add("umask", std::to_string(mask));
    add("folder", std::filesystem::current_path().string());
    for (char** variable = environ; *variable != nullptr; ++variable) state.emplace_back(*variable);
    for (int file = 0; file < 3; ++file) {
        struct stat status {};
        fstat(file, &status);
        add("file " + std::to_string(file), std::to_string(status.st_dev) + " " + std::to_string(status.st_ino));
    }
    add("alarm", std::to_string(alarm(0)));
    return state;
}

/// The library's own, and the oldest that is served, where a test run names one.
std::vector<std::string> libraries() {
    std::vector<std::string> paths{""};
    if (const char* const old = std::getenv("JITGEMM_TEST_NVRTC_12"); old != nullptr && std::filesystem::exists(old))
        paths.emplace_back(old);
    return paths;
}

/// Sums that the compiler adds up, with a rounding for each.
constexpr const char* kSums = R"(
extern "C" __global__ void f(float *p, double *q) {
    constexpr float third = 1.0f / 3.0f;
    *p = third + 0.1f;
    *q = 0.1 + 0.2 + third * 1e-300;
})";

/// A locale that is not "C", a rounding mode of its own, a signal that is blocked.
class UnusualThread {
public:
    UnusualThread() {
        locale_ = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
        if (locale_ != nullptr) before_ = uselocale(locale_);
        std::fesetround(FE_UPWARD);
        sigset_t more;
        sigemptyset(&more);
        sigaddset(&more, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &more, &blocked_);
    }
    UnusualThread(const UnusualThread&) = delete;
    UnusualThread& operator=(const UnusualThread&) = delete;
    ~UnusualThread() {
        pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
        std::fesetround(FE_TONEAREST);
        if (locale_ == nullptr) return;
        uselocale(before_);
        freelocale(locale_);
    }

private:
    locale_t locale_ = nullptr;
    locale_t before_ = nullptr;
    sigset_t blocked_{};
};

}  // namespace

TEST_CASE("a compile leaves the process and its thread as they were, whether or not it succeeds") {
    for (const std::string& path : libraries()) {
        Options options = Options::from_environment();
        if (!path.empty()) options.nvrtc_library = path;
        const std::shared_ptr<Nvrtc> nvrtc = Nvrtc::load(options);
        INFO(nvrtc->path());
        for (const char* const text : {kSums, "no C++ at all"}) {
            const std::vector<std::string> plain = process_state();
            const NvrtcOutput usual = nvrtc->compile(text, "kernel.cu", {"--gpu-architecture=sm_80"});
            CHECK(process_state() == plain);
            const UnusualThread unusual;
            const std::vector<std::string> before = process_state();
            CHECK(nvrtc->compile(text, "kernel.cu", {"--gpu-architecture=sm_80"}).code == usual.code);
            CHECK(process_state() == before);
        }
    }
}
