// SPDX-License-Identifier: MIT
#include "shm/provider_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>

#include "shm/exact_io.hpp"
#include "shm/futex_atomic.hpp"

namespace eventlog::core {
namespace {

constexpr unsigned notification_bit = std::countr_zero(EVENTLOG_GATE_NOTIFICATION);

/// Replaces the pages of the gate while threads read them. The kernel does it in one step, so a
/// reader sees the old word or the new one. Calls the kernel directly, because ThreadSanitizer
/// treats the C library's mmap as an ordinary write.
bool map_over(std::uint32_t* gate, std::size_t size, int flags, int file, off_t offset) noexcept {
    return ::syscall(SYS_mmap, gate, size, PROT_READ | PROT_WRITE, MAP_FIXED | flags, file,
                     offset) != -1;
}

/// Reserves memory for a part of the file: a page without memory would crash the program that
/// accesses it when tmpfs is full.
bool reserve_part(const unique_fd& file, off_t offset, std::size_t size) noexcept {
    return ::posix_fallocate(file.get(), offset, static_cast<off_t>(size)) == 0;
}

eventlog_provider_file make_header(const provider_content& content,
                                   const process_identity& self) noexcept {
    eventlog_provider_file header{};
    header.magic = EVENTLOG_PROVIDER_MAGIC;
    header.version = EVENTLOG_PROVIDER_VERSION;
    header.event_count = content.event_count;
    header.schema_size = static_cast<std::uint32_t>(content.schema.size());
    header.pid = self.pid;
    header.uid = self.uid;
    header.region_features = EVENTLOG_FEATURES;
    header.start_time = self.start_time;
    header.pid_namespace = self.pid_namespace;
    header.schema_hash = content.schema_hash;
    header.wants_notifications = content.wants_notifications ? 1 : 0;
    std::memcpy(header.process, self.name.data(), sizeof header.process);
    return header;
}

bool fill(const unique_fd& file, const provider_content& content,
          const process_identity& self) noexcept {
    const eventlog_provider_file header = make_header(content, self);
    return reserve_part(file, 0, sizeof header) &&
           reserve_part(file, EVENTLOG_PROVIDER_GATE_OFFSET, content.gate_size) &&  // with counters
           reserve_part(file, EVENTLOG_PROVIDER_SCHEMA_OFFSET, content.schema.size()) &&
           write_exactly(file, &header, sizeof header, 0) &&
           write_exactly(file, content.schema.data(), content.schema.size(),
                         EVENTLOG_PROVIDER_SCHEMA_OFFSET);
}

/// Links the file under the first free name.
int name_instance(const unique_fd& file, const directory& where, const provider_content& content,
                  std::uint32_t pid, provider_file_name& name) noexcept {
    constexpr unsigned instances_max = 4096;
    for (unsigned instance = 0; instance < instances_max; ++instance) {
        name = instance_file_name(content.name, pid, instance);
        const int result = link_file(file, where.providers, name.data());
        if (result != EEXIST) {
            return result;
        }
    }
    return EEXIST;
}

}  // namespace

provider_file_name instance_file_name(const char* provider, std::uint32_t pid,
                                      unsigned instance) noexcept {
    provider_file_name name{};
    static_cast<void>(std::snprintf(name.data(), name.size(), "%s.%u.%u", provider, pid, instance));
    return name;
}

publish_result publish_provider(const directory& where, const provider_content& content,
                                const process_identity& self, provider_file_name& name,
                                error_text& error) noexcept {
    const unique_fd file = create_unnamed_file(where.providers, error);
    if (!file) {
        return publish_result::no_directory;
    }
    if (!fill(file, content, self)) {
        error.set("No space for provider %s in %s. Free some there, or set EVENTLOG_DIR to another "
                  "tmpfs.",
                  content.name, current_directory().text.data());
        return publish_result::no_space;
    }
    // Mapped before other processes can find the file, so every bit set there is visible here.
    if (!map_over(content.gate, content.gate_size, MAP_SHARED, file.get(),
                  EVENTLOG_PROVIDER_GATE_OFFSET)) {
        error.set("The gate of provider %s cannot be mapped (%s). Raise vm.max_map_count or the "
                  "memory limit.",
                  content.name, std::strerror(errno));
        return publish_result::not_mapped;
    }
    if (const int result = name_instance(file, where, content, self.pid, name); result != 0) {
        close_gate(content.gate, content.gate_size);
        error.set("Provider %s cannot be published in %s (%s). Check that /proc is mounted and "
                  "that you may write there.",
                  content.name, current_directory().text.data(), std::strerror(result));
        return publish_result::no_directory;
    }
    return publish_result::published;
}

void close_gate(std::uint32_t* gate, std::size_t gate_size) noexcept {
    static_cast<void>(map_over(gate, gate_size, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

provider_file::~provider_file() {
    if (gate_ != nullptr) {
        static_cast<void>(::munmap(gate_, EVENTLOG_GATE_SIZE));
    }
}

bool provider_file::open(const directory& where, const char* name, error_text& error) noexcept {
    file_ = unique_fd(
        ::openat(where.providers.get(), name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file_) {
        error.set("The provider file %s cannot be opened (%s).", name, std::strerror(errno));
        return false;
    }
    struct stat status {};
    const bool readable = ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                          read_exactly(file_, &header_, sizeof header_, 0);
    header_.process[sizeof header_.process - 1] = '\0';
    if (!readable || header_.magic != EVENTLOG_PROVIDER_MAGIC ||
        header_.version != EVENTLOG_PROVIDER_VERSION || header_.event_count == 0 ||
        header_.event_count > EVENTLOG_EVENTS_MAX ||
        header_.schema_size > EVENTLOG_SCHEMA_SIZE_MAX ||
        status.st_size < EVENTLOG_PROVIDER_SCHEMA_OFFSET + off_t{header_.schema_size}) {
        error.set("The provider file %s is damaged or of another version of eventlog. Remove it "
                  "from %s/providers.",
                  name, current_directory().text.data());
        return false;
    }
    return true;
}

bool provider_file::is_alive(mapped_files& mapped) const noexcept {
    if (!core::is_alive(header_.pid, header_.start_time, header_.pid_namespace)) {
        return false;
    }
    // Other file systems may show mappings under device and inode numbers that differ from fstat's.
    struct statfs system {};
    struct stat status {};
    return ::fstatfs(file_.get(), &system) != 0 || system.f_type != TMPFS_MAGIC ||
           ::fstat(file_.get(), &status) != 0 || header_.pid_namespace != own_pid_namespace() ||
           mapped.may_map(header_.pid, status.st_dev, status.st_ino);
}

bool provider_file::read_schema(std::span<std::uint8_t> bytes) const noexcept {
    return bytes.size() == header_.schema_size &&
           read_exactly(file_, bytes.data(), bytes.size(), EVENTLOG_PROVIDER_SCHEMA_OFFSET);
}

bool provider_file::read_gate(std::span<std::uint32_t> words) const noexcept {
    return words.size() <= header_.event_count &&
           read_exactly(file_, words.data(), words.size_bytes(), EVENTLOG_PROVIDER_GATE_OFFSET);
}

bool provider_file::read_counters(eventlog_counters_page& counters) const noexcept {
    return read_exactly(file_, &counters, sizeof counters, EVENTLOG_PROVIDER_COUNTERS_OFFSET);
}

bool provider_file::map_gate() noexcept {
    if (gate_ == nullptr) {
        void* mapped = ::mmap(nullptr, EVENTLOG_GATE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                              file_.get(), EVENTLOG_PROVIDER_GATE_OFFSET);
        if (mapped == MAP_FAILED) {
            return false;
        }
        gate_ = static_cast<std::uint32_t*>(mapped);
    }
    return true;
}

bool provider_file::set_bit(std::uint32_t event, unsigned slot) noexcept {
    if (event >= header_.event_count || !map_gate()) {
        return false;
    }
    // Full fence: the application that sees the bit also sees everything stored before.
    return futex_set_bit(&gate_[event], slot);
}

bool provider_file::has_bit(unsigned slot) const noexcept {
    std::array<std::uint32_t, EVENTLOG_EVENTS_MAX> words{};
    const std::span gate = std::span(words).first(header_.event_count);
    return read_gate(gate) && std::ranges::any_of(gate, [slot](std::uint32_t word) {
               return (word & 1U << slot) != 0;
           });
}

void provider_file::raise_notification() noexcept {
    for (std::uint32_t event = 0; event < header_.event_count; ++event) {
        // Full fence: the application that sees the bit also sees everything stored before.
        if (!futex_set_bit(&gate_[event], notification_bit)) {
            return;
        }
    }
}

void provider_file::detach_slot(unsigned slot) noexcept {
    if (!map_gate()) {
        return;
    }
    // Applications that set bits later check the subscription's state themselves.
    if (has_bit(slot)) {
        raise_notification();
    }
    for (std::uint32_t event = 0; event < header_.event_count; ++event) {
        if (!futex_clear_bit(&gate_[event], slot)) {
            return;
        }
    }
}

void provider_file::notify_if_wanted() noexcept {
    // Read again: the application sets the flag, then scans; the consumer sets bits, then reads the
    // flag. So at least one of them sees the other.
    std::uint32_t wants_notifications = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!read_exactly(file_, &wants_notifications, sizeof wants_notifications,
                      offsetof(eventlog_provider_file, wants_notifications)) ||
        wants_notifications == 0 || !map_gate()) {
        return;
    }
    raise_notification();
}

void provider_file::request_notifications() noexcept {
    const std::uint32_t wants_notifications = 1;
    write_exactly(file_, &wants_notifications, sizeof wants_notifications,
                  offsetof(eventlog_provider_file, wants_notifications));
}

}  // namespace eventlog::core
