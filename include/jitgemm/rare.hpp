#pragma once

#include <utility>

namespace jitgemm {

/// A T, or none, in the room of a pointer: of a part that few values of a type have. It is copied with its owner, and
/// compared by the T.
template <typename T>
class Rare {
public:
    constexpr Rare() = default;
    // NOLINTBEGIN(google-explicit-constructor): a Rare<T> is given as a T
    constexpr Rare(const T& value) : value_(new T(value)) {}
    // NOLINTEND(google-explicit-constructor)
    constexpr Rare(const Rare& other) : value_(other ? new T(*other) : nullptr) {}
    constexpr Rare(Rare&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    constexpr Rare& operator=(Rare other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    constexpr ~Rare() { delete value_; }

    [[nodiscard]] constexpr explicit operator bool() const { return value_ != nullptr; }
    [[nodiscard]] constexpr const T& operator*() const { return *value_; }
    [[nodiscard]] constexpr const T* operator->() const { return value_; }
    /// The T, or the usual one.
    [[nodiscard]] constexpr T value_or(const T& usual) const { return value_ != nullptr ? *value_ : usual; }

    friend constexpr bool operator==(const Rare& left, const Rare& right) {
        return left.value_ == right.value_ || (left && right && *left == *right);
    }

private:
    const T* value_ = nullptr;
};

}  // namespace jitgemm
