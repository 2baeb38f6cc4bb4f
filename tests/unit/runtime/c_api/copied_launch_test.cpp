#include "runtime/c_api/copied_launch.hpp"

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_device.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace {

using namespace jitgemm;
using jitgemm::testing::FakeDevice;

constexpr std::int64_t kRows = 5, kColumns = 3, kPitch = 8;

struct Pointers {
    std::uint64_t a, b, c, d;
};

/// Multiplies as the test says, with the pointers that the launch brings.
class PlayingDevice final : public FakeDevice {
public:
    void launch(const Function& /*function*/, const LaunchShape& /*shape*/, std::span<const std::byte> arguments,
                Stream /*stream*/) override {
        Pointers pointers{};
        std::memcpy(&pointers, arguments.data(), sizeof pointers);
        play(pointers);
    }
    std::function<void(const Pointers&)> play;
};

GemmKernel kernel_of(const GemmSpec& spec, const std::shared_ptr<PlayingDevice>& device) {
    using Role = ArgumentRole;
    const KernelEntry entry{.function = "gemm",
                            .threads = 32,
                            .grid = {.tile_m = 64, .tile_n = 64, .splits = 1},
                            .arguments = {PointerArgument{Role::a}, PointerArgument{Role::b}, PointerArgument{Role::c},
                                          PointerArgument{Role::d}}};
    auto state = std::make_shared<KernelState>(problem_of(spec));
    auto kernel = std::make_shared<LoadedKernel>();
    kernel->facts.name = "the_kernel";
    state->kernel = std::move(kernel);
    state->device = device;
    state->workspaces = std::make_shared<WorkspacePool>(device);
    state->entries.emplace_back(entry, device->load("", entry), state->problem, *device);
    return KernelAccess::make(std::move(state));
}

/// Lines of kColumns elements, kPitch apart, all of one value and the gaps of another.
struct HostMatrix {
    HostMatrix(std::int64_t lines, float value, float gap) : elements(static_cast<std::size_t>(lines * kPitch), gap) {
        set_lines(value);
    }
    void set_lines(float value) {
        for (std::size_t i = 0; i < elements.size(); ++i)
            if (is_in_line(i)) elements[i] = value;
    }
    void set_gaps(float value) {
        for (std::size_t i = 0; i < elements.size(); ++i)
            if (!is_in_line(i)) elements[i] = value;
    }
    [[nodiscard]] bool holds(float value, float gap) const {
        for (std::size_t i = 0; i < elements.size(); ++i)
            if (elements[i] != (is_in_line(i) ? value : gap)) return false;
        return true;
    }
    static bool is_in_line(std::size_t i) { return static_cast<std::int64_t>(i) % kPitch < kColumns; }
    [[nodiscard]] DevicePointer pointer() const { return elements.data(); }

    std::vector<float> elements;
};

float& element(std::uint64_t matrix, std::int64_t line, std::int64_t at) {
    return reinterpret_cast<float*>(static_cast<std::uintptr_t>(matrix))[line * kPitch + at];
}

/// The device's lines hold the value; D's become another.
void write_lines(std::uint64_t matrix, std::int64_t lines, float value) {
    for (std::int64_t i = 0; i < lines; ++i)
        for (std::int64_t j = 0; j < kColumns; ++j) element(matrix, i, j) = value;
}

bool lines_hold(std::uint64_t matrix, std::int64_t lines, float value) {
    for (std::int64_t i = 0; i < lines; ++i)
        for (std::int64_t j = 0; j < kColumns; ++j)
            if (element(matrix, i, j) != value) return false;
    return true;
}

GemmSpec spec_of(Order of_d) {
    const bool by_row = of_d == Order::row;
    return {.m = by_row ? kRows : kColumns,
            .n = by_row ? kColumns : kRows,
            .k = kColumns,
            .a = DataType::f32,
            .b = DataType::f32,
            .c = DataType::f32,
            .d = DataType::f32,
            .layout = by_row ? GemmLayout::tt : GemmLayout::nn,
            .d_order = of_d,
            .lda = kPitch,
            .ldb = kPitch,
            .ldc = kPitch,
            .ldd = kPitch};
}

}  // namespace

TEST_CASE(
    "what another thread writes between the lines of a result in host memory stays, whatever lies there on the GPU") {
    for (const Order order : {Order::row, Order::column}) {
        const auto device = std::make_shared<PlayingDevice>();
        const GemmKernel kernel = kernel_of(spec_of(order), device);
        const HostMatrix a(kRows, 1, -1), b(kRows, 2, -1), c(kRows, 3, -1);
        HostMatrix d(kRows, 4, 5);
        for (const float beta : {0.0F, 1.0F}) {
            device->play = [&](const Pointers& there) {
                CHECK(lines_hold(there.a, kColumns, order == Order::row ? 1 : 2));
                CHECK(lines_hold(there.b, kColumns, order == Order::row ? 2 : 1));
                if (beta != 0) CHECK(lines_hold(there.c, kRows, 3));
                write_lines(there.d, kRows, 7 + beta);
                d.set_gaps(8 + beta);  // the other thread
            };
            c_api::launch_on_copies(
                kernel, {.a = a.pointer(), .b = b.pointer(), .c = c.pointer(), .d = d.pointer(), .beta = beta});
            CHECK(d.holds(7 + beta, 8 + beta));
        }
        CHECK(a.holds(1, -1));
        CHECK(c.holds(3, -1));
        CHECK(device->live_allocations() == 0);
    }
}

TEST_CASE("a result in host memory that is added to is copied to the GPU once, and back") {
    const auto device = std::make_shared<PlayingDevice>();
    const GemmKernel kernel = kernel_of(spec_of(Order::row), device);
    const HostMatrix a(kRows, 1, -1), b(kRows, 2, -1);
    HostMatrix d(kRows, 4, 5);
    device->play = [&](const Pointers& there) {
        CHECK(there.c == there.d);
        CHECK(lines_hold(there.d, kRows, 4));
        write_lines(there.d, kRows, 6);
        d.set_gaps(9);
    };
    c_api::launch_on_copies(kernel,
                            {.a = a.pointer(), .b = b.pointer(), .c = d.pointer(), .d = d.pointer(), .beta = 1});
    CHECK(d.holds(6, 9));
}

TEST_CASE("matrices in host memory at addresses of an array are copied to the GPU one by one, and back") {
    const auto device = std::make_shared<PlayingDevice>();
    GemmSpec spec = spec_of(Order::row);
    spec.pointers = true;
    spec.batch = 2;
    const GemmKernel kernel = kernel_of(spec, device);
    const HostMatrix a(kRows, 1, -1), other_a(kRows, 2, -1), b(kRows, 3, -1);
    HostMatrix d(kRows, 4, 5), other_d(kRows, 6, 5);
    const auto array = [](const HostMatrix& first, const HostMatrix& second) {
        return std::vector<std::uint64_t>{first.pointer().address, second.pointer().address};
    };
    const std::vector<std::uint64_t> all_a = array(a, other_a), all_b = array(b, b), all_d = array(d, other_d);
    device->play = [&](const Pointers& there) {
        const auto at = [](std::uint64_t addresses, std::size_t problem) {
            return reinterpret_cast<const std::uint64_t*>(static_cast<std::uintptr_t>(addresses))[problem];
        };
        CHECK(lines_hold(at(there.a, 0), kColumns, 1));
        CHECK(lines_hold(at(there.a, 1), kColumns, 2));
        CHECK(lines_hold(at(there.b, 1), kColumns, 3));
        CHECK(lines_hold(at(there.c, 1), kRows, 6));  // C is D
        for (const std::size_t problem : {std::size_t{0}, std::size_t{1}})
            write_lines(at(there.d, problem), kRows, 7.0F + static_cast<float>(problem));
        d.set_gaps(9);
    };
    c_api::launch_on_copies(kernel,
                            {.a = all_a.data(), .b = all_b.data(), .c = all_d.data(), .d = all_d.data(), .beta = 1});
    CHECK(d.holds(7, 9));
    CHECK(other_d.holds(8, 5));
    CHECK(device->live_allocations() == 0);
    device->play = [](const Pointers&) { FAIL("launched"); };
    const std::vector<std::uint64_t> misaligned{all_a[0], all_a[1] + 4};
    CHECK_THROWS_AS(c_api::launch_on_copies(kernel, {.a = misaligned.data(), .b = all_b.data(), .d = all_d.data()}),
                    SpecError);
}

TEST_CASE("a launch on arrays in host memory keeps the rules of a launch") {
    const auto device = std::make_shared<PlayingDevice>();
    const GemmKernel kernel = kernel_of(spec_of(Order::row), device);
    const HostMatrix a(kRows, 1, -1), b(kRows, 2, -1);
    device->play = [](const Pointers&) { FAIL("launched"); };
    CHECK_THROWS_AS(c_api::launch_on_copies(kernel, {.a = a.pointer(), .b = b.pointer(), .d = a.pointer()}), SpecError);
    CHECK(a.holds(1, -1));
}
