// SPDX-License-Identifier: MIT
//
// Prints everything that the library reads from a recording, one line each, in a form that another
// reader can produce, too: see tests/integration/harness/independent_reader.py.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "file/file_reader.hpp"
#include "schema/decode.hpp"

namespace {

std::string hex(const void* data, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += fmt::format("{:02x}", static_cast<const unsigned char*>(data)[i]);
    }
    return text;
}

std::string text_of(const elog::field_schema& field, std::span<const std::uint8_t> payload,
                    const elog::field_value& value) {
    return std::visit(
        [&](const auto& held) -> std::string {
            using type = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<type, elog::null_text>) {
                return "null";
            } else if constexpr (std::is_same_v<type, elog::absent_value>) {
                return "none";
            } else if constexpr (std::is_same_v<type, elog::damaged_value>) {
                return "damaged";
            } else if constexpr (std::is_same_v<type, elog::array_value>) {
                std::string all = "[";
                for (std::size_t i = 0; i < held.count; ++i) {
                    all += (i == 0 ? "" : ",") +
                           text_of(field, payload, elog::decode_element(field, i, payload));
                }
                return all + "]";
            } else if constexpr (std::is_same_v<type, std::string_view> ||
                                 std::is_same_v<type, elog::byte_string>) {
                return "x" + hex(held.data(), held.size());
            } else if constexpr (std::is_floating_point_v<type>) {
                return "f" + hex(&held, sizeof held);
            } else if constexpr (std::is_same_v<type, char>) {
                return fmt::format("{}", static_cast<unsigned char>(held));
            } else {
                return fmt::format("{}", held);
            }
        },
        value);
}

std::string fields_of(const elog::provider_map& providers, const elog::record_view& record) {
    const auto found = providers.find(record.provider);
    if (found == providers.end() || record.event >= found->second.schema.events.size() ||
        !elog::is_supported(record)) {
        return fmt::format("? {}", record.payload.size());
    }
    const elog::provider_instance& provider = found->second;
    const elog::event_schema& event = provider.schema.events[record.event];
    std::string text = fmt::format("{} {} {} {}:{}", provider.pid, provider.uid,
                                   hex(provider.process.data(), provider.process.size()),
                                   provider.schema.name, event.name);
    for (const elog::field_schema& field : event.fields) {
        text +=
            fmt::format(" {}={}", field.name,
                        text_of(field, record.payload, elog::decode_field(field, record.payload)));
    }
    return text;
}

void dump(const std::string& path) {
    elog::file_reader file(path);
    const elog::recording_host& host = file.host();
    fmt::print("host {} {} {} {} {}\n", host.clock, host.ring_count,
               hex(host.host_name.data(), host.host_name.size()), host.part,
               hex(host.command.data(), host.command.size()));
    file.read([&](const elog::merged_record& merged) {
        const elog::record_view& record = merged.record;
        fmt::print("record {} {} {} {} {} {} {} {}\n", merged.ring, merged.lost_before, record.time,
                   file.clock().realtime(record.time), record.cpu, record.thread, record.flags,
                   fields_of(file.providers(), merged.record));
    });
    for (const elog::loss_report& loss : file.losses()) {
        fmt::print("loss {} {} {} {} {} {} {} {} {} {} {} {}\n", static_cast<int>(loss.scope),
                   loss.index, loss.full, loss.too_large, loss.busy, loss.damaged, loss.overwritten,
                   loss.unwritten, loss.pid, loss.start_time,
                   hex(loss.process.data(), loss.process.size()), loss.provider);
    }
    for (const elog::recording_mark& mark : file.marks()) {
        fmt::print("{} {} {}\n", mark.kind == elog::mark_kind::pause ? "pause" : "resume",
                   mark.number, mark.time);
    }
    const elog::recording_notes& notes = file.notes();
    if (notes.scope) {
        fmt::print("scope {} {} {}\n", notes.scope->outside, notes.scope->undecided,
                   notes.scope->undecided_processes);
    }
    if (notes.omitted) {
        fmt::print("omitted {} {} {} {}\n", notes.omitted->kept, notes.omitted->by_sampling,
                   notes.omitted->by_rate, notes.omitted->max_rate);
        for (const elog::sampled_event& each : notes.omitted->events) {
            fmt::print("omitted {}:{} {} {} {} {}\n", each.provider, each.event, each.every,
                       each.kept, each.by_sampling, each.by_rate);
        }
    }
    if (file.end()) {
        fmt::print("end {} {} {}\n", file.end()->reason, file.end()->records, file.end()->lost);
    }
    fmt::print("{}\n", file.damages().empty() ? "whole" : "damaged");
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        for (int i = 1; i < argument_count; ++i) {
            dump(arguments[i]);
        }
    } catch (const std::exception& error) {
        fmt::print("refused\n");
        fmt::print(stderr, "{}\n", error.what());
    }
    return 0;
}
