// SPDX-License-Identifier: MIT
//
// Implements elog/sink.hpp and sink_state.hpp.
#include <algorithm>

#include <elog/sink.hpp>

#include "convert_errors.hpp"
#include "file_output.hpp"
#include "output/csv_writer.hpp"
#include "output/json_lines_writer.hpp"
#include "output/text_writer.hpp"
#include "sink_state.hpp"

namespace elog {
namespace library {
namespace {

// Replaces the number of the ring without a CPU, which differs between sources.
constexpr std::uint32_t no_cpu = UINT32_MAX;

}  // namespace

const provider_instance& sink_state::add_provider(provider_instance added) {
    if (providers_.size() == EVENTLOG_PROVIDERS_MAX) {
        throw user_error("Records of more than {} providers cannot be written at once.",
                         EVENTLOG_PROVIDERS_MAX);
    }
    const auto id = static_cast<std::uint32_t>(providers_.size());
    added.id = id;
    const provider_instance& known = providers_.emplace(id, std::move(added)).first->second;
    names_.emplace(known.schema.name, id);
    return known;
}

const provider_instance& sink_state::provider_of(const event_info& event) {
    if (const auto known = numbers_.find(event.provider); known != numbers_.end()) {
        return providers_.at(known->second);
    }
    provider_instance copy = *event.provider;
    // The events of a provider are contiguous.
    const event_info* known = &event - event.id;
    for (event_schema& schema : copy.schema.events) {
        schema.fields.clear();
        for (const field_info& field : known->fields) {
            schema.fields.push_back(*field.schema);
        }
        ++known;
    }
    const provider_instance& added = add_provider(std::move(copy));
    numbers_.emplace(event.provider, added.id);
    return added;
}

/// The records missing before this one that have not been put as losses.
std::uint64_t sink_state::unreported(const record_parts& parts) {
    std::uint64_t missing = parts.lost_before;
    for (const std::uint64_t source : {parts.event->from->number, std::uint64_t{0}}) {
        if (const auto found = reported_.find(source); missing != 0 && found != reported_.end()) {
            const std::uint64_t reported = std::min(found->second, missing);
            missing -= reported;
            found->second -= reported;
        }
    }
    return missing;
}

void sink_state::put(const record_parts& parts) {
    merged_record merged;
    record_view& decoded = merged.record;
    decoded.provider = provider_of(*parts.event).id;
    merged.ring = parts.ring == parts.event->from->shared_ring ? no_cpu : parts.ring;
    merged.lost_before = unreported(parts);
    decoded.event = parts.event->id;
    decoded.time = parts.ticks;
    merged.place = parts.place;
    decoded.thread = parts.thread;
    decoded.cpu = parts.cpu;
    decoded.flags = parts.flags;
    decoded.payload = parts.payload;
    writer_->write(merged, providers_, *parts.event->from->clock, no_cpu);
}

std::uint32_t sink_state::id_of(std::string_view provider) {
    if (const auto known = names_.find(provider); known != names_.end()) {
        return known->second;
    }
    provider_instance unknown;
    unknown.schema.name = provider;
    return add_provider(std::move(unknown)).id;
}

void sink_state::put_gap(const loss& missing, std::uint32_t ring) {
    merged_record gap;
    gap.ring = ring;
    gap.lost_before = missing.count;
    gap.overwritten = missing.reason == loss_reason::overwritten;
    writer_->write_gap(gap, no_cpu);
}

void sink_state::put(const loss& missing) {
    if (missing.count == 0) {
        return;
    }
    reported_[missing.source] += missing.count;
    loss_report block{};
    block.index = missing.cpu.value_or(no_cpu);
    switch (missing.reason) {
        case loss_reason::full:
        case loss_reason::overwritten:
            put_gap(missing, block.index);
            return;
        case loss_reason::damaged:
            block.damaged = missing.count;
            break;
        case loss_reason::unwritten:
            block.unwritten = missing.count;
            break;
        case loss_reason::too_large:
            block.too_large = missing.count;
            break;
        case loss_reason::busy:
            block.busy = missing.count;
            break;
        case loss_reason::unattached:
            block.unattached = missing.count;
            break;
        case loss_reason::refused:
            block.refused = missing.count;
            break;
    }
    if (lost_count(block) == 0) {  // counted by a provider
        block.scope = loss_scope::provider;
        block.index = id_of(missing.provider);
    }
    writer_->write_loss(block, providers_, no_cpu);
}

}  // namespace library

sink::sink(std::unique_ptr<library::sink_state> state) noexcept : state_(std::move(state)) {}
sink::~sink() = default;
sink::sink(sink&& other) noexcept = default;
sink& sink::operator=(sink&& other) noexcept = default;

void sink::put(const record& which) {
    library::convert_errors([&] { state_->put(which.parts()); });
}

void sink::put(const loss& missing) {
    library::convert_errors([&] { state_->put(missing); });
}

void sink::flush() {
    library::convert_errors([this] { state_->flush(); });
}

void sink::finish() {
    library::convert_errors([this] { state_->finish(); });
}

sink write_text(int descriptor) {
    return sink(std::make_unique<library::sink_state>(std::make_unique<text_writer>(descriptor)));
}

sink write_json_lines(int descriptor) {
    return sink(
        std::make_unique<library::sink_state>(std::make_unique<json_lines_writer>(descriptor)));
}

sink write_file(const std::string& path, writing_options options) {
    return library::convert_errors([&] {
        return sink(std::make_unique<library::sink_state>(
            std::make_unique<library::file_output>(path, options)));
    });
}

sink write_csv(int descriptor, const std::vector<event>& events) {
    return library::convert_errors([&] {
        auto writer = std::make_unique<csv_writer>(descriptor);
        csv_writer& table = *writer;
        auto state = std::make_unique<library::sink_state>(std::move(writer));
        for (const event each : events) {
            table.add_columns(state->provider_of(each.known()), each.known().id);
        }
        return sink(std::move(state));
    });
}

}  // namespace elog
