#include "runtime/tuning/store/store_location.hpp"

#include "runtime/tuning/store/store.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>

namespace jitgemm::tuning {
namespace {

struct NetworkFileSystem {
    std::uint64_t magic;
    std::string_view name;
};

// statfs(2) and linux/magic.h of Linux 6.1; BeeGFS, GPFS, Lustre and PanFS as their own kernel modules and coreutils'
// stat(1) have them. FUSE may be anything (sshfs, glusterfs, a local disk), and 9P a virtual machine's host: both
// count.
constexpr std::array<NetworkFileSystem, 20> kNetworkFileSystems{{
    {0x6969, "NFS"},
    {0x517B, "SMB"},
    {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB2"},
    {0x0BD00BD0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x65735546, "FUSE"},
    {0x00C36400, "Ceph"},
    {0x01021997, "9P"},
    {0x19830326, "BeeGFS"},
    {0xAAD7AAEA, "PanFS"},
    {0x5346414F, "AFS"},
    {0x6B414653, "kAFS"},
    {0x73757245, "Coda"},
    {0x564C, "NCP"},
    {0x01161970, "GFS2"},
    {0x7461636F, "OCFS2"},
    {0x20030528, "OrangeFS"},
    {0x786F4256, "VirtualBox"},
    {0xBACBACBC, "VMware"},
}};

std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// A host's name, as far as a file's name may contain it.
std::string for_file_name(std::string_view host) {
    std::string name(host);
    std::ranges::replace_if(
        name, [](unsigned char letter) { return std::isalnum(letter) == 0 && letter != '.' && letter != '-'; }, '_');
    return name;
}

bool is_store_name(const std::string& name) {
    return name == "tuning.sqlite" || (name.starts_with("tuning-") && name.ends_with(".sqlite"));
}

}  // namespace

bool is_network_file_system(std::uint64_t magic) {
    return std::ranges::find(kNetworkFileSystems, magic, &NetworkFileSystem::magic) != kNetworkFileSystems.end();
}

StoreLocation store_location(const std::string& directory, std::uint64_t file_system_magic, std::string_view host) {
    if (!is_network_file_system(file_system_magic)) return {directory + "/tuning.sqlite", Journal::wal};
    return {fmt::format("{}/tuning-{}.sqlite", directory, for_file_name(host)), Journal::rollback};
}

StoreLocation store_location(const std::string& directory) {
    struct statfs status {};
    if (::statfs(directory.c_str(), &status) != 0)
        throw TuningStoreError(fmt::format("tuning store {}: {}", directory, std::generic_category().message(errno)));
    // f_type is signed on some machines: CIFS's would come negative.
    return store_location(directory, static_cast<std::uint32_t>(status.f_type), host_name());
}

std::vector<std::string> store_files(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        if (is_store_name(entry.path().filename().string())) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace jitgemm::tuning
