#include "jitgemm/jitgemm.hpp"
#include "runtime/support/default_device.hpp"
#include "runtime/support/launch_rank.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

using jitgemm::Options;

namespace {

/// The variables jitgemm reads, cleared for a test and put back after it.
class Environment {
public:
    Environment() {
        for (const char* name : {"JITGEMM_DEVICE",
                                 "JITGEMM_CACHE_DIR",
                                 "JITGEMM_CACHE_READONLY",
                                 "JITGEMM_NVRTC",
                                 "JITGEMM_WHEELS",
                                 "JITGEMM_TEMPLATES",
                                 "JITGEMM_LOG",
                                 "JITGEMM_TUNING_DIR",
                                 "JITGEMM_WISDOM",
                                 "JITGEMM_INSTALLED_WISDOM",
                                 "JITGEMM_ON_MISS",
                                 "JITGEMM_MATH",
                                 "JITGEMM_TOOL",
                                 "OMPI_COMM_WORLD_RANK",
                                 "OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_LOCAL_RANK",
                                 "PMI_RANK",
                                 "PMI_SIZE",
                                 "MPI_LOCALRANKID",
                                 "SLURM_PROCID",
                                 "SLURM_STEP_NUM_TASKS",
                                 "SLURM_LOCALID",
                                 "SLURM_NTASKS",
                                 "XDG_DATA_HOME",
                                 "XDG_CACHE_HOME",
                                 "HOME",
                                 "CUDA_PATH",
                                 "CUDA_HOME"}) {
            const char* value = std::getenv(name);
            if (value != nullptr)
                saved_[name] = value;
            else
                saved_[name] = std::nullopt;
            ::unsetenv(name);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() {
        for (const auto& [name, value] : saved_) {
            if (value)
                ::setenv(name.c_str(), value->c_str(), 1);
            else
                ::unsetenv(name.c_str());
        }
    }
    void set(const char* name, const char* value) const { ::setenv(name, value, 1); }

private:
    std::map<std::string, std::optional<std::string>> saved_;
};

}  // namespace

TEST_CASE("the cache lies in JITGEMM_CACHE_DIR, else XDG_CACHE_HOME, else the home folder") {
    const Environment environment;
    CHECK(Options::from_environment().cache_directory.empty());
    environment.set("HOME", "/home/ada");
    CHECK(Options::from_environment().cache_directory == "/home/ada/.cache/jitgemm");
    environment.set("XDG_CACHE_HOME", "relative/is/ignored");
    CHECK(Options::from_environment().cache_directory == "/home/ada/.cache/jitgemm");
    environment.set("XDG_CACHE_HOME", "/var/xdg");
    CHECK(Options::from_environment().cache_directory == "/var/xdg/jitgemm");
    environment.set("JITGEMM_CACHE_DIR", "/var/own");
    CHECK(Options::from_environment().cache_directory == "/var/own");
}

TEST_CASE("an empty JITGEMM_CACHE_DIR turns the cache off") {
    const Environment environment;
    environment.set("HOME", "/home/ada");
    environment.set("JITGEMM_CACHE_DIR", "");
    CHECK(Options::from_environment().cache_directory.empty());
}

TEST_CASE("a relative cache folder does not move with the working directory") {
    const Environment environment;
    environment.set("JITGEMM_CACHE_DIR", "some/cache");
    CHECK(Options::from_environment().cache_directory == (std::filesystem::current_path() / "some/cache").string());
}

TEST_CASE("no setting makes a folder of its own in every working directory: ~ is the home folder") {
    const Environment environment;
    environment.set("HOME", "/home/ada");
    for (const char* name : {"JITGEMM_CACHE_DIR", "JITGEMM_CACHE_READONLY", "JITGEMM_TUNING_DIR", "JITGEMM_WISDOM",
                             "JITGEMM_TEMPLATES", "JITGEMM_WHEELS", "JITGEMM_NVRTC", "JITGEMM_TOOL", "CUDA_PATH"})
        environment.set(name, "~/of/ada");
    const Options options = Options::from_environment();
    for (const std::string& path :
         {options.cache_directory, options.readonly_cache_directory, options.tuning_directory, options.wisdom,
          options.template_directory, options.wheel_directory, options.nvrtc_library, options.tool, options.cuda_path})
        CHECK(path == "/home/ada/of/ada");
    environment.set("JITGEMM_CACHE_DIR", "~");
    CHECK(Options::from_environment().cache_directory == "/home/ada");
    environment.set("JITGEMM_CACHE_DIR", "/data/~ada");
    CHECK(Options::from_environment().cache_directory == "/data/~ada");
}

TEST_CASE("a HOME that is not absolute is none") {
    const Environment environment;
    for (const char* home : {"~", ".", "home/ada"}) {
        environment.set("HOME", home);
        CHECK(Options::from_environment().cache_directory.empty());
        CHECK(Options::from_environment().tuning_directory.empty());
    }
}

TEST_CASE("tuning results lie in JITGEMM_TUNING_DIR, else beside a cache set by hand, else where data lies") {
    const Environment environment;
    CHECK(Options::from_environment().tuning_directory.empty());
    environment.set("HOME", "/home/ada");
    CHECK(Options::from_environment().tuning_directory == "/home/ada/.local/share/jitgemm");
    environment.set("XDG_DATA_HOME", "relative/is/ignored");
    CHECK(Options::from_environment().tuning_directory == "/home/ada/.local/share/jitgemm");
    environment.set("XDG_DATA_HOME", "/var/data");
    CHECK(Options::from_environment().tuning_directory == "/var/data/jitgemm");
    environment.set("JITGEMM_CACHE_DIR", "");  // no cache is no reason to forget what was tuned
    CHECK(Options::from_environment().tuning_directory == "/var/data/jitgemm");
    environment.set("JITGEMM_CACHE_DIR", "/var/own");
    CHECK(Options::from_environment().tuning_directory == "/var/own/tuning");
    environment.set("JITGEMM_TUNING_DIR", "tuned");
    CHECK(Options::from_environment().tuning_directory == (std::filesystem::current_path() / "tuned").string());
}

TEST_CASE("the other settings") {
    const Environment environment;
    CHECK(Options::from_environment().log_level.empty());
    CHECK(Options::from_environment().device == "cuda");
    environment.set("JITGEMM_CACHE_READONLY", "/opt/cache");
    environment.set("JITGEMM_NVRTC", "/opt/libnvrtc.so.13");
    environment.set("JITGEMM_WHEELS", "/opt/wheels");
    environment.set("JITGEMM_TEMPLATES", "/opt/templates");
    environment.set("JITGEMM_LOG", "debug");
    environment.set("JITGEMM_WISDOM", "/opt/wisdom.jsonl");
    environment.set("CUDA_HOME", "/opt/cuda-home");
    Options options = Options::from_environment();
    CHECK(options.readonly_cache_directory == "/opt/cache");
    CHECK(options.nvrtc_library == "/opt/libnvrtc.so.13");
    CHECK(options.wheel_directory == "/opt/wheels");
    CHECK(options.template_directory == "/opt/templates");
    CHECK(options.log_level == "debug");
    CHECK(options.wisdom == "/opt/wisdom.jsonl");
    CHECK(options.cuda_path == "/opt/cuda-home");
    environment.set("CUDA_PATH", "/opt/cuda-path");
    CHECK(Options::from_environment().cuda_path == "/opt/cuda-path");
}

TEST_CASE("no path of a setting moves with the working directory, and names that are looked up stay") {
    const Environment environment;
    const std::string here = std::filesystem::current_path().string();
    for (const char* name : {"JITGEMM_NVRTC", "JITGEMM_TOOL", "CUDA_PATH", "JITGEMM_WHEELS", "JITGEMM_TEMPLATES",
                             "JITGEMM_CACHE_READONLY", "JITGEMM_WISDOM"})
        environment.set(name, "./some/where");
    const Options options = Options::from_environment();
    for (const std::string& path : {options.nvrtc_library, options.tool, options.cuda_path, options.wheel_directory,
                                    options.template_directory, options.readonly_cache_directory, options.wisdom})
        CHECK(path == here + "/some/where");

    environment.set("JITGEMM_NVRTC", "libnvrtc.so.13");
    environment.set("JITGEMM_TOOL", "jitgemm-0.1");
    CHECK(Options::from_environment().nvrtc_library == "libnvrtc.so.13");
    CHECK(Options::from_environment().tool == "jitgemm-0.1");
}

TEST_CASE("JITGEMM_DEVICE names the device of every door, and a value that names none is told with its variable") {
    const Environment environment;
    CHECK_FALSE(jitgemm::device_from_environment());
    environment.set("JITGEMM_DEVICE", "");
    CHECK_FALSE(jitgemm::device_from_environment());
    CHECK(Options::from_environment().device == "cuda");
    environment.set("JITGEMM_DEVICE", "emulator:sm_90");
    CHECK(jitgemm::device_from_environment() == "emulator:sm_90a");
    CHECK(Options::from_environment().device == "emulator:sm_90a");
    for (const char* wrong : {"emul", "auto", "cuda:x", "emulator:sm_12", " cuda"}) {
        environment.set("JITGEMM_DEVICE", wrong);
        CHECK_THROWS_WITH(Options::from_environment(), Catch::Matchers::ContainsSubstring("JITGEMM_DEVICE"));
    }
}

TEST_CASE("the library's winners serve unless told not to by 0") {
    const Environment environment;
    CHECK(Options::from_environment().installed_wisdom);
    for (const char* on : {"", "1"}) {
        environment.set("JITGEMM_INSTALLED_WISDOM", on);
        CHECK(Options::from_environment().installed_wisdom);
    }
    environment.set("JITGEMM_INSTALLED_WISDOM", "0");
    CHECK_FALSE(Options::from_environment().installed_wisdom);
    for (const char* neither : {"off", "false", "00", " 0", "2"}) {
        environment.set("JITGEMM_INSTALLED_WISDOM", neither);
        CHECK_THROWS_WITH(Options::from_environment(),
                          fmt::format("JITGEMM_INSTALLED_WISDOM is '{}': expected 0 or 1", neither));
    }
}

TEST_CASE("a variable says what requests do on a miss that don't say it themselves") {
    const Environment environment;
    using enum jitgemm::OnMiss;
    CHECK(Options::from_environment().on_miss == wait);
    for (const auto& [name, on_miss] : {std::pair{"", wait}, {"wait", wait}, {"serve", serve}, {"fail", fail}}) {
        environment.set("JITGEMM_ON_MISS", name);
        CHECK(Options::from_environment().on_miss == on_miss);
    }
    for (const char* wrong : {"0", "Serve", "serve_now", " wait"}) {
        environment.set("JITGEMM_ON_MISS", wrong);
        CHECK_THROWS_WITH(Options::from_environment(),
                          fmt::format("JITGEMM_ON_MISS is '{}': expected wait, serve, fail", wrong));
    }
}

TEST_CASE("a variable says how f32 is multiplied where a problem does not say it") {
    const Environment environment;
    using jitgemm::Math;
    CHECK(Options::from_environment().math == Math::ieee);
    for (const auto& [name, math] : {std::pair{"", Math::ieee},
                                     {"ieee", Math::ieee},
                                     {"f16x3", Math::f16x3},
                                     {"bf16x3", Math::bf16x3},
                                     {"tf32", Math::tf32},
                                     {"bf16x6", Math::bf16x6},
                                     {"tf32x3", Math::tf32x3}}) {
        environment.set("JITGEMM_MATH", name);
        CHECK(Options::from_environment().math == math);
    }
    for (const char* wrong : {"0", "F16x3", "f16", " f16x3"}) {
        environment.set("JITGEMM_MATH", wrong);
        CHECK_THROWS_WITH(
            Options::from_environment(),
            fmt::format("JITGEMM_MATH is '{}': expected ieee, f16x3, bf16x3, tf32, bf16x6, tf32x3", wrong));
    }
}

TEST_CASE("a process learns its place from whoever launched it") {
    const Environment environment;
    CHECK_FALSE(jitgemm::launch_rank_from_environment());

    environment.set("SLURM_PROCID", "0");
    environment.set("SLURM_NTASKS", "8");
    CHECK_FALSE(jitgemm::launch_rank_from_environment());  // a batch script, not started by srun
    environment.set("SLURM_PROCID", "5");
    environment.set("SLURM_STEP_NUM_TASKS", "8");
    environment.set("SLURM_LOCALID", "1");
    const auto slurm = jitgemm::launch_rank_from_environment();
    REQUIRE(slurm);
    CHECK(slurm->rank == 5);
    CHECK(slurm->size == 8);
    CHECK(slurm->local_rank == 1);

    environment.set("OMPI_COMM_WORLD_RANK", "3");
    environment.set("OMPI_COMM_WORLD_SIZE", "4");
    const auto mpi = jitgemm::launch_rank_from_environment();
    REQUIRE(mpi);
    CHECK(mpi->rank == 3);
    CHECK(mpi->local_rank == 3);

    environment.set("OMPI_COMM_WORLD_RANK", "4");  // no such place: the next launcher is asked
    CHECK(jitgemm::launch_rank_from_environment()->rank == 5);
}
