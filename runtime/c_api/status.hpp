#pragma once

#include "jitgemm/error.hpp"
#include "jitgemm/jitgemm.h"

namespace jitgemm::c_api {

/// An argument of a C function that breaks a rule: null, a struct's size, an option.
class InvalidArgument : public Error {
public:
    using Error::Error;
};

/// Keeps the current exception for jg_last_error() and returns its status for C.
[[nodiscard]] jg_status keep_current_exception() noexcept;
/// Sets the text to "" until the thread's next failure.
void forget_error() noexcept;
[[nodiscard]] const char* last_error() noexcept;

/// Runs the steps of one C function. No exception leaves it.
template <typename Steps>
jg_status guarded(Steps&& steps) noexcept {
    forget_error();
    try {
        steps();
        return JG_OK;
    } catch (...) {
        return keep_current_exception();
    }
}

/// Throws InvalidArgument with the name of the null argument.
template <typename Value>
Value& checked(Value* pointer, const char* name) {
    if (pointer == nullptr) throw InvalidArgument(std::string(name) + " is NULL");
    return *pointer;
}

}  // namespace jitgemm::c_api
