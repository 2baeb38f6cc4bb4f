// Times that a server waits for, in a seeded trace of requests whose numbers of rows change with every batch.
//
//     serving [--requests 20000] [--seed 1] [--mode sets|requests|serve] [--csv FILE]
//
// The trace has the four products of Llama-3.1-8B and of Llama-3.1-70B, bf16 tn. A step is a prompt of 1 to 8192
// tokens, or a batch of 1 to 256 sequences that get one token each. It asks for a kernel of each product. One thread
// asks, and launches nothing. It is pinned to a core where nothing is compiled.
//
// sets      a kernel set per product is loaded first (`warm-up`), and the trace looks kernels up in it
// requests  the trace asks Context::kernel. It runs twice: the second time every problem is known
// serve     the same with OnMiss::serve, once. An empty cache (JITGEMM_CACHE_DIR) shows what a cold server waits for
//
// Options come from the environment (JITGEMM_DEVICE and others). The program prints microseconds per request. --csv
// writes a line for each request, which scripts/plot-serving.py reads.

#include "jitgemm/jitgemm.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using jitgemm::Context;
using jitgemm::GemmKernelSet;
using jitgemm::GemmSpec;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMostRows = 8192;

struct Weight {
    std::int64_t n, k;
};
constexpr auto kWeights = std::to_array<Weight>({{6144, 4096},
                                                 {4096, 4096},
                                                 {28672, 4096},
                                                 {4096, 14336},
                                                 {10240, 8192},
                                                 {8192, 8192},
                                                 {57344, 8192},
                                                 {8192, 28672}});

struct Request {
    std::size_t weight;
    std::int64_t m;
};

/// Prompt lengths have a median of 400 tokens. Batches of one token per sequence grow and shrink step by step.
std::vector<Request> make_trace(std::size_t requests, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> prompt(std::log(400.0), 1.2);
    std::vector<Request> trace;
    std::int64_t sequences = 16;
    while (trace.size() < requests) {
        const bool is_prompt = random() % 8 == 0;
        sequences = std::clamp<std::int64_t>(sequences + static_cast<std::int64_t>(random() % 5) - 2, 1, 256);
        const auto tokens = std::clamp<std::int64_t>(static_cast<std::int64_t>(prompt(random)), 1, kMostRows);
        for (std::size_t weight = 0; weight < kWeights.size() && trace.size() < requests; ++weight)
            trace.push_back({weight, is_prompt ? tokens : sequences});
    }
    return trace;
}

GemmSpec spec_of(const Request& request) {
    const Weight& weight = kWeights[request.weight];
    return {.m = request.m, .n = weight.n, .k = weight.k};
}

double microseconds(Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

/// Microseconds of each call of `ask(request)`.
template <typename Ask>
std::vector<double> times_of(const std::vector<Request>& trace, Ask ask) {
    std::vector<double> times;
    times.reserve(trace.size());
    for (const Request& request : trace) {
        const Clock::time_point begin = Clock::now();
        ask(request);
        times.push_back(microseconds(Clock::now() - begin));
    }
    return times;
}

/// Where results go.
class Report {
public:
    /// An empty name: no file.
    explicit Report(const std::string& csv) {
        if (csv.empty()) return;
        csv_.open(csv);
        csv_ << "name,request,m,n,k,us\n";
        if (!csv_) throw std::runtime_error("cannot write " + csv);
    }

    /// `times` of the trace's requests.
    void add(std::string_view name, const std::vector<Request>& trace, const std::vector<double>& times);
    /// Throws if the file is not whole.
    void close() {
        if (csv_.is_open() && !csv_.flush()) throw std::runtime_error("the file for --csv could not be written");
    }

private:
    std::ofstream csv_;
};

void print(std::string_view name, std::vector<double> times) {
    const double first = times.front();
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double share) {
        return times[std::min(times.size() - 1, static_cast<std::size_t>(share * static_cast<double>(times.size())))];
    };
    fmt::print(
        "{:<16} {:>8} requests   first {:>10.2f}   median {:>8.2f}   99 % {:>9.2f}   99.9 % {:>9.2f}   "
        "99.99 % {:>10.2f}   worst {:>10.2f} us\n",
        name, times.size(), first, quantile(0.5), quantile(0.99), quantile(0.999), quantile(0.9999), times.back());
}

void Report::add(std::string_view name, const std::vector<Request>& trace, const std::vector<double>& times) {
    print(name, times);
    if (!csv_.is_open()) return;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const GemmSpec spec = spec_of(trace[i]);
        csv_ << fmt::format("\"{}\",{},{},{},{},{:.3f}\n", name, i, spec.m, spec.n, spec.k, times[i]);
    }
}

// Threads that begin later would stay on this core, too.
void pin_to_one_core() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(sched_getcpu(), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

void by_sets(Context& context, const std::vector<Request>& trace, Report& report) {
    const Clock::time_point begin = Clock::now();
    std::vector<GemmKernelSet> sets;
    std::size_t kernels = 0;
    for (std::size_t weight = 0; weight < kWeights.size(); ++weight) {
        sets.push_back(context.kernels(spec_of({weight, 1}), 1, kMostRows));
        kernels += sets.back().kernels().size();
    }
    fmt::print("warm-up: {} kernels of {} sets in {:.2f} s\n", kernels, sets.size(),
               microseconds(Clock::now() - begin) * 1e-6);
    pin_to_one_core();
    const auto ask = [&](const Request& request) { return sets[request.weight].kernel(request.m); };
    report.add("sets", trace, times_of(trace, ask));
}

void by_requests(Context& context, const std::vector<Request>& trace, Report& report) {
    const auto ask = [&](const Request& request) { return context.kernel(spec_of(request)); };
    report.add("requests, new", trace, times_of(trace, ask));
    pin_to_one_core();
    report.add("requests, known", trace, times_of(trace, ask));
}

void serving_at_once(Context& context, const std::vector<Request>& trace, Report& report) {
    std::map<std::string, int> choices;
    const auto ask = [&](const Request& request) {
        const jitgemm::GemmKernel kernel = context.kernel(spec_of(request), {.on_miss = jitgemm::OnMiss::serve});
        ++choices[std::string(to_string(kernel.info().choice))];
    };
    report.add("serve", trace, times_of(trace, ask));
    for (const auto& [choice, count] : choices) fmt::print("  {:<12} {:>8}\n", choice, count);
}

[[noreturn]] void usage(std::string_view word) {
    fmt::print(stderr,
               "error: '{}': serving [--requests COUNT] [--seed NUMBER] [--mode sets|requests|serve] "
               "[--csv FILE]\n",
               word);
    std::exit(2);
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) usage(text);
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string_view, std::string_view> options{
        {"--requests", "20000"}, {"--seed", "1"}, {"--mode", "sets"}, {"--csv", ""}};
    for (int i = 1; i < argc; i += 2) {
        if (!options.contains(argv[i]) || i + 1 == argc) usage(argv[i]);
        options[argv[i]] = argv[i + 1];
    }
    const std::map<std::string_view, void (*)(Context&, const std::vector<Request>&, Report&)> modes{
        {"sets", by_sets}, {"requests", by_requests}, {"serve", serving_at_once}};
    const auto mode = modes.find(options["--mode"]);
    if (mode == modes.end()) usage(options["--mode"]);
    const std::uint64_t requests = number(options["--requests"]);
    if (requests == 0) usage("--requests 0");
    const std::vector<Request> trace = make_trace(requests, number(options["--seed"]));
    try {
        Report report{std::string(options["--csv"])};
        Context context;
        mode->second(context, trace, report);
        report.close();
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 1;
    }
    return 0;
}
