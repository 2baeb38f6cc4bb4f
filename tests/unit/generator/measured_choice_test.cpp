/// The cost model against times: pairs of kernels that an H200 ran are one table, and what a wrong prediction of it
/// costs is bounded, in the mean and in the worst case.

#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace jitgemm;

namespace {

struct TimedKernel {
    std::string name;
    double us = 0;
};

/// Two kernels of a problem, and what they took on an H200.
struct Pair {
    GemmSpec spec;
    TimedKernel fast, slow;
};

Pair pair_in(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, '|');) {
        const std::size_t begin = field.find_first_not_of(' ');
        fields.push_back(field.substr(begin, field.find_last_not_of(' ') - begin + 1));
    }
    REQUIRE(fields.size() == 5);
    return {
        resolved(parse_shape_line(fields[0])), {fields[1], std::stod(fields[2])}, {fields[3], std::stod(fields[4])}};
}

std::vector<Pair> measured_pairs(const std::string& name = "measured_pairs.txt") {
    std::ifstream file(JITGEMM_SOURCE_DIR "/tests/data/" + name);
    std::vector<Pair> pairs;
    for (std::string line; std::getline(file, line);)
        if (!line.starts_with('#')) pairs.push_back(pair_in(line));
    return pairs;
}

double predicted_us(const GemmSpec& spec, const std::string& kernel, const char* gpu = "h200") {
    const KernelConfig config = parse_kernel_name(kernel).config;
    return family_of(config).cost(problem_of(spec), config, find_gpu(gpu)).total_us;
}

/// Of numbers of at least 1, each by how much something is too slow.
struct Regret {
    double mean = 0, worst = 0;
};

Regret regret_of(const std::vector<double>& factors) {
    double sum = 0;
    for (const double factor : factors) sum += factor;
    return {sum / static_cast<double>(factors.size()), *std::ranges::max_element(factors)};
}

/// How much slower the kernel is that is predicted faster, of each pair.
Regret regret_of_pairs(const std::vector<Pair>& pairs, const char* gpu) {
    std::vector<double> factors;
    for (const auto& [spec, fast, slow] : pairs) {
        INFO(fast.name << " " << fast.us << " us, " << slow.name << " " << slow.us << " us");
        REQUIRE(fast.us < slow.us);
        const bool is_right = predicted_us(spec, fast.name, gpu) < predicted_us(spec, slow.name, gpu);
        if (!is_right) WARN(slow.name << " is predicted faster than " << fast.name);
        factors.push_back(is_right ? 1 : slow.us / fast.us);
    }
    CHECK(factors.size() >= 30);
    return regret_of(factors);
}

}  // namespace

TEST_CASE("of two kernels that an H200 ran, the one predicted faster is as good as the faster one") {
    const auto [mean, worst] = regret_of_pairs(measured_pairs(), "h200");
    CHECK(mean < 1.02);
    CHECK(worst < 1.25);
}

TEST_CASE("of two kernels that an H100 ran, most of them of a long K, the one predicted faster is as good") {
    const auto [mean, worst] = regret_of_pairs(measured_pairs("measured_pairs_h100.txt"), "h100");
    CHECK(mean < 1.02);
    CHECK(worst < 1.25);
}

TEST_CASE("a kernel's predicted time is near what an H200 took") {
    std::vector<double> factors;
    for (const auto& [spec, fast, slow] : measured_pairs())
        factors.push_back(std::exp(std::abs(std::log(predicted_us(spec, fast.name) / fast.us))));
    const auto [mean, worst] = regret_of(factors);
    INFO("mean " << mean << ", worst " << worst);
    CHECK(mean < 1.12);
    CHECK(worst < 1.6);
}

TEST_CASE("a choice among all candidates is seldom the slower kernel of a measured pair") {
    std::vector<double> factors;
    for (const auto& [spec, fast, slow] : measured_pairs()) {
        const KernelConfig chosen = choose_config(problem_of(spec), find_gpu("h200"));
        factors.push_back(kernel_name(problem_of(spec), chosen) == slow.name ? slow.us / fast.us : 1);
    }
    const auto [mean, worst] = regret_of(factors);
    CHECK(mean < 1.02);
    CHECK(worst < 1.15);
}
