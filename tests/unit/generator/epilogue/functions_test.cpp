// The table of an epilogue's functions: what it says of slopes, growth and smallest values, against the formulas.

#include "generator/epilogue/functions.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

using namespace jitgemm;

namespace {

/// Visits functions of one argument that a formula says all about.
void each_of_one(const std::function<void(const EpilogueFunction&)>& visit) {
    for (const EpilogueFunction& row : epilogue_functions())
        if (row.kind == FunctionKind::value && row.arity == 1) visit(row);
}

}  // namespace

TEST_CASE("an epilogue's functions are found by name, fast ones apart") {
    std::set<std::string> names;
    for (const EpilogueFunction& row : epilogue_functions()) {
        const auto place = static_cast<int>(&row - epilogue_functions().data());
        CHECK(find_epilogue_function(row.name, row.is_fast) == place);
        CHECK(names.insert(std::string(row.name) + (row.is_fast ? " fast" : "")).second);
        if (row.is_fast) CHECK(find_epilogue_function(row.name) >= 0);
    }
    CHECK(find_epilogue_function("geul") == -1);
    CHECK(find_epilogue_function("relu", true) == -1);
    CHECK(std::ranges::is_sorted(epilogue_function_names()));
    CHECK(find_epilogue_cast("tf32") == nullptr);
}

TEST_CASE("an epilogue's function has a device function of its name, and what it needs") {
    for (const EpilogueFunction& row : epilogue_functions()) {
        INFO(row.name);
        if (row.kind == FunctionKind::value) CHECK_FALSE(row.cuda_name.empty());
        if (!row.cuda.empty())
            CHECK(row.cuda.find("float " + std::string(row.cuda_name) + "(float x") != std::string::npos);
        if (!row.needs.empty()) CHECK(row.cuda.find(std::string(row.needs) + "(") != std::string::npos);
    }
}

TEST_CASE("growth, slope and smallest value of an epilogue's functions fit their formulas") {
    each_of_one([](const EpilogueFunction& row) {
        INFO(row.name);
        constexpr int kSteps = 256;  // in one
        constexpr double kStep = 1.0 / kSteps;
        double steepest = 0;
        for (int i = -12 * kSteps; i < 12 * kSteps; ++i) {
            const double x = i * kStep;
            const double next = x + kStep;
            const double from = row.formula(&x), to = row.formula(&next);
            if (std::isnan(from) || std::isnan(to)) continue;
            steepest = std::max(steepest, std::fabs(to - from) / kStep);
            if (row.growth == Growth::rising) CHECK(to >= from);
            if (row.growth == Growth::falling) CHECK(to <= from);
            CHECK(from >= row.least);
        }
        if (row.growth != Growth::sloped) return;
        CHECK(steepest <= row.slope);
        CHECK(steepest >= row.slope * 0.97);
    });
}

TEST_CASE("slopes of the activations are the derivatives of their formulas") {
    const auto check_derivative = [](std::string_view name, std::string_view derivative) {
        const auto row = [](std::string_view one) {
            return epilogue_functions()[static_cast<std::size_t>(find_epilogue_function(one))];
        };
        for (int i = 0; i < 48; ++i) {
            const double x = -6.03 + i * 0.25;
            const double left = x - 1e-5, right = x + 1e-5;
            INFO(derivative << " of " << x);
            CHECK(row(derivative).formula(&x) ==
                  Approx((row(name).formula(&right) - row(name).formula(&left)) / 2e-5).margin(1e-7));
        }
    };
    check_derivative("silu", "dsilu");
    check_derivative("gelu", "dgelu");
    check_derivative("relu", "drelu");
}

TEST_CASE("max, min, relu and clamp of an epilogue pass NaN on") {
    const double nan = std::nan("");
    for (const char* const name : {"max", "min", "relu", "clamp"}) {
        const EpilogueFunction& row = epilogue_functions()[static_cast<std::size_t>(find_epilogue_function(name))];
        INFO(name);
        for (int place = 0; place < row.arity; ++place) {
            double arguments[3] = {1, 2, 3};
            arguments[place] = nan;
            CHECK(std::isnan(row.formula(arguments)));
        }
    }
}
