#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// Root of every exception jitgemm throws on purpose.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An error that carries every violated rule at once; what() lists them, one per line.
class ReasonedError : public Error {
public:
    ReasonedError(const std::string& subject, std::vector<std::string> reasons);
    [[nodiscard]] const std::vector<std::string>& reasons() const noexcept { return reasons_; }

private:
    std::vector<std::string> reasons_;
};

/// The problem as asked makes no sense (negative size, leading dimension too small, unknown type ...).
class SpecError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
};

/// A kernel config that does not fit the problem or the architecture, or a malformed kernel name.
class ConfigError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
};

/// A template the renderer cannot resolve; what() starts with "file:line: ".
class RenderError : public Error {
public:
    using Error::Error;
};

/// NVRTC refused the source, or is missing; log() holds the compiler's own words.
class CompileError : public Error {
public:
    CompileError(const std::string& message, std::string log) : Error(message), log_(std::move(log)) {}
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

private:
    std::string log_;
};

/// A failed CUDA driver call, or no driver or device to call: result_name() is e.g. "CUDA_ERROR_OUT_OF_MEMORY", call() e.g. "cuMemAlloc".
class CudaError : public Error {
public:
    CudaError(const std::string& message, std::string result_name, std::string call)
        : Error(message), result_name_(std::move(result_name)), call_(std::move(call)) {}
    [[nodiscard]] const std::string& result_name() const noexcept { return result_name_; }
    [[nodiscard]] const std::string& call() const noexcept { return call_; }

private:
    std::string result_name_;
    std::string call_;
};

}  // namespace jitgemm
