#include "runtime/device/timing_protocol.hpp"

#include "generator/text/nearest_name.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr std::array<std::string_view, 3> kProtocols{"steady", "cold", "sustained"};  // in the order of the enumeration

constexpr std::array<std::string_view, 3> kGroupSizes{"uniform", "random", "skewed"};

}  // namespace

std::span<const std::string_view> protocol_names() { return kProtocols; }

std::string_view to_string(Protocol protocol) { return kProtocols.at(static_cast<std::size_t>(protocol)); }

Protocol parse_protocol(std::string_view text) {
    return static_cast<Protocol>(position_of("protocol", text, kProtocols));
}

std::string_view to_string(GroupSizes sizes) { return kGroupSizes.at(static_cast<std::size_t>(sizes)); }

GroupSizes parse_group_sizes(std::string_view name) {
    return static_cast<GroupSizes>(position_of("group sizes", name, kGroupSizes));
}

}  // namespace jitgemm
