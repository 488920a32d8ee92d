// SPDX-License-Identifier: MIT
//
// Registers providers, withdraws them, and publishes them again in a forked child.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include <eventlog/abi.h>

#include "emit/attach.hpp"
#include "emit/collectors.hpp"
#include "emit/detach.hpp"
#include "emit/notification.hpp"
#include "emit/provider_instances.hpp"
#include "kernel/batch.hpp"
#include "kernel/user_events_route.hpp"
#include "kernel/user_events_write.hpp"
#include "platform/data_reader.hpp"
#include "platform/permanent_memory.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "platform/startup_section.hpp"
#include "platform/wiped_on_fork.hpp"
#include "provider/counters.hpp"
#include "provider/registered_provider.hpp"
#include "provider/runtime_definition.hpp"
#include "ring/custom_clock.hpp"
#include "ring/gate_layout.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "schema/schema.hpp"
#include "shm/directory.hpp"
#include "shm/gate_mapping.hpp"
#include "shm/own_process_file.hpp"
#include "shm/subscription_file.hpp"

namespace eventlog::core {
namespace {

// Under the registry lock.
[[EVENTLOG_STARTUP_SECTION]] constinit eventlog_provider* first_registered = nullptr;
[[EVENTLOG_STARTUP_SECTION]] constinit bool prepared = false;  // this process or its parent
// Whether this process has had its turn to remove files of dead processes.
[[EVENTLOG_STARTUP_SECTION]] constinit bool has_scanned_for_dead = false;
[[EVENTLOG_STARTUP_SECTION]] constinit directory_path directory_of_this_process{};

[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<bool> has_fork_handlers{false};

void republish_in_child(std::uint32_t parent_thread) noexcept;

void after_fork_in_child() noexcept {
    const std::uint32_t parent_thread = thread_id();  // reset below
    if (hold_registry_in_child()) {
        if (prepared) {
            republish_in_child(parent_thread);
        }
    } else {
        // The registry stays the parent's, as after _Fork(3).
        reset_slots_after_fork();
        replace_locked_regions();
        discard_batch();
    }
    unlock_registry_after_fork();
}

void refresh_identity() noexcept {
    const process_identity identity = current_process();
    remember_identity(identity);
    has_scanned_for_dead = false;
}

eventlog_status_code status_of(publish_result result) noexcept {
    switch (result) {
        case publish_result::published:
            return EVENTLOG_STATUS_OK;
        case publish_result::no_directory:
            return EVENTLOG_STATUS_NO_DIRECTORY;
        case publish_result::no_space:
        case publish_result::too_many:
            return EVENTLOG_STATUS_NO_SPACE;
        case publish_result::not_mapped:
            return EVENTLOG_STATUS_NOT_MAPPED;
    }
    return EVENTLOG_STATUS_NOT_MAPPED;
}

/// A forked child publishes its own file, and leaves it when it executes another program. Without
/// elog these files would accumulate. So one process in sixteen scans for them once, and so does a
/// process that finds a file with its own name.
void maybe_remove_dead_processes(const directory& where) noexcept {
    const bool turn = !has_scanned_for_dead && own_identity().pid % 16 == 0;
    has_scanned_for_dead = true;
    if (turn || has_other_process_file(where, own_identity())) {
        const directory_lock lock(where);
        if (lock.held()) {
            remove_dead_processes(where);
        }
    }
}

void publish(eventlog_provider& provider, entry_time entries) noexcept {
    directory where;
    error_text failure;
    bool is_open = false;
    if (!is_own_process()) {
        // The file is the parent's, which goes on using it.
        failure.set("Provider %s is not published: this process was created by _Fork(3), clone(2) "
                    "or a raw system call. Create it by fork(2), or call exec(3).",
                    provider.name.data());
    } else if (!is_known(own_identity())) {
        failure.set("Provider %s is not published: the sandbox of this process denies getpid. "
                    "Allow that call.",
                    provider.name.data());
    } else {
        is_open = where.create(own_directory(), failure);
    }
    if (!is_open) {
        provider.status = EVENTLOG_STATUS_NO_DIRECTORY;
        provider.failure = failure;
        return;
    }
    remember_data_reader(where.reader);
    if (const read_obstacle found = find_obstacle(); found != read_obstacle::none) {
        explain_obstacle(found, provider.name.data(), failure);
        provider.status = EVENTLOG_STATUS_PRIVILEGED;
        provider.failure = failure;
        return;
    }
    maybe_remove_dead_processes(where);
    const bool wants_own_gate = provider.wants_notifications ||
                                provider.user_events.expected.load(std::memory_order_relaxed);
    const provider_content content{{provider.schema, provider.schema_size},
                                   provider.name.data(),
                                   provider.schema_hash,
                                   provider.event_count.load(std::memory_order_relaxed),
                                   provider.gate.load(std::memory_order_relaxed),
                                   provider.wants_notifications,
                                   wants_own_gate};
    const publish_result result =
        publish_provider(where, content, own_identity(), provider.place, failure);
    provider.status = status_of(result);
    if (result == publish_result::published) {
        provider.published = true;
        provider.entry.store(provider.place.entry, std::memory_order_release);
        provider.reads_shared_gate.store(!provider.place.has_own_gate, std::memory_order_release);
        provider.misses_subscriptions.store(false, std::memory_order_relaxed);
        provider.own_gate_not_before.store(0, std::memory_order_relaxed);
        provider.attach_error.store(0, std::memory_order_relaxed);
        // Published before the scan: a subscription that does not see this provider is seen by the
        // scan.
        attach_to_all(provider, where, entries);
        if (provider.wants_notifications) {
            set_notification_request(provider, true);
        }
    } else {
        provider.failure = failure;
    }
}

/// False if the gate could not be closed.
bool close_and_detach(eventlog_provider& provider) noexcept {
    const bool is_closed = close_gate(provider.gate.load(std::memory_order_relaxed));
    provider.reads_shared_gate.store(false, std::memory_order_release);
    provider.misses_subscriptions.store(false, std::memory_order_release);
    detach_from_subscriptions(provider);
    return is_closed;
}

/// In a child whose sandbox denies mmap the gate stays the parent's. The child must not clear
/// notifications there, so its events find no gate.
void abandon_gate(eventlog_provider& provider) noexcept {
    provider.user_events.expected.store(false, std::memory_order_relaxed);
    provider.gate.store(null_gate.data(), std::memory_order_relaxed);
}

void withdraw(eventlog_provider& provider) noexcept {
    // In a child created without fork() gate and file are the parent's.
    if (!is_own_process()) {
        return;
    }
    // Before the pages are replaced that the kernel writes to.
    close_user_events_route(provider);
    detach_from_collectors(provider);
    if (!provider.published) {
        return;
    }
    provider.published = false;
    // The gate closes first: subscriptions that find the name before it is removed set bits without
    // effect.
    static_cast<void>(close_and_detach(provider));
    directory where;
    error_text ignored;
    if (!where.open(own_directory(), if_missing::fail, ignored)) {
        where = {};
    }
    withdraw_provider(where, provider.place);
    // The entry may be that of another provider next.
    provider.entry.store(nullptr, std::memory_order_release);
}

/// Called in a forked child, which shares the parent's gate pages and provider entries. Replaces
/// pages, files and entries before the child runs any other code.
void republish_in_child(std::uint32_t parent_thread) noexcept {
    // A pending cancellation must not take effect here, in the middle of fork().
    const signal_guard guard;
    wiped_on_fork.is_prepared.store(true, std::memory_order_relaxed);
    reset_slots_after_fork();
    replace_locked_regions();
    renumber_mappings();
    descriptor_users.forget_other_threads();
    discard_batch();
    reset_custom_clock_writer();
    reset_detach_backoff();
    static_cast<void>(register_membarrier());
    refresh_identity();
    forget_process_file();
    for (eventlog_provider* free = get_first_free(); free != nullptr; free = free->next) {
        reset_notifications_in_child(*free, parent_thread);
        forget_other_readers(*free);
    }
    for (eventlog_provider* provider = first_registered; provider != nullptr;
         provider = provider->next) {
        reset_notifications_in_child(*provider, parent_thread);
        forget_other_readers(*provider);
        if (provider->published) {
            provider->published = false;
            detach_from_subscriptions(*provider);
            retry_attach_at_once(*provider);
            publish(*provider, entry_time::first_emit);
            if (!provider->published) {
                provider->entry.store(nullptr, std::memory_order_release);
                if (!close_and_detach(*provider)) {
                    abandon_gate(*provider);
                }
            }
        }
        // With the masks that the parent had set: the collectors are copies of its own.
        attach_to_collectors(*provider);
        renew_user_events_route(*provider);
    }
    // Regions of the parent that want nothing of this process, or have ended.
    unmap_dead_regions();
}

std::uint32_t find_dump_complete_event(schema_reader schema) noexcept {
    event_description event;
    while (schema.next_event(event)) {
        if (event.kind == kind::state_complete) {
            return event.id;
        }
    }
    return schema_format::no_index;
}

/// Validates the definition and copies it into the instance.
bool apply_definition(eventlog_provider& provider, const eventlog_raw_provider& definition,
                      error_text& error) noexcept {
    schema_reader schema;
    const auto* bytes = static_cast<const std::uint8_t*>(definition.schema);
    if (!schema.open({bytes, definition.schema_size}, error)) {
        return false;
    }
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (schema.size() != definition.schema_size || schema.event_count() != definition.event_count ||
        definition.gate_size % page != 0 ||
        definition.gate_size < EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE ||
        reinterpret_cast<std::uintptr_t>(definition.gate) % page != 0) {
        error.set(
            "The definition of the provider does not fit its schema or this machine's pages of "
            "%zu bytes. Build the program for this machine.",
            page);
        return false;
    }
    provider.schema = bytes;
    provider.schema_size = definition.schema_size;
    provider.schema_hash = schema.hash();
    provider.dump_complete_event = find_dump_complete_event(schema);
    provider.name = {};
    std::memcpy(provider.name.data(), schema.provider().data(), schema.provider().size());
    // Last: a late thread with an event of the handle's previous provider finds no events until
    // then.
    provider.gate.store(definition.gate, std::memory_order_relaxed);
    provider.event_count.store(definition.event_count, std::memory_order_release);
    return true;
}

void register_instance(eventlog_provider& provider, const eventlog_raw_provider& definition,
                       bool is_disabled) noexcept {
    error_text error;
    if (is_disabled) {
        provider.status = EVENTLOG_STATUS_OFF;
        error.set("EVENTLOG=off is set in the environment. Unset it to emit.");
        provider.failure = error;
    } else if (!apply_definition(provider, definition, error)) {
        provider.status = EVENTLOG_STATUS_BAD_SCHEMA;
        provider.failure = error;
    } else {
        prepare_process();
        publish(provider, entry_time::now);
        attach_to_collectors(provider);
        // Independent of publishing: the kernel writes to the program's own pages as well.
        open_user_events_route(provider);
    }
}

/// Other threads may still emit when a process ends: all subscriptions have ended for them.
[[gnu::destructor]] void detach_at_exit() noexcept {
    const signal_guard guard;
    const registry_lock lock;
    if (!lock.held()) {
        return;  // a handler that interrupted the holder has called exit()
    }
    const bool is_own = is_own_process();
    // Providers that the program does not withdraw, usually those defined at run time.
    for (eventlog_provider* provider = first_registered; provider != nullptr;
         provider = provider->next) {
        withdraw(*provider);
        // Freed because a plugin that contains this library takes the last pointer with it. Not in
        // a child created without fork(), where the memory may be the parent's.
        if (is_own) {
            revoke_definition(*provider);
            static_cast<void>(free_definition(*provider));
        }
    }
    // And definitions that still had readers when their providers were withdrawn.
    for (eventlog_provider* free = get_first_free(); is_own && free != nullptr; free = free->next) {
        static_cast<void>(free_definition(*free));
    }
    unmap_all_slots();
}

}  // namespace

alignas(std::uint64_t) constinit std::array<
    std::uint32_t, (EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE) / 4> null_gate{};
constinit const std::atomic<std::uint32_t*> null_gate_pointer{null_gate.data()};

constinit attachment_list no_attachments{};

bool prepare_attachments(eventlog_provider& provider) noexcept {
    if (provider.attachments.load(std::memory_order_relaxed) == &no_attachments) {
        void* memory = allocate_permanently(sizeof(attachment_list));
        if (memory == nullptr) {
            return false;
        }
        provider.attachments.store(new (memory) attachment_list, std::memory_order_release);
    }
    return true;
}

eventlog_provider* get_first_registered() noexcept {
    return first_registered;
}

bool is_disabled_by_environment() noexcept {
    const char* choice = ::secure_getenv("EVENTLOG");
    return choice != nullptr && std::strcmp(choice, "off") == 0;
}

void prepare_for_forks() noexcept {
    wipe_locks_on_fork();
    if (has_fork_handlers.load(std::memory_order_acquire)) {
        return;
    }
    const registry_lock lock;
    if (lock.held() && !has_fork_handlers.load(std::memory_order_relaxed)) {
        static_cast<void>(::pthread_atfork(lock_registry_before_fork, unlock_registry_after_fork,
                                           after_fork_in_child));
        has_fork_handlers.store(true, std::memory_order_release);
    }
}

void prepare_process() noexcept {
    if (wiped_on_fork.is_prepared.load(std::memory_order_relaxed)) {
        return;
    }
    if (prepared) {
        // A copy of a process, made without the fork handlers. With providers, these are the
        // parent's. Without, it is a process of its own: the fork() began before its parent's first
        // registration, perhaps during which it was copied.
        if (first_registered != nullptr) {
            return;
        }
        reset_thread_id();
        forget_process_file();
    }
    prepared = true;
    wiped_on_fork.is_prepared.store(true, std::memory_order_relaxed);
    directory_of_this_process = current_directory();
    configure_rseq(register_membarrier());
    set_counter_layout();
    refresh_identity();
}

const directory_path& own_directory() noexcept {
    return directory_of_this_process;
}

eventlog_provider* register_provider(const eventlog_raw_provider& definition,
                                     const built_definition* built) noexcept {
    const signal_guard guard;
    const bool is_disabled = is_disabled_by_environment();
    // Of a disabled program as well: it takes the lock, and its children take it at their exit().
    prepare_for_forks();
    const registry_lock lock;
    eventlog_provider* provider = lock.held() ? take_instance() : nullptr;
    eventlog_raw_provider complete = definition;
    if (provider != nullptr && built != nullptr &&
        !install_definition(*provider, *built, complete)) {
        return_instance(*provider);
        provider = nullptr;
    }
    if (provider != nullptr) {
        register_instance(*provider, complete, is_disabled);
        provider->next = first_registered;
        first_registered = provider;
        unmap_dead_regions();
    }
    return provider;
}

}  // namespace eventlog::core

eventlog_provider* eventlog_raw_provider_register(const eventlog_raw_provider* definition) {
    using namespace eventlog::core;
    if (definition == nullptr || definition->size < sizeof *definition) {
        return nullptr;
    }
    return register_provider(*definition, nullptr);
}

void eventlog_raw_provider_unregister(eventlog_provider* provider) {
    using namespace eventlog::core;
    if (provider == nullptr) {
        return;
    }
    const signal_guard guard;
    write_batch_of(*provider);
    const registry_lock lock;
    if (!lock.held()) {
        return;
    }
    withdraw(*provider);
    eventlog_provider** link = &first_registered;
    while (*link != nullptr && *link != provider) {
        link = &(*link)->next;
    }
    if (*link == provider) {
        *link = provider->next;
        provider->status = EVENTLOG_STATUS_UNREGISTERED;
        provider->event_count.store(0, std::memory_order_relaxed);
        provider->gate.store(null_gate.data(), std::memory_order_relaxed);
        clear_callbacks(*provider);
        provider->wants_notifications = false;
        retire_instance(*provider);
        revoke_definition(*provider);
        // Also of other providers, whose readers may have finished.
        for (eventlog_provider* free = get_first_free(); free != nullptr; free = free->next) {
            static_cast<void>(free_definition(*free));
        }
        // A child created without fork() may share its parent's memory.
        if (is_own_process()) {
            unmap_dead_regions();
        }
    }
}

void eventlog_provider_destroy(eventlog_provider* provider) {
    eventlog_raw_provider_unregister(provider);
}
