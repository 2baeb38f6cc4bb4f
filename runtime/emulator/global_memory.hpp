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
    std::byte* host = nullptr;  ///< the host address of its first byte
    std::string name;           ///< its name in faults
    bool read_only = false;
    bool constant = false;  ///< no launch that may still run writes it: it may be read before griddepcontrol.wait
    WrittenBytes* written = nullptr;  ///< null: all bytes are written
    bool stored_once = false;         ///< a launch's second store to a byte must bring the same value
    /// The bytes of this buffer that the launch has stored. Each entry of one kernel may store D.
    std::shared_ptr<WrittenBytes> stored{};
    std::shared_ptr<GlobalWrites> writes{};  ///< the launch's writes; null if they are not followed

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

/// Global memory as a launch sees it. It does not change while the launch runs.
class MemoryMap {
public:
    MemoryMap(std::vector<Buffer> buffers, std::vector<Guard> guards);
    /// The buffer that holds all `bytes` from `address` on, or null.
    [[nodiscard]] const Buffer* find(DeviceAddress address, std::size_t bytes) const;
    /// The guard that these bytes touch, or null.
    [[nodiscard]] const Guard* find_guard(DeviceAddress address, std::size_t bytes) const;
    /// "8 bytes past the end of A (4096 bytes)": the place of an address that find() refuses.
    [[nodiscard]] std::string describe(DeviceAddress address) const;

private:
    std::vector<Buffer> buffers_;  ///< by address
    std::vector<Guard> guards_;    ///< by address
};

class Program;

/// Emulated global memory: host storage under device addresses that are never used twice. Unmapped room lies between
/// buffers, so that an access past an end or after a free is found. Several threads may use it.
class GlobalMemory {
public:
    /// Allocations beyond `capacity` bytes in all throw Error. Memories of different regions share no address.
    explicit GlobalMemory(std::size_t capacity = std::size_t{1} << 40, std::uint64_t region = 0);

    /// The address is a multiple of 256 bytes. The contract leaves contents undefined; they are zeros. Zero bytes have
    /// an address, too.
    [[nodiscard]] DeviceAddress allocate(std::size_t bytes, std::string name);
    /// Sets the buffer's name in faults. Throws Error if no buffer begins there.
    void rename(DeviceAddress address, std::string name);
    /// Sets Buffer::constant for the buffer that holds the address, if there is one.
    void mark_constant(DeviceAddress address);
    /// Throws Error if no buffer begins there.
    void free(DeviceAddress address);

    // Each throws Error if the range is not within one buffer. Copied and filled bytes count as written.
    void copy_in(DeviceAddress destination, std::span<const std::byte> source);
    void copy_out(std::span<std::byte> destination, DeviceAddress source) const;
    void fill(DeviceAddress destination, std::uint8_t value, std::size_t bytes);

    /// From now on a kernel's access to this range is a fault with `name`. It ends with its buffer.
    void guard(DeviceAddress address, std::size_t bytes, std::string name);

    /// From now on the contents of the range are undefined: a kernel's read of a byte before its write is a fault. A
    /// new buffer begins so. With `stored_once`, a launch's second store of another value anywhere in the buffer is a
    /// fault, too.
    void undefine(DeviceAddress address, std::size_t bytes, bool stored_once = false);
    /// The number of bytes of the range that were never written.
    [[nodiscard]] std::size_t unwritten(DeviceAddress address, std::size_t bytes) const;

    /// The buffer that holds the address. Throws Error if there is none.
    [[nodiscard]] Buffer find(DeviceAddress address) const;
    [[nodiscard]] std::size_t used() const;
    [[nodiscard]] std::size_t capacity() const { return capacity_; }

    [[nodiscard]] MemoryMap map() const;
    /// Addresses of the program's .global and .const variables, in the order of its module. They are made and
    /// initialised on first use and kept for later launches, as in a loaded CUDA module.
    [[nodiscard]] std::vector<DeviceAddress> variables_of(const Program& program);

private:
    struct Storage {
        Buffer buffer;
        std::unique_ptr<std::byte[]> bytes;
        std::unique_ptr<WrittenBytes> written;  ///< kept while the buffer lives, because running launches hold it
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
