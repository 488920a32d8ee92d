// SPDX-License-Identifier: MIT
#include "memory/subscription.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "base/cpus.hpp"
#include "base/user_error.hpp"
#include "memory/open_gates.hpp"
#include "memory/pause_log.hpp"
#include "memory/timed_directory_lock.hpp"
#include "platform/populate.hpp"
#include "platform/process.hpp"
#include "ring/clock.hpp"
#include "schema/schema.hpp"
#include "schema/stored_filter.hpp"
#include "shm/subscription_file.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

// Address space, mostly: applications reserve the memory that they use.
constexpr std::uint64_t schemas_size = std::uint64_t{16} << 20U;
constexpr std::uint64_t default_buffer_size = std::uint64_t{1} << 20U;
constexpr std::uint64_t default_total = std::uint64_t{64} << 20U;

/// 1 MiB, or less on machines with so many CPUs that the total would exceed its bound.
std::uint64_t suitable_buffer_size(std::uint64_t buffers) {
    const std::uint64_t share = std::bit_floor(std::max<std::uint64_t>(default_total / buffers, 1));
    return std::clamp<std::uint64_t>(share, EVENTLOG_BUFFER_SIZE_MIN, default_buffer_size);
}

struct buffer_plan {
    system_cpus cpus = read_cpus();
    std::uint64_t count = 0;
    std::uint64_t size = 0;  // of one
    /// Whether the buffers of the shared ring get memory when they are first needed. Otherwise
    /// their memory is reserved in advance, as for all other rings.
    bool is_shared_ring_lazy = core::can_populate();

    [[nodiscard]] std::uint64_t reserved(std::uint32_t per_cpu) const noexcept {
        return (count - (is_shared_ring_lazy ? per_cpu : 0)) * size;
    }
};

buffer_plan plan_buffers(std::uint64_t wanted_size, std::uint32_t per_cpu) {
    buffer_plan plan;
    const auto online = static_cast<std::uint64_t>(
        std::count(plan.cpus.online.begin(), plan.cpus.online.end(), true));
    plan.count = (online + 1) * per_cpu;
    plan.size = wanted_size != 0 ? wanted_size : suitable_buffer_size(plan.count);
    return plan;
}

void reserve(const core::unique_fd& file, std::uint64_t offset, std::uint64_t size,
             std::uint64_t wanted) {
    int result = 0;
    do {
        result =
            ::posix_fallocate(file.get(), static_cast<off_t>(offset), static_cast<off_t>(size));
    } while (result == EINTR);
    if (result != 0) {
        throw user_error("{} has no {} MiB to spare for the buffers ({}). Ask for less with "
                         "--buffer-size, or set EVENTLOG_DIR to a larger tmpfs.",
                         core::current_directory().text.data(), wanted >> 20U,
                         std::strerror(result));
    }
}

void write_at(const core::unique_fd& file, const void* data, std::size_t size,
              std::uint64_t offset) {
    if (::pwrite(file.get(), data, size, static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(size)) {
        throw user_error(
            "The subscription cannot be written ({}). Set EVENTLOG_DIR to another tmpfs.",
            std::strerror(errno));
    }
}

std::uint64_t random_serial() {
    std::uint64_t serial = 0;
    while (serial == 0 || serial == UINT64_MAX) {
        if (::getrandom(&serial, sizeof serial, 0) != static_cast<ssize_t>(sizeof serial) &&
            errno != EINTR) {
            throw user_error("The kernel gives no random numbers ({}).", std::strerror(errno));
        }
    }
    return serial;
}

eventlog_region make_header(const core::region_geometry& geometry,
                            const subscription_options& options, bool is_shared_ring_lazy) {
    const event_patterns& patterns = effective_patterns(options);
    // Only other processes read it from there, and they read flight recorders only.
    const std::string filter =
        options.name.empty() ? patterns.packed() : pack_filter(patterns, options.sampling);
    eventlog_region header{};
    core::begin_header(header, geometry, core::current_process());
    header.features = (options.overwrite ? EVENTLOG_FEATURE_OVERWRITE : 0) |
                      (is_shared_ring_lazy ? EVENTLOG_FEATURE_LAZY_SHARED_RING : 0);
    std::memcpy(header.name, options.name.data(),
                std::min(options.name.size(), sizeof header.name - 1));
    header.serial = random_serial();
    header.clock = core::best_clock();
    header.clock_start = core::read_clock_sample(header.clock);
    header.state = EVENTLOG_REGION_LIVE;
    header.filter_size = static_cast<std::uint32_t>(filter.size());
    std::memcpy(header.filter, filter.data(), filter.size());
    header.session_count = static_cast<std::uint32_t>(patterns.sessions().size());
    std::copy(patterns.sessions().begin(), patterns.sessions().end(), header.sessions);
    return header;
}

enum class ring_memory {
    never,  // its writers use other rings
    late,   // its first writer reserves the memory
    now,
};

/// Generation 0 is active in buffer 0; the other buffers hold no generation yet.
void write_ring(const core::unique_fd& file, const core::region_geometry& geometry,
                std::uint32_t ring, ring_memory memory) {
    eventlog_ring head{};
    head.backed = memory != ring_memory::never ? 1 : 0;
    // A ring without memory is sealed: writers find no room and then check the reason.
    head.control = memory == ring_memory::now ? 0 : EVENTLOG_SEALED;
    std::vector<eventlog_buffer> descriptors(geometry.buffer_count);
    for (std::uint32_t i = 1; i < geometry.buffer_count; ++i) {
        descriptors[i].generation = UINT64_MAX;
    }
    write_at(file, &head, sizeof head, geometry.ring_offset(ring));
    write_at(file, descriptors.data(), descriptors.size() * sizeof(eventlog_buffer),
             geometry.ring_offset(ring) + sizeof head);
}

/// Sets the elements of the patterns that an event of the provider matches.
void note_matches(const event_patterns& patterns, const core::schema_reader& schema,
                  std::vector<bool>& matched) {
    const core::keyword_names keywords(schema);
    core::schema_reader events = schema;
    core::event_description event;
    while (events.next_event(event)) {
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            core::filter_rule rule;
            if (core::parse_rule(patterns[i], rule) &&
                core::judge(rule, schema.provider(), event, keywords) != core::verdict::unwanted) {
                matched[i] = true;
            }
        }
    }
}

}  // namespace

std::uint64_t default_buffers_size() {
    const std::uint32_t per_cpu = subscription_options{}.buffers_per_cpu;
    return plan_buffers(0, per_cpu).reserved(per_cpu);
}

std::uint64_t buffer_size_of(const subscription_options& options) {
    return plan_buffers(options.buffer_size, options.buffers_per_cpu).size;
}

subscription::subscription(const subscription_options& options) {
    const core::directory_path path = core::current_directory();
    core::error_text error;
    if (!directory_.create(path, error)) {
        throw user_error("{}", error.text().c_str());
    }
    create_region(options);
    publish();
    // The region is published before the providers are scanned: a provider that does not find the
    // subscription is found by the scan.
    try {
        open_gates(options);
    } catch (...) {
        end();
        remove();
        throw;
    }
}

subscription::~subscription() {
    if (detached_ || !is_ours()) {
        return;
    }
    end();
    const timed_directory_lock lock(directory_);
    if (!lock.held()) {
        return;  // the next process that takes the lock finds that the owner is dead
    }
    remove();
    core::remove_dead_processes(directory_);  // those that stayed for it
}

/// After end(), because the slot may be reused as soon as the name is removed: by then the bits
/// must be cleared in all gates.
void subscription::remove() noexcept {
    if (holder_of_slot() == slot_holder::self) {
        static_cast<void>(
            ::unlinkat(directory_.subscriptions.get(), core::slot_file_name(slot_).data(), 0));
    }
    core::release_memory(file_, geometry_);
}

/// Another one, or none, after the file of this one was removed by hand. The name of the slot is
/// not that of this subscription then, and the bits may not be.
subscription::slot_holder subscription::holder_of_slot() const noexcept {
    struct stat own {};
    struct stat named {};
    if (::fstatat(directory_.subscriptions.get(), core::slot_file_name(slot_).data(), &named,
                  AT_SYMLINK_NOFOLLOW) != 0) {
        return slot_holder::none;
    }
    const bool is_own =
        ::fstat(file_.get(), &own) == 0 && own.st_dev == named.st_dev && own.st_ino == named.st_ino;
    return is_own ? slot_holder::self : slot_holder::other;
}

/// False, and the bits stay, if another subscription has the slot.
bool subscription::clear_own_gates() noexcept {
    if (holder_of_slot() == slot_holder::self) {
        core::clear_gates(directory_, slot_);
        return true;
    }
    // Under the lock, no other one gets the slot before the bits are cleared.
    const timed_directory_lock lock(directory_);
    if (!lock.held() || holder_of_slot() != slot_holder::none) {
        return false;
    }
    core::clear_gates(directory_, slot_);
    return true;
}

/// Whether this process made the subscription. The process number is not enough: a child in another
/// pid namespace may have the same. Values that /proc does not provide (0) are not compared.
bool subscription::is_ours() const noexcept {
    const core::process_identity self = core::current_process();
    const auto agree = [](std::uint64_t now, std::uint64_t then) {
        return now == 0 || then == 0 || now == then;
    };
    return self.pid == header_.owner_pid && agree(self.start_time, header_.owner_start_time) &&
           agree(self.pid_namespace, header_.owner_pid_namespace);
}

void subscription::create_region(const subscription_options& options) {
    const buffer_plan plan = plan_buffers(options.buffer_size, options.buffers_per_cpu);
    geometry_ = core::plan_region(plan.cpus.possible, options.buffers_per_cpu,
                                  static_cast<std::uint32_t>(plan.size), schemas_size);
    header_ = make_header(geometry_, options, plan.is_shared_ring_lazy);

    core::error_text error;
    file_ = core::create_unnamed_file(directory_.subscriptions, directory_.name, error);
    if (!file_) {
        throw user_error("{}", error.text().c_str());
    }
    if (::ftruncate(file_.get(), static_cast<off_t>(geometry_.total_size)) != 0) {
        throw user_error("The subscription cannot be made {} MiB large ({}). Ask for less with "
                         "--buffer-size.",
                         geometry_.total_size >> 20U, std::strerror(errno));
    }
    // All memory that writers access is reserved here or by the writers themselves: a page that
    // tmpfs cannot supply would kill them.
    const std::uint64_t wanted = plan.reserved(options.buffers_per_cpu);
    const auto memory_of = [&](std::uint32_t ring) {
        if (ring == plan.cpus.possible) {
            return plan.is_shared_ring_lazy ? ring_memory::late : ring_memory::now;
        }
        return plan.cpus.online[ring] ? ring_memory::now : ring_memory::never;
    };
    reserve(file_, 0, geometry_.providers_offset, wanted);
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        const ring_memory memory = memory_of(ring);
        if (memory == ring_memory::now) {
            reserve(file_, geometry_.buffer_offset(ring, 0),
                    std::uint64_t{geometry_.buffer_count} * geometry_.buffer_size, wanted);
        }
        write_ring(file_, geometry_, ring, memory);
    }
    write_at(file_, &header_, sizeof header_, 0);
}

void subscription::publish() {
    const timed_directory_lock lock(directory_);
    lock.throw_unless_held();
    core::remove_dead_subscriptions(directory_);
    core::remove_dead_processes(directory_);
    check_name();
    for (slot_ = 0; slot_ < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot_) {
        const int result =
            core::link_file(file_, directory_.subscriptions, core::slot_file_name(slot_).data());
        if (result == 0) {
            return;
        }
        if (result != EEXIST) {
            throw user_error("The subscription cannot be published in {} ({}). Check that /proc is "
                             "mounted and that you may write there.",
                             core::current_directory().text.data(), std::strerror(result));
        }
    }
    throw user_error(
        "All {} subscriptions are in use. End a running `elog record` first, or one that "
        "elog flight status shows, with elog flight stop.",
        EVENTLOG_SUBSCRIPTIONS_MAX);
}

/// The lock is held: no other process can publish a subscription meanwhile.
void subscription::check_name() const {
    if (header_.name[0] == '\0') {
        return;
    }
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        core::subscription_file other;
        core::error_text ignored;
        if (other.open(directory_, slot, ignored) == core::subscription_file::found::usable &&
            std::memcmp(other.header().name, header_.name, sizeof header_.name) == 0) {
            throw user_error(
                "There is a subscription '{0}' already. Give another name, or end that "
                "one with: elog flight stop {0} -o FILE",
                &header_.name[0]);
        }
    }
}

void subscription::open_gates(const subscription_options& options) {
    const event_patterns& patterns = options.patterns;
    patterns_matched_.assign(patterns.size(), false);
    const std::string all = patterns.packed();
    const std::string filter = effective_patterns(options).packed();
    elog::open_gates(directory_, {slot_, header_.serial, filter}, all,
                     [&](const core::schema_reader& schema) {
                         note_matches(patterns, schema, patterns_matched_);
                     });
}

/// The last step: only detached subscriptions are ended by name, and if this process is killed
/// before, the subscription is removed like any other with a dead owner.
void subscription::detach() {
    const timed_directory_lock lock(directory_);
    lock.throw_unless_held();
    if (holder_of_slot() != slot_holder::self) {
        throw user_error("'{}' cannot be started: its file {}/subscriptions/{} was removed. Start "
                         "it again.",
                         &header_.name[0], core::current_directory().text.data(),
                         core::slot_file_name(slot_).data());
    }
    core::mark_detached(file_, header_);
    detached_ = true;
}

std::uint64_t subscription::pause() noexcept {
    // Read before the state changes: every dropped event is later.
    const std::uint64_t now = core::read_clock_ordered(header_.clock);
    begin_pause(file_, now);
    paused_ = true;
    core::mark_paused(file_);
    static_cast<void>(clear_own_gates());
    return now;
}

std::uint64_t subscription::resume() {
    const timed_directory_lock lock(directory_);
    lock.throw_unless_held();
    if (holder_of_slot() != slot_holder::self) {
        throw user_error("The recording cannot be resumed: its file {}/subscriptions/{} was "
                         "removed. End it, and record again.",
                         core::current_directory().text.data(), core::slot_file_name(slot_).data());
    }
    core::mark_live(file_);
    const std::string_view filter(header_.filter, header_.filter_size);
    elog::open_gates(directory_, {slot_, header_.serial, filter}, filter);
    paused_ = false;
    const std::uint64_t now = core::read_clock_ordered(header_.clock);
    end_pause(file_, now);
    return now;
}

void subscription::end() noexcept {
    if (ended_) {
        return;
    }
    ended_ = true;
    core::mark_ended(file_);
    const bool has_cleared = clear_own_gates();
    if (paused_ || !has_cleared) {
        core::request_unmapping(directory_);
    }
    if (paused_) {
        end_pause(file_, core::read_clock_ordered(header_.clock));
    }
}

}  // namespace elog
