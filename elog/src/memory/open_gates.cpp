// SPDX-License-Identifier: MIT
#include "memory/open_gates.hpp"

#include <bitset>
#include <cstdint>
#include <vector>

#include "platform/error_text.hpp"
#include "schema/filter.hpp"
#include "shm/process_file.hpp"

namespace elog {

namespace core = eventlog::core;

void open_gates(const core::directory& where, const gate_request& wanted,
                std::string_view considered,
                const std::function<void(const core::schema_reader& schema)>& see) {
    core::folder_listing names(where.processes);
    core::error_text ignored;
    while (const char* name = names.next()) {
        core::process_file file;
        if (!file.open(where, name, ignored) ||
            !core::wants_process(considered, file.header().pid, file.header().process)) {
            continue;
        }
        const bool is_wanted =
            core::wants_process(wanted.filter, file.header().pid, file.header().process);
        if (is_wanted) {
            file.store_slot_serial(wanted.slot, wanted.serial);
        }
        for (core::published_provider provider(file); provider.next();) {
            std::vector<std::uint8_t> bytes(provider.entry().schema_size);
            core::schema_reader schema;
            if (!provider.read_schema(bytes) || !schema.open(bytes, ignored)) {
                continue;
            }
            if (see) {
                see(schema);
            }
            if (is_wanted) {
                // Of other providers as well, whose events the process may count for the slot.
                provider.forget_predecessor(wanted.slot);
                std::bitset<EVENTLOG_EVENTS_MAX> events;
                core::for_each_wanted(schema, wanted.filter,
                                      [&](std::uint16_t id, core::verdict) { events.set(id); });
                provider.clear_unwanted_bits(wanted.slot, events);
                for (std::uint32_t id = 0; id < events.size(); ++id) {
                    if (events[id]) {
                        static_cast<void>(provider.set_bit(id, wanted.slot));
                    }
                }
                provider.notify();
            }
        }
    }
}

}  // namespace elog
