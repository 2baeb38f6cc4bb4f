#include "runtime/emulator/global_memory.hpp"

#include "generator/base/round_up.hpp"
#include "jitgemm/error.hpp"
#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace jitgemm::emulator {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kUnmappedRoom = std::size_t{1} << 20;  // a row that runs over lands in no neighbour

template <typename Range>
auto last_from(const Range& sorted, DeviceAddress address) {
    const auto after = std::upper_bound(sorted.begin(), sorted.end(), address,
                                        [](DeviceAddress wanted, const auto& item) { return wanted < item.address; });
    return after == sorted.begin() ? sorted.end() : std::prev(after);
}

}  // namespace

MemoryMap::MemoryMap(std::vector<Buffer> buffers, std::vector<Guard> guards)
    : buffers_(std::move(buffers)), guards_(std::move(guards)) {
    std::sort(guards_.begin(), guards_.end(), [](const Guard& a, const Guard& b) { return a.address < b.address; });
}

const Buffer* MemoryMap::find(DeviceAddress address, std::size_t bytes) const {
    const auto found = last_from(buffers_, address);
    return found != buffers_.end() && found->contains(address, bytes) ? &*found : nullptr;
}

const Guard* MemoryMap::find_guard(DeviceAddress address, std::size_t bytes) const {
    if (guards_.empty()) return nullptr;
    const auto found = last_from(guards_, address + bytes - 1);
    return found != guards_.end() && found->address + found->bytes > address ? &*found : nullptr;
}

std::string MemoryMap::describe(DeviceAddress address) const {
    const auto before = last_from(buffers_, address);
    const auto after = before == buffers_.end() ? buffers_.begin() : std::next(before);
    const std::uint64_t behind = before == buffers_.end() ? ~std::uint64_t{0} : address - before->address;
    const std::uint64_t ahead = after == buffers_.end() ? ~std::uint64_t{0} : after->address - address;
    if (before != buffers_.end() && behind < before->bytes + std::min<std::uint64_t>(ahead, kUnmappedRoom)) {
        return behind < before->bytes ? fmt::format("offset {} of {} ({} bytes)", behind, before->name, before->bytes)
                                      : fmt::format("offset {} of {}, {} bytes past its end ({} bytes)", behind,
                                                    before->name, behind - before->bytes, before->bytes);
    }
    if (ahead <= kUnmappedRoom) return fmt::format("{} bytes before {} ({} bytes)", ahead, after->name, after->bytes);
    return fmt::format("{:#x}, which is near no buffer: allocate operands on the context (Context::allocate)", address);
}

GlobalMemory::GlobalMemory(std::size_t capacity, std::uint64_t region)
    : capacity_(capacity), next_(kFirstGlobalAddress + region % kGlobalRegions * kGlobalRegionBytes) {}

DeviceAddress GlobalMemory::allocate(std::size_t bytes, std::string name) {
    const std::scoped_lock lock(mutex_);
    return allocate_locked(bytes, std::move(name), false);
}

DeviceAddress GlobalMemory::allocate_locked(std::size_t bytes, std::string name, bool read_only) {
    if (bytes > capacity_ - used_) {
        throw Error(fmt::format("{} of {} bytes does not fit the emulated memory: {} of {} bytes are free", name, bytes,
                                capacity_ - used_, capacity_));
    }
    Storage storage;
    storage.bytes = std::make_unique<std::byte[]>(bytes + kAlignment);
    const auto misplaced = reinterpret_cast<std::uintptr_t>(storage.bytes.get()) % kAlignment;
    storage.written = std::make_unique<WrittenBytes>(bytes);
    storage.buffer = {.address = next_,
                      .bytes = bytes,
                      .host = storage.bytes.get() + (kAlignment - misplaced),
                      .name = std::move(name),
                      .read_only = read_only,
                      .written = storage.written.get()};
    const DeviceAddress address = next_;
    next_ += round_up(bytes + kUnmappedRoom, kAlignment);
    used_ += bytes;
    storages_.emplace(address, std::move(storage));
    return address;
}

void GlobalMemory::rename(DeviceAddress address, std::string name) {
    const std::scoped_lock lock(mutex_);
    const auto found = storages_.find(address);
    if (found == storages_.end()) throw Error(fmt::format("no emulated buffer begins at {:#x}", address));
    found->second.buffer.name = std::move(name);
}

void GlobalMemory::mark_constant(DeviceAddress address) {
    const std::scoped_lock lock(mutex_);
    const auto next = storages_.upper_bound(address);
    if (next == storages_.begin()) return;
    Buffer& buffer = std::prev(next)->second.buffer;
    if (buffer.contains(address, 0)) buffer.constant = true;
}

void GlobalMemory::free(DeviceAddress address) {
    const std::scoped_lock lock(mutex_);
    const auto found = storages_.find(address);
    if (found == storages_.end()) throw Error(fmt::format("no emulated buffer begins at {:#x}", address));
    const Buffer freed = found->second.buffer;
    used_ -= freed.bytes;
    std::erase_if(guards_, [&](const Guard& guard) { return freed.contains(guard.address, guard.bytes); });
    storages_.erase(found);
}

/// Once all bytes are known to be written, no access need ask.
void GlobalMemory::Storage::mark(std::size_t first, std::size_t count) {
    if (count == buffer.bytes) buffer.written = nullptr;
    if (buffer.written != nullptr) buffer.written->mark(first, count);
}

const GlobalMemory::Storage& GlobalMemory::storage_of(DeviceAddress address, std::size_t bytes) const {
    const auto after = storages_.upper_bound(address);
    if (after != storages_.begin()) {
        const Storage& storage = std::prev(after)->second;
        if (storage.buffer.contains(address, bytes)) return storage;
    }
    throw Error(fmt::format("{} bytes at {:#x} are not within one emulated buffer", bytes, address));
}

GlobalMemory::Storage& GlobalMemory::storage_of(DeviceAddress address, std::size_t bytes) {
    return const_cast<Storage&>(std::as_const(*this).storage_of(address, bytes));
}

/// `put` is told where the range lies on the host.
void GlobalMemory::write(DeviceAddress address, std::size_t bytes, const auto& put) {
    if (bytes == 0) return;
    Storage& storage = storage_of(address, bytes);
    const std::size_t first = address - storage.buffer.address;
    put(storage.buffer.host + first);
    storage.mark(first, bytes);
}

void GlobalMemory::copy_in(DeviceAddress destination, std::span<const std::byte> source) {
    const std::scoped_lock lock(mutex_);
    write(destination, source.size(), [&](std::byte* to) { std::memcpy(to, source.data(), source.size()); });
}

void GlobalMemory::copy_out(std::span<std::byte> destination, DeviceAddress source) const {
    const std::scoped_lock lock(mutex_);
    if (destination.empty()) return;
    const Buffer& buffer = storage_of(source, destination.size()).buffer;
    std::memcpy(destination.data(), buffer.host + (source - buffer.address), destination.size());
}

void GlobalMemory::fill(DeviceAddress destination, std::uint8_t value, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    write(destination, bytes, [&](std::byte* to) { std::memset(to, value, bytes); });
}

void GlobalMemory::guard(DeviceAddress address, std::size_t bytes, std::string name) {
    const std::scoped_lock lock(mutex_);
    static_cast<void>(storage_of(address, bytes));
    if (bytes > 0) guards_.push_back({address, bytes, std::move(name)});
}

void GlobalMemory::undefine(DeviceAddress address, std::size_t bytes, bool stored_once) {
    const std::scoped_lock lock(mutex_);
    Storage& storage = storage_of(address, bytes);
    if (storage.buffer.written == nullptr) storage.written->mark(0, storage.buffer.bytes);
    storage.buffer.written = storage.written.get();
    storage.buffer.stored_once = stored_once;
    storage.written->forget(address - storage.buffer.address, bytes);
}

std::size_t GlobalMemory::unwritten(DeviceAddress address, std::size_t bytes) const {
    const std::scoped_lock lock(mutex_);
    const Buffer& buffer = storage_of(address, bytes).buffer;
    return buffer.written == nullptr ? 0 : buffer.written->missing(address - buffer.address, bytes);
}

Buffer GlobalMemory::find(DeviceAddress address) const {
    const std::scoped_lock lock(mutex_);
    return storage_of(address, 1).buffer;
}

std::size_t GlobalMemory::used() const {
    const std::scoped_lock lock(mutex_);
    return used_;
}

MemoryMap GlobalMemory::map() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Buffer> buffers;
    buffers.reserve(storages_.size());
    for (const auto& [address, storage] : storages_) {
        Buffer& buffer = buffers.emplace_back(storage.buffer);
        if (buffer.stored_once) {
            buffer.stored = std::make_shared<WrittenBytes>(buffer.bytes);
        } else if (!buffer.read_only && !buffer.constant) {
            buffer.writes = std::make_shared<GlobalWrites>(buffer.bytes);
        }
    }
    return {std::move(buffers), guards_};
}

std::vector<DeviceAddress> GlobalMemory::variables_of(const Program& program) {
    const std::scoped_lock lock(mutex_);
    const auto [entry, fresh] = program_variables_.try_emplace(program.identity());
    if (!fresh) return entry->second;
    for (const ptx::Variable& variable : program.module().variables) {
        const bool placed = variable.space == ptx::StateSpace::global || variable.space == ptx::StateSpace::constant;
        const auto bytes = static_cast<std::size_t>(variable.bytes);
        entry->second.push_back(
            placed ? allocate_locked(bytes, variable.name, variable.space == ptx::StateSpace::constant) : 0);
        if (!placed) continue;
        write(entry->second.back(), bytes, [&](std::byte* to) {  // zeros where nothing is said, as in CUDA
            if (!variable.initial.empty()) std::memcpy(to, variable.initial.data(), bytes);
        });
    }
    return entry->second;
}

}  // namespace jitgemm::emulator
