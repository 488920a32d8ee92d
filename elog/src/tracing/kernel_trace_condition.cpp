// SPDX-License-Identifier: MIT
#include "tracing/kernel_trace_condition.hpp"

#include <cstddef>
#include <vector>

#include "base/user_error.hpp"
#include "predicate/compiled_predicate.hpp"

namespace elog {

std::vector<kernel_field> kernel_fields_of(const kernel_trace_event& event,
                                           const event_schema& known) {
    const std::vector<std::uint16_t> offsets =
        payload_offsets(event.format, known, event.is_published);
    std::vector<kernel_field> fields;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        const eventlog::tracefs::format_field& field = event.format.fields[i];
        fields.push_back({field.name, field.type, field.count, offsets[i]});
    }
    return fields;
}

provider_instance naming_provider(const kernel_trace_event& event) {
    provider_instance provider;
    provider.schema.name = event.schema->name;
    provider.schema.enumerations = event.schema->enumerations;
    return provider;
}

kernel_condition condition_for(const kernel_trace_event& event, const predicate& wanted,
                               std::int64_t reference_time) {
    if (!event.is_published && is_program_system(event.name.system)) {
        kernel_condition unknown;
        unknown.reason = "the names of its numbers are unknown until its program runs; start it, "
                         "as a user whose programs you see";
        return unknown;
    }
    const event_schema& known = event.schema->events[event.position];
    std::vector<bool> ignored(wanted.nodes().size());
    try {
        const folded_predicate folded =
            fold({wanted, reference_time, ignored, true}, naming_provider(event), known);
        return make_kernel_condition(folded, kernel_fields_of(event, known));
    } catch (const user_error& mistake) {
        kernel_condition none;
        none.reason = mistake.what();
        return none;
    }
}

}  // namespace elog
