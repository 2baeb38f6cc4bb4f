#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// Base class of all exceptions that jitgemm throws.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An error with all broken rules; what() lists them, one per line.
class ReasonedError : public Error {
public:
    ReasonedError(const std::string& subject, std::vector<std::string> reasons);
    [[nodiscard]] const std::vector<std::string>& reasons() const noexcept { return reasons_; }

private:
    std::vector<std::string> reasons_;
};

/// The problem is invalid: a negative size, a leading dimension that is too small, an unknown type ...
class SpecError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
};

/// A kernel's config does not fit the problem or the architecture, or a kernel name is malformed.
class ConfigError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
};

/// A template cannot be rendered; what() starts with "file:line: ".
class RenderError : public Error {
public:
    using Error::Error;
};

/// NVRTC rejected the source or is missing; log() is the compiler's log.
class CompileError : public Error {
public:
    CompileError(const std::string& message, std::string log) : Error(message), log_(std::move(log)) {}
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

private:
    std::string log_;
};

/// The kernel of a request with OnMiss::fail is not loaded; kernel() is its name.
class KernelNotReady : public Error {
public:
    KernelNotReady(const std::string& message, std::string kernel) : Error(message), kernel_(std::move(kernel)) {}
    [[nodiscard]] const std::string& kernel() const noexcept { return kernel_; }

private:
    std::string kernel_;
};

/// A CUDA driver call failed, or there is no driver or no device. Example: result_name() is "CUDA_ERROR_OUT_OF_MEMORY",
/// call() is "cuMemAlloc".
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
