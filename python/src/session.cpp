#include "python/src/session.hpp"

#include "python/src/default_device.hpp"
#include "python/src/errors.hpp"
#include "python/src/log_messages.hpp"
#include "runtime/context/context_state.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <new>
#include <utility>

namespace jitgemm::python {
namespace {

/// Guarded by the GIL. Never destroyed: at a process's end the driver may be gone before.
struct Sessions {
    std::vector<std::pair<Selection, std::shared_ptr<Session>>> all;
    std::vector<std::shared_ptr<Session>> by_gpu;
    bool on_gpu = false;  ///< one of them has been
    PyObject* latest_name = nullptr;
    std::shared_ptr<Session> of_latest;
};

Sessions*& sessions() {
    static auto* current = new Sessions;
    return current;
}

std::atomic<unsigned> generation{0};
bool parent_used_cuda = false;

/// The parent's locks may be held for ever, and CUDA serves no fork: objects of the parent are left alone.
void after_fork() {
    parent_used_cuda = parent_used_cuda || sessions()->on_gpu;
    sessions() = new Sessions;
    ++generation;
}

/// Takes the package's own folders, unless the environment names others.
void take_defaults(Options& options) {
    const auto take = [&](std::string& into, const char* name) {
        if (into.empty()) into = text_of(Ref::owned(call_python(member("_folders", name).get())).get());
    };
    take(options.wheel_directory, "wheels");
    take(options.tool, "tool");
}

/// Where a GPU can't be opened.
std::string way_out() {
    if (parent_used_cuda)
        return "this process is a fork of one that had used CUDA, which serves no fork: start it by multiprocessing's "
               "\"spawn\": ";
    return "no GPU can be used here, and device=\"emulator\" runs kernels on the CPU (jitgemm.doctor() says what is "
           "missing): ";
}

std::shared_ptr<Session> open(const Selection& selection) {
    Options options = Options::from_environment();
    take_defaults(options);
    options.device = selection.device.empty() ? "cuda" : selection.device;
    options.kernel = selection.kernel;
    options.family = selection.family;
    options.parameters = selection.parameters;
    follow_log(options);
    const WithoutGil released;
    try {
        auto session = std::make_shared<Session>(Session{.context = Context(options)});
        const Device& device = *state_of(session->context).device;
        session->emulated = device.kind() == DeviceKind::emulator;
        session->gpu = device.ordinal();
        return session;
    } catch (const CudaError& error) {
        throw CudaError(way_out() + error.what(), error.result_name(), error.call());
    }
}

/// By the caller's word for a device: a str, or what reads as one (torch.device). The last str that was given is most
/// often the next one.
std::shared_ptr<Session> session_named(PyObject* device) {
    Sessions& all = *sessions();
    if (device == all.latest_name) return all.of_latest;
    std::shared_ptr<Session> session = session_of({.device = device_word(device)});
    if (PyUnicode_CheckExact(device) != 0) {
        Ref kept = Ref::borrowed(device);
        Sessions& now = *sessions();
        now.of_latest = session;
        Py_XDECREF(std::exchange(now.latest_name, kept.release()));
    }
    return session;
}

/// Of all arrays that there are.
Place common_place(const Arrays& arrays) {
    std::string different;
    arrays.for_each([&](const Operand& operand) {
        if (operand.given() && operand.place != arrays.a.place)
            different += fmt::format(", {} {}", operand.name, to_string(operand.place));
    });
    if (!different.empty())
        throw OperandError("the arrays lie on different devices",
                           {fmt::format("a lies in {}{}", to_string(arrays.a.place), different)});
    return arrays.a.place;
}

/// Arrays on a GPU are multiplied there, but for a default of the emulator: whoever named it counts on its checks.
std::shared_ptr<Session> session_by_default(const Place& place) {
    const Ref device = default_device();
    if (place.on_gpu && device.get() != nullptr && words_of(device.get()).starts_with("emulator"))
        throw OperandError("arrays of another device than the default",
                           {fmt::format("the arrays lie on {}, and the default device is {}: name a device, or move "
                                        "the arrays to host memory",
                                        to_string(place), words_of(device.get()))});
    if (place.on_gpu) return session_of_gpu(place.gpu);
    if (device.get() != nullptr) return session_named(device.get());
    throw OperandError("no device is named",
                       {"the arrays lie in host memory: device=\"cuda\" copies them to a GPU and back, "
                        "device=\"emulator\" runs on the CPU, some million times slower; jitgemm.set_device names one "
                        "for all calls"});
}

}  // namespace

std::shared_ptr<Session> session_of(const Selection& selection) {
    for (const auto& [known, session] : sessions()->all)
        if (known == selection) return session;
    std::shared_ptr<Session> session = open(selection);
    for (const auto& [known, first] : sessions()->all)  // another thread's, meanwhile
        if (known == selection) return first;
    sessions()->on_gpu = sessions()->on_gpu || !session->emulated;
    sessions()->all.emplace_back(selection, session);
    return session;
}

std::shared_ptr<Session> session_of_gpu(int gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    if (at < sessions()->by_gpu.size() && sessions()->by_gpu[at] != nullptr) return sessions()->by_gpu[at];
    std::shared_ptr<Session> session = session_of({.device = fmt::format("cuda:{}", gpu)});
    if (at >= sessions()->by_gpu.size()) sessions()->by_gpu.resize(at + 1);
    sessions()->by_gpu[at] = session;
    return session;
}

std::shared_ptr<Session> session_for(const Arrays& arrays, PyObject* device) {
    const Place place = common_place(arrays);
    if (device == nullptr || device == Py_None) return session_by_default(place);
    std::shared_ptr<Session> session = session_named(device);
    if (place.on_gpu && (session->emulated || session->gpu != place.gpu))
        throw OperandError("arrays of another device",
                           {fmt::format("the arrays lie on {}, and device is {}", to_string(place),
                                        words_of(Ref::owned(str_of(device)).get()))});
    return session;
}

void forget_sessions() {
    sessions()->all.clear();
    sessions()->by_gpu.clear();
    sessions()->of_latest = nullptr;
    Py_CLEAR(sessions()->latest_name);
}

void forget_plans() {
    for (const auto& [selection, session] : sessions()->all) session->plans.clear();
}

void watch_forks() {
    if (pthread_atfork(nullptr, nullptr, after_fork) != 0) throw std::bad_alloc();
}

unsigned fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace jitgemm::python
