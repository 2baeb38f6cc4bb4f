#pragma once

#include "generator/base/arch.hpp"
#include "jitgemm/error.hpp"
#include "runtime/device/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::testing {

/// A device whose memory is the host's and whose launches are written down.
class FakeDevice : public Device {
public:
    struct Launch {
        std::string function;
        LaunchShape shape;
        std::vector<std::byte> arguments;
        Stream stream;
    };

    [[nodiscard]] const GpuModel& model() const override { return find_gpu("h200"); }
    [[nodiscard]] std::string name() const override { return "fake"; }
    [[nodiscard]] int ordinal() const override { return 0; }
    [[nodiscard]] int newest_cuda_major() const override { return 13; }
    [[nodiscard]] std::size_t total_memory() const override { return std::size_t{1} << 30; }
    [[nodiscard]] std::size_t free_memory() override { return std::size_t{1} << 30; }

    [[nodiscard]] DevicePointer allocate(std::size_t bytes) override {
        const std::lock_guard lock(mutex_);
        std::size_t used = 0;
        for (const auto& [address, size] : live_) used += size;
        if (bytes > memory - std::min(memory, used))
            throw CudaError("no room", "CUDA_ERROR_OUT_OF_MEMORY", "cuMemAlloc");
        void* const pointer = ::operator new(bytes);
        live_[reinterpret_cast<std::uintptr_t>(pointer)] = bytes;
        return pointer;
    }
    [[nodiscard]] DevicePointer allocate_zeroed(std::size_t bytes) override {
        const DevicePointer pointer = allocate(bytes);
        fill_bytes(pointer, 0, bytes);
        return pointer;
    }
    void free(DevicePointer pointer) noexcept override {
        const std::lock_guard lock(mutex_);
        if (live_.erase(pointer.address) != 0) ::operator delete(reinterpret_cast<void*>(pointer.address));
    }
    void copy_to_device(DevicePointer destination, const void* source, std::size_t bytes) override {
        std::memcpy(reinterpret_cast<void*>(destination.address), source, bytes);
    }
    void copy_to_host(void* destination, DevicePointer source, std::size_t bytes) override {
        std::memcpy(destination, reinterpret_cast<const void*>(source.address), bytes);
    }
    void fill_bytes(DevicePointer destination, std::uint8_t value, std::size_t bytes) override {
        std::memset(reinterpret_cast<void*>(destination.address), value, bytes);
    }

    [[nodiscard]] Function load(std::string_view binary, const KernelEntry& entry) override {
        ++loads;
        auto module = std::make_shared<FakeModule>();
        module->binary = binary;
        module->function = entry.function;
        void* const handle = module.get();
        return {handle, std::move(module)};
    }
    [[nodiscard]] int blocks_per_sm(const Function& /*function*/, const LaunchShape& /*shape*/) override { return 1; }
    /// The map itself, as far as it fits: enough to tell maps apart.
    [[nodiscard]] EncodedTensorMap encode_tensor_map(const TiledTensorMap& map) override {
        ++encoded_maps;
        EncodedTensorMap encoded;
        std::memcpy(encoded.bytes.data(), &map, std::min(sizeof map, sizeof encoded));
        return encoded;
    }
    void zero(DevicePointer destination, std::size_t bytes, Stream stream) override {
        const std::lock_guard lock(mutex_);
        zeroed.push_back({destination, bytes, stream});
    }
    void launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> arguments,
                Stream stream) override {
        ++launch_count;
        if (!record) return;
        const std::lock_guard lock(mutex_);
        launches.push_back(
            {static_cast<FakeModule*>(function.handle)->function, shape, {arguments.begin(), arguments.end()}, stream});
    }
    void synchronize(Stream /*stream*/) override {}

    [[nodiscard]] StreamIdentity identify(Stream stream) override {
        return {reinterpret_cast<std::uintptr_t>(stream), capture};
    }
    void keep_with_capture(Stream /*stream*/, std::shared_ptr<const void> object) override {
        graphs[capture].push_back(std::move(object));
    }

    [[nodiscard]] std::size_t live_allocations() const { return live_.size(); }

    std::size_t memory = std::size_t{1} << 30;  ///< that all allocations share
    std::atomic<int> launch_count = 0;
    std::atomic<int> loads = 0;
    std::atomic<int> encoded_maps = 0;
    struct Zeroed {
        DevicePointer destination;
        std::size_t bytes;
        Stream stream;
    };
    std::vector<Zeroed> zeroed;
    bool record = true;
    std::vector<Launch> launches;
    std::uint64_t capture = 0;                                                 ///< of every stream
    std::map<std::uint64_t, std::vector<std::shared_ptr<const void>>> graphs;  ///< what each capture keeps alive

private:
    struct FakeModule : Module {
        std::string binary;
        std::string function;
    };
    std::mutex mutex_;
    std::map<std::uint64_t, std::size_t> live_;
};

}  // namespace jitgemm::testing
