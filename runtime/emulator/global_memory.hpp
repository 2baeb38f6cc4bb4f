#pragma once

#include "runtime/emulator/global_writes.hpp"
#include "runtime/emulator/written_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace jitgemm::emulator {

using DeviceAddress = std::uint64_t;

/// One buffer of emulated global memory.
struct Buffer {
    DeviceAddress address = 0;
    std::size_t bytes = 0;
    std::byte* host = nullptr;  ///< where its first byte really lies
    std::string name;           ///< what faults call it
    bool read_only = false;
    bool constant = false;            ///< no launch that may still run writes it: to be read before griddepcontrol.wait
    WrittenBytes* written = nullptr;  ///< null: all bytes are
    bool stored_once = false;         ///< a launch's second store to a byte must bring what is there
    /// Of such a buffer, the bytes that the launch has stored: entries of one kernel may each store D.
    std::shared_ptr<WrittenBytes> stored{};
    std::shared_ptr<GlobalWrites> writes{};  ///< the launch's; null where nobody follows them

    [[nodiscard]] bool contains(DeviceAddress first, std::size_t size) const {
        return first >= address && size <= bytes && first - address <= bytes - size;
    }
};

/// A range inside a buffer that no kernel may touch.
struct Guard {
    DeviceAddress address = 0;
    std::size_t bytes = 0;
    std::string name;
};

/// What a launch sees of global memory: it does not change while the launch runs.
class MemoryMap {
public:
    MemoryMap(std::vector<Buffer> buffers, std::vector<Guard> guards);
    /// The buffer that holds all `bytes` from `address` on, or null.
    [[nodiscard]] const Buffer* find(DeviceAddress address, std::size_t bytes) const;
    /// The guard that these bytes touch, or null.
    [[nodiscard]] const Guard* find_guard(DeviceAddress address, std::size_t bytes) const;
    /// "8 bytes past the end of A (4096 bytes)": where an address lies that find() refuses.
    [[nodiscard]] std::string describe(DeviceAddress address) const;

private:
    std::vector<Buffer> buffers_;  ///< by address
    std::vector<Guard> guards_;    ///< by address
};

class Program;

/// Emulated global memory: real host storage under device addresses that are never used twice, with unmapped room
/// between buffers, so that what runs over an end or outlives a free is found. Safe to use from several threads.
class GlobalMemory {
public:
    /// Allocations beyond `capacity` bytes in all throw Error. `region`: memories of different regions share no
    /// address.
    explicit GlobalMemory(std::size_t capacity = std::size_t{1} << 40, std::uint64_t region = 0);

    /// At a multiple of 256 bytes, not initialised by contract (zeros). Zero bytes take an address of their own.
    [[nodiscard]] DeviceAddress allocate(std::size_t bytes, std::string name);
    /// What faults call the buffer from now on. Throws Error when none begins there.
    void rename(DeviceAddress address, std::string name);
    /// Of the buffer that holds the address, if one does: Buffer::constant from now on.
    void mark_constant(DeviceAddress address);
    /// Throws Error when no buffer begins there.
    void free(DeviceAddress address);

    // Each throws Error when the range is not within one buffer. What was copied or filled counts as written.
    void copy_in(DeviceAddress destination, std::span<const std::byte> source);
    void copy_out(std::span<std::byte> destination, DeviceAddress source) const;
    void fill(DeviceAddress destination, std::uint8_t value, std::size_t bytes);

    /// From now on a kernel's access to this range is a fault that names `name`. It goes with its buffer.
    void guard(DeviceAddress address, std::size_t bytes, std::string name);

    /// From now on nothing is known of what the range holds: to read a byte before it is written is a kernel's fault.
    /// So it is for a new buffer. With `stored_once` a launch's second store of something else, anywhere in the buffer,
    /// is one too.
    void undefine(DeviceAddress address, std::size_t bytes, bool stored_once = false);
    /// Of the range, the bytes nobody has written.
    [[nodiscard]] std::size_t unwritten(DeviceAddress address, std::size_t bytes) const;

    /// The buffer that holds the address; throws Error when there is none.
    [[nodiscard]] Buffer find(DeviceAddress address) const;
    [[nodiscard]] std::size_t used() const;
    [[nodiscard]] std::size_t capacity() const { return capacity_; }

    [[nodiscard]] MemoryMap map() const;
    /// Addresses of the program's .global and .const variables, in the order of its module; made and initialised on
    /// first use, kept for later launches, as a loaded CUDA module's are.
    [[nodiscard]] std::vector<DeviceAddress> variables_of(const Program& program);

private:
    struct Storage {
        Buffer buffer;
        std::unique_ptr<std::byte[]> bytes;
        std::unique_ptr<WrittenBytes> written;  ///< kept while the buffer lives: launches that run hold it
        void mark(std::size_t first, std::size_t count);
    };
    [[nodiscard]] DeviceAddress allocate_locked(std::size_t bytes, std::string name, bool read_only);
    [[nodiscard]] Storage& storage_of(DeviceAddress address, std::size_t bytes);
    [[nodiscard]] const Storage& storage_of(DeviceAddress address, std::size_t bytes) const;
    void write(DeviceAddress address, std::size_t bytes, const auto& put);

    std::size_t capacity_;
    std::size_t used_ = 0;
    DeviceAddress next_;
    std::map<DeviceAddress, Storage> storages_;
    std::vector<Guard> guards_;
    std::map<std::uint64_t, std::vector<DeviceAddress>> program_variables_;  ///< by Program::identity
    mutable std::mutex mutex_;
};

}  // namespace jitgemm::emulator
