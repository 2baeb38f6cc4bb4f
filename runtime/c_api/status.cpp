#include "runtime/c_api/status.hpp"

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace jitgemm::c_api {
namespace {

// Of the calling thread. Functions are still called when its thread_local objects are destroyed, by destructors of
// static ones, so that what they touch has no destructor itself.
thread_local std::string* kept_text = nullptr;
thread_local const char* literal = nullptr;  // in place of the text, where there is none
thread_local bool thread_ends = false;

struct Keeper {
    Keeper() { kept_text = new std::string; }
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    ~Keeper() {
        delete std::exchange(kept_text, nullptr);
        thread_ends = true;
    }
};

/// Null while the thread ends. May throw bad_alloc.
std::string* text_of_thread() {
    if (!thread_ends) {
        thread_local const Keeper keeper;
        static_cast<void>(keeper);
    }
    return kept_text;
}

jg_status keep(jg_status status, std::string_view text, std::string_view log = {}) noexcept {
    try {
        std::string* const kept = text_of_thread();
        if (kept == nullptr) {
            literal = "the thread is ending: the text of its last error is gone";
            return status;
        }
        kept->assign(text);
        if (text.find(log) == std::string_view::npos) kept->append("\n").append(log);
        literal = nullptr;
    } catch (const std::bad_alloc&) {
        literal = "no memory for the error's text";
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
    } catch (const KernelNotReady& error) {
        return keep(JG_NOT_READY, error.what());
    } catch (const CudaError& error) {
        return keep(JG_CUDA_FAILED, error.what());
    } catch (const std::bad_alloc&) {
        literal = "out of memory";
        return JG_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        return keep(JG_FAILED, error.what());
    } catch (...) {
        return keep(JG_FAILED, "an unknown exception");
    }
}

void forget_error() noexcept {
    literal = nullptr;
    if (kept_text != nullptr) kept_text->clear();
}

const char* last_error() noexcept {
    if (literal != nullptr) return literal;
    return kept_text == nullptr ? "" : kept_text->c_str();
}

}  // namespace jitgemm::c_api
