// SPDX-License-Identifier: MIT
#include "emit/provider_entry.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "platform/data_reader.hpp"
#include "platform/populate.hpp"
#include "platform/process.hpp"
#include "ring/record_header.hpp"
#include "ring/region.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/exact_io.hpp"
#include "shm/process_file_room.hpp"

namespace eventlog::core {
namespace {

// What other processes may have written is read through the file: the process of an entry may have
// failed to reserve it, and schemas are freed when the subscription ends. Access through a mapping
// to a page without memory would crash this process on a full tmpfs.

// Of one read. In static memory, because this may run on a signal stack.
constexpr std::size_t chunk_size = 8192;
constinit std::array<unsigned char, chunk_size> schema_chunk{};
constinit std::array<eventlog_provider_entry, chunk_size / sizeof(eventlog_provider_entry)>
    entry_chunk{};

bool is_schema_stored(const eventlog_provider& provider, const unique_fd& file,
                      std::uint64_t offset) noexcept {
    std::array<unsigned char, chunk_size>& chunk = schema_chunk;
    for (std::size_t done = 0; done < provider.schema_size; done += chunk.size()) {
        const std::size_t size = std::min<std::size_t>(provider.schema_size - done, chunk.size());
        if (!read_exactly(file, chunk.data(), size, offset + done) ||
            std::memcmp(chunk.data(), provider.schema + done, size) != 0) {
            return false;
        }
    }
    return true;
}

// Bounds the system calls of an emit: so many of the last entries are searched, and so many schemas
// compared, which differ only if a hash is wrong.
constexpr std::uint32_t searched_entries = 1024;
constexpr unsigned compared_schemas = 4;

/// Processes of the same program share one copy of their schema. Returns its offset, or 0. Entries
/// are only hints, also incomplete ones, because the schema's bytes are compared.
std::uint64_t find_schema(const eventlog_provider& provider, const subscription_slot& slot,
                          const subscription_file& subscription) noexcept {
    const region_geometry& geometry = subscription.geometry();
    const std::uint32_t entry_count = std::min<std::uint32_t>(
        shared(slot.region()->provider_count).load(std::memory_order_relaxed),
        EVENTLOG_PROVIDERS_MAX);
    auto& some = entry_chunk;
    const std::uint32_t first = entry_count > searched_entries ? entry_count - searched_entries : 0;
    unsigned compared = 0;
    for (std::uint32_t i = first; i < entry_count && compared < compared_schemas; ++i) {
        const std::size_t place = (i - first) % some.size();
        if (place == 0 &&
            !read_exactly(subscription.file(), some.data(), sizeof some,
                          geometry.providers_offset + i * sizeof(eventlog_provider_entry))) {
            return 0;
        }
        const eventlog_provider_entry& entry = some[place];
        if (entry.state != EVENTLOG_PROVIDER_READY || entry.schema_hash != provider.schema_hash ||
            entry.schema_size != provider.schema_size) {
            continue;
        }
        const std::uint64_t offset = entry.schema_offset;
        ++compared;
        if (offset >= geometry.schemas_offset && offset <= geometry.buffers_offset &&
            geometry.buffers_offset - offset >= provider.schema_size &&
            is_schema_stored(provider, subscription.file(), offset)) {
            return offset;
        }
    }
    return 0;
}

// Attempts to take room that other processes take, too. A hostile one could change the word for
// ever.
constexpr int takes_max = 64;

/// Room in the region, or why none was taken.
struct taken_room {
    attach_outcome outcome = attach_outcome::no_match;  // retry_later: other processes were faster
    std::uint64_t place = 0;
};

/// Adds `size` to a word of the region if reserve_at(old value) succeeds. So a failure takes no
/// room.
template <class Word, class Reserve>
taken_room take_room(Word word, std::uint64_t size, const Reserve& reserve_at) noexcept {
    auto used = word.load(std::memory_order_relaxed);
    for (int take = 0; take < takes_max; ++take) {
        if (!reserve_at(used)) {
            return {attach_outcome::no_match, 0};
        }
        const auto found = used;
        if (word.compare_exchange_strong(used, static_cast<decltype(used)>(used + size),
                                         std::memory_order_relaxed)) {
            return {attach_outcome::attached, found};
        }
    }
    return {attach_outcome::retry_later, 0};
}

/// Copies the schema into the region. Returns its offset.
taken_room store_schema(const eventlog_provider& provider, const subscription_slot& slot,
                        const subscription_file& subscription) noexcept {
    const region_geometry& geometry = subscription.geometry();
    const std::uint64_t size = (provider.schema_size + 7) / 8 * 8;
    taken_room taken =
        take_room(shared(slot.region()->schemas_used), size, [&](std::uint64_t place) {
            return place <= geometry.schemas_size && geometry.schemas_size - place >= size &&
                   reserve_room(subscription.file(), geometry.schemas_offset + place, size);
        });
    if (taken.outcome == attach_outcome::attached) {
        taken.place += geometry.schemas_offset;
        std::memcpy(slot.base.load(std::memory_order_relaxed) + taken.place, provider.schema,
                    provider.schema_size);
    }
    return taken;
}

/// The parent by a number that the consumer knows, or 0. A consumer that finds the process ended
/// decides by it which command the process belongs to.
std::uint32_t parent_for(eventlog_region& header) noexcept {
    const std::uint64_t pid_namespace = own_identity().pid_namespace;
    return pid_namespace != 0 &&
                   pid_namespace ==
                       shared(header.owner_pid_namespace).load(std::memory_order_relaxed)
               ? static_cast<std::uint32_t>(::getppid())
               : 0;
}

/// The numbers of the provider's events; 0: there are no more. They are not given back: another
/// process may have taken the ones behind them. 64 bits do not overflow by attempts that fail.
std::uint32_t reserve_event_numbers(const eventlog_provider& provider,
                                    const subscription_slot& slot) noexcept {
    const std::uint64_t count = provider.event_count.load(std::memory_order_relaxed);
    const std::uint64_t used =
        shared(slot.region()->event_numbers).fetch_add(count, std::memory_order_relaxed);
    return used <= EVENTLOG_EVENT_NUMBER_MAX && count <= EVENTLOG_EVENT_NUMBER_MAX - used
               ? static_cast<std::uint32_t>(used + 1)
               : 0;
}

void attach_by_entry(attachment& place, std::uint32_t id, std::uint32_t event_base) noexcept {
    const subscription_slot& slot = *place.slot;
    place.provider_id.store(id, std::memory_order_relaxed);
    place.provider_head.store(provider_part(event_base), std::memory_order_relaxed);
    place.begin(slot.serial.load(std::memory_order_relaxed),
                slot.mapping.load(std::memory_order_relaxed));
}

/// Reserves the memory of an entry, by the file or, if that is empty, through the mapping.
/// Private memory needs no reservation.
bool reserve_entry(const subscription_slot& slot, std::uint32_t id,
                   const unique_fd& file) noexcept {
    if (slot.is_private.load(std::memory_order_relaxed)) {
        return true;
    }
    const auto begin =
        static_cast<std::uint64_t>(reinterpret_cast<const unsigned char*>(slot.entry(id)) -
                                   slot.base.load(std::memory_order_relaxed));
    constexpr std::uint64_t size = sizeof(eventlog_provider_entry);
    if (file) {
        return reserve_room(file, begin, size);
    }
    const std::uint64_t in_page = begin % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return populate(slot.base.load(std::memory_order_relaxed) + begin - in_page, in_page + size);
}

/// Takes an entry of the region's provider table, fills it in, and attaches the provider.
/// `place_schema` returns where the schema is. Returns no_match if there is no room or no memory.
template <class PlaceSchema>
attach_outcome take_entry(const eventlog_provider& provider, attachment& place,
                          const PlaceSchema& place_schema, const unique_fd& file) noexcept {
    const subscription_slot& slot = *place.slot;
    auto entry_count = shared(slot.region()->provider_count);
    const auto reserve = [&](std::uint64_t index) {
        return index < EVENTLOG_PROVIDERS_MAX &&
               reserve_entry(slot, static_cast<std::uint32_t>(index), file);
    };
    // First, because event numbers and the room of schemas are not given back.
    if (!reserve(entry_count.load(std::memory_order_relaxed))) {
        return attach_outcome::no_match;
    }
    const taken_room schema = place_schema();
    if (schema.outcome != attach_outcome::attached) {
        return schema.outcome;
    }
    const std::uint32_t event_base = reserve_event_numbers(provider, slot);
    if (event_base == 0) {
        return attach_outcome::no_match;
    }
    const taken_room taken = take_room(entry_count, 1, reserve);
    if (taken.outcome != attach_outcome::attached) {
        return taken.outcome;
    }
    const auto id = static_cast<std::uint32_t>(taken.place);
    eventlog_provider_entry& entry = *slot.entry(id);
    const process_identity& self = own_identity();
    entry.pid = self.pid;
    entry.uid = self.uid;
    entry.schema_size = static_cast<std::uint32_t>(provider.schema_size);
    entry.schema_offset = schema.place;
    entry.schema_hash = provider.schema_hash;
    entry.start_time = self.start_time;
    entry.parent = parent_for(*slot.region());
    entry.event_base = event_base;
    std::memcpy(entry.process, self.name.data(), sizeof entry.process);
    shared(entry.state).store(EVENTLOG_PROVIDER_READY, std::memory_order_release);
    attach_by_entry(place, id, event_base);
    return attach_outcome::attached;
}

/// Counts a provider that found no room.
attach_outcome note_refusal(attach_outcome outcome, const subscription_slot& slot) noexcept {
    if (outcome == attach_outcome::no_match) {
        shared(slot.region()->providers_refused).fetch_add(1, std::memory_order_relaxed);
    }
    return outcome;
}

}  // namespace

attach_outcome take_new_entry(const eventlog_provider& provider, attachment& place,
                              const subscription_file& subscription) noexcept {
    const subscription_slot& slot = *place.slot;
    const auto find_or_store = [&] {
        const std::uint64_t offset = find_schema(provider, slot, subscription);
        return offset != 0 ? taken_room{attach_outcome::attached, offset}
                           : store_schema(provider, slot, subscription);
    };
    return note_refusal(take_entry(provider, place, find_or_store, subscription.file()), slot);
}

bool prepare_late_entry(const eventlog_provider& provider, attachment& place,
                        const subscription_file& subscription) noexcept {
    // Without either, the first emit would need the file.
    const std::uint64_t schema_offset =
        can_populate() ? find_schema(provider, *place.slot, subscription) : 0;
    if (schema_offset == 0) {
        return false;
    }
    place.late_schema_offset = schema_offset;
    place.begin(subscription.header().serial, not_attached);
    return true;
}

bool take_late_entry(const eventlog_provider& provider, attachment& place) noexcept {
    const subscription_slot& slot = *place.slot;
    if (place.mapping.load(std::memory_order_relaxed) != not_attached ||
        slot.mapping.load(std::memory_order_relaxed) == 0 ||
        place.serial.load(std::memory_order_relaxed) !=
            slot.serial.load(std::memory_order_relaxed) ||
        is_end_state(shared(slot.region()->state).load(std::memory_order_relaxed))) {
        return false;
    }
    if (!may_be_read()) {
        place.end();
        return false;
    }
    const taken_room schema{attach_outcome::attached, place.late_schema_offset};
    return take_entry(
               provider, place, [&] { return schema; }, unique_fd{}) == attach_outcome::attached;
}

attach_outcome take_private_entry(const eventlog_provider& provider, attachment& place) noexcept {
    const subscription_slot& slot = *place.slot;
    eventlog_region& region = *slot.region();
    unsigned char* const base = slot.base.load(std::memory_order_relaxed);
    const std::uint32_t count = std::min<std::uint32_t>(
        shared(region.provider_count).load(std::memory_order_relaxed), EVENTLOG_PROVIDERS_MAX);
    for (std::uint32_t id = 0; id < count; ++id) {
        const eventlog_provider_entry& entry = *slot.entry(id);
        if (entry.state == EVENTLOG_PROVIDER_READY && entry.schema_hash == provider.schema_hash &&
            entry.schema_size == provider.schema_size &&
            std::memcmp(base + entry.schema_offset, provider.schema, provider.schema_size) == 0) {
            attach_by_entry(place, id, entry.event_base);
            return attach_outcome::attached;
        }
    }
    const std::uint64_t size = (provider.schema_size + 7) / 8 * 8;
    const std::uint64_t used = region.schemas_used;
    attach_outcome outcome = attach_outcome::no_match;
    if (used <= region.schemas_size && region.schemas_size - used >= size) {
        const taken_room schema{attach_outcome::attached, region.schemas_offset + used};
        region.schemas_used = used + size;
        std::memcpy(base + schema.place, provider.schema, provider.schema_size);
        outcome = take_entry(
            provider, place, [&] { return schema; }, unique_fd{});
    }
    return note_refusal(outcome, slot);
}

}  // namespace eventlog::core
