#pragma once

#include <span>
#include <string_view>

/// \file What is fuzzed: one function for each format that is read from outside. A function may refuse its input with
/// an Error, and with nothing else; a crash, another exception, a complaint of a sanitizer, more than kMostSeconds or
/// more than kMostMegabytes is a defect of the reader.

namespace jitgemm::fuzz {

void wisdom(std::string_view input);           ///< a wisdom file, and choosing kernels by it
void npy(std::string_view input);              ///< an array
void shapes(std::string_view input);           ///< a shape file
void cache_meta(std::string_view input);       ///< meta.json of a cache entry
void kernel_name(std::string_view input);      ///< a kernel's name, "name=value" parameters on further lines
void layout(std::string_view input);           ///< a layout expression
void dump(std::string_view input);             ///< a .cu with its banner
void store(std::string_view input);            ///< the SQLite file of a tuning store
void ptx(std::string_view input);              ///< PTX, read and run by the emulator
void machine_code(std::string_view input);     ///< a cubin or PTX, whose instructions are compared
void kernel_template(std::string_view input);  ///< a file of --templates

struct Target {
    std::string_view name;
    void (*read)(std::string_view input);
};

[[nodiscard]] std::span<const Target> targets();
/// Null for a name of none.
[[nodiscard]] const Target* find_target(std::string_view name);

/// Gives an input to a target, which may refuse it.
void read(const Target& target, std::string_view input);

// The limits of an input, under sanitizers on a busy machine.
inline constexpr int kMostSeconds = 20;
inline constexpr int kMostMegabytes = 2048;

}  // namespace jitgemm::fuzz
