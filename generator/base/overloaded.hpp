#pragma once

namespace jitgemm {

/// One visitor of a variant out of a lambda for each alternative.
template <typename... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace jitgemm
