#include "runtime/compiler/nvrtc_signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace jitgemm {
namespace {

using SignalHandler = void (*)(int);

/// Tables of a loaded library that say where it keeps the address of an imported function.
struct Imports {
    std::uintptr_t base = 0;
    const char* strings = nullptr;
    const ElfW(Sym) * symbols = nullptr;
    const ElfW(Rela) * calls = nullptr;  // relocations of the functions it calls through its table
    std::size_t call_bytes = 0;
};

/// glibc writes addresses into the dynamic section where other loaders leave offsets.
template <typename Pointer>
void take_address(Pointer& pointer, const Imports& imports, ElfW(Addr) value) {
    const std::uintptr_t address = value < imports.base ? imports.base + value : value;
    pointer = reinterpret_cast<Pointer>(address);  // NOLINT(performance-no-int-to-ptr): that is how the loader keeps it
}

Imports imports_of(const link_map& library) {
    Imports imports;
    imports.base = library.l_addr;
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
            case DT_STRTAB: take_address(imports.strings, imports, entry->d_un.d_ptr); break;
            case DT_SYMTAB: take_address(imports.symbols, imports, entry->d_un.d_ptr); break;
            case DT_JMPREL: take_address(imports.calls, imports, entry->d_un.d_ptr); break;
            case DT_PLTRELSZ: imports.call_bytes = entry->d_un.d_val; break;
            default: break;
        }
    }
    return imports;
}

/// The library's own slot for the address of the function of that name; null when it imports none.
void** import_slot(const Imports& imports, const char* name) {
    if (imports.calls == nullptr || imports.symbols == nullptr || imports.strings == nullptr) return nullptr;
    for (std::size_t i = 0; i < imports.call_bytes / sizeof(ElfW(Rela)); ++i) {
        const ElfW(Rela)& relocation = imports.calls[i];
        const ElfW(Sym)& symbol = imports.symbols[relocation.r_info >> 32U];
        if (std::strcmp(imports.strings + symbol.st_name, name) != 0) continue;
        return reinterpret_cast<void**>(imports.base + relocation.r_offset);  // NOLINT(performance-no-int-to-ptr)
    }
    return nullptr;
}

const void* library_at(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// NVRTC calls this in place of signal(). It may restore the previous handler if it set one before its import was
/// changed (another part of the program was compiling just then). Else nothing changes.
SignalHandler keep_handler(int number, SignalHandler handler) {
    struct sigaction present {};
    sigaction(number, nullptr, &present);
    const void* const set = reinterpret_cast<const void*>(present.sa_handler);
    const void* const caller = library_at(__builtin_return_address(0));
    if (caller != nullptr && library_at(set) == caller) return std::signal(number, handler);
    return SIG_DFL;
}

/// Writable for that one store, whether or not the loader sealed the table.
bool point_slot(void** slot, void* value) {
    const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(slot);
    void* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);  // NOLINT(performance-no-int-to-ptr)
    if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
    std::atomic_ref(*slot).store(value);
    return true;
}

/// The library that this code is part of: what the slot points to must stay when the program closes it.
void keep_own_library() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(keep_handler), &info) != 0)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

bool keep_signal_handlers(const void* function) {
    Dl_info info{};
    void* library = nullptr;
    if (dladdr1(function, &info, &library, RTLD_DL_LINKMAP) == 0 || library == nullptr) return false;
    void** const slot = import_slot(imports_of(*static_cast<const link_map*>(library)), "signal");
    if (slot == nullptr) return false;
    keep_own_library();
    return point_slot(slot, reinterpret_cast<void*>(keep_handler));
}

}  // namespace jitgemm
