#include "runtime/c_api/status.hpp"

#include <exception>
#include <new>
#include <string>

namespace jitgemm::c_api {
namespace {

/// Of the calling thread. The literal takes over where there was no memory for the text.
struct LastError {
    std::string text;
    const char* literal = nullptr;
};

LastError& of_thread() noexcept {
    thread_local LastError last;
    return last;
}

jg_status keep(jg_status status, std::string_view text, std::string_view log = {}) noexcept {
    LastError& last = of_thread();
    try {
        last.text = text;
        if (text.find(log) == std::string_view::npos) last.text.append("\n").append(log);
        last.literal = nullptr;
    } catch (...) {
        last.literal = "out of memory for the error's text";
    }
    return status;
}

}  // namespace

jg_status keep_current_exception() noexcept {
    try {
        throw;
    } catch (const InvalidArgument& error) {
        return keep(JG_INVALID, error.what());
    } catch (const SpecError& error) {
        return keep(JG_INVALID, error.what());
    } catch (const ConfigError& error) {
        return keep(JG_NO_KERNEL, error.what());
    } catch (const CompileError& error) {
        return keep(JG_COMPILE_FAILED, error.what(), error.log());
    } catch (const RenderError& error) {
        return keep(JG_COMPILE_FAILED, error.what());
    } catch (const CudaError& error) {
        return keep(JG_CUDA_FAILED, error.what());
    } catch (const std::bad_alloc&) {
        of_thread().literal = "out of memory";
        return JG_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        return keep(JG_FAILED, error.what());
    } catch (...) {
        return keep(JG_FAILED, "an exception that is no std::exception");
    }
}

void forget_error() noexcept {
    LastError& last = of_thread();
    last.text.clear();
    last.literal = nullptr;
}

const char* last_error() noexcept {
    const LastError& last = of_thread();
    return last.literal != nullptr ? last.literal : last.text.c_str();
}

}  // namespace jitgemm::c_api
