// SPDX-License-Identifier: MIT
#include "import/importer.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/saturating.hpp"
#include "file/loss_limits.hpp"
#include "format/event_format.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

using format_texts = std::map<std::pair<std::string, std::string>, std::string>;

/// By system and name. Formats without a name are skipped, and records of them count as unknown.
std::shared_ptr<const format_texts> index_formats(
    const std::vector<tracefs::recorded_format>& formats) {
    constexpr std::string_view begin = "name: ";
    auto texts = std::make_shared<format_texts>();
    for (const tracefs::recorded_format& format : formats) {
        const std::size_t end = format.text.find('\n');
        if (format.text.starts_with(begin) && end != std::string::npos) {
            texts->try_emplace(
                {format.system, format.text.substr(begin.size(), end - begin.size())}, format.text);
        }
    }
    return texts;
}

/// All events of the file are imported.
event_patterns all_events() {
    event_patterns patterns;
    patterns.add("*");
    return patterns;
}

kernel_trace_registry find_events(const event_patterns& patterns,
                                  const std::vector<tracefs::recorded_format>& formats,
                                  kernel_trace_registry::read_published published) {
    const std::shared_ptr<const format_texts> texts = index_formats(formats);
    // Published schemas are read once, because the file does not change.
    const auto read_once = [published = std::move(published), is_asked = false]() mutable {
        return std::exchange(is_asked, true) ? std::vector<provider_schema>() : published();
    };
    const auto list_all = [texts](const std::vector<std::string>& /*systems*/) {
        std::vector<tracefs::event_name> names;
        for (const auto& [name, text] : *texts) {
            names.push_back({name.first, name.second});
        }
        return names;
    };
    const auto find_text = [texts](const tracefs::event_name& name) {
        const auto found = texts->find({name.system, name.event});
        return found == texts->end() ? std::nullopt : std::optional(found->second);
    };
    return {patterns, read_once, list_all, find_text};
}

}  // namespace

importer::importer(const std::string& to, const tracefs::recorded_machine& machine,
                   recorded_clock clock, const std::vector<tracefs::recorded_format>& formats,
                   kernel_trace_registry::read_published published)
    : clock_(std::move(clock)),
      shared_ring_(ring_count_of(machine) - 1),
      patterns_(all_events()),
      events_(find_events(patterns_, formats, std::move(published))),
      file_(to, machine),
      records_(ring_count_of(machine), false),
      early_losses_(ring_count_of(machine)) {
    static_cast<void>(events_.discover());
    diagnostics_ = events_.take_diagnostics();
    records_.start(file_);
}

std::uint32_t importer::ring_of(std::optional<std::uint32_t> cpu) const noexcept {
    return cpu && *cpu < shared_ring_ ? *cpu : shared_ring_;
}

/// Writes the first clock reading. If the time of day is unknown, times count from 1970.
void importer::begin(std::uint64_t time) {
    has_begun_ = true;
    begin_ = time;
    const auto offset = static_cast<std::uint64_t>(clock_.realtime.value_or(0));
    file_.take_clock({time, time, time + offset});
    take_early_losses();
}

void importer::take_early_losses() {
    for (std::uint32_t ring = 0; ring < early_losses_.size(); ++ring) {
        lose_possible(ring, std::exchange(early_losses_[ring], 0));
    }
}

void importer::lose(std::uint32_t ring, std::uint64_t count) {
    if (has_begun_) {
        lose_possible(ring, count);
    } else {
        add_saturating(early_losses_[ring], count);
    }
}

void importer::lose_possible(std::uint32_t ring, std::uint64_t count) {
    const std::uint64_t possible = largest_loss(begin_, shared_ring_ + 1) / 2;
    if (count > possible - records_.lost(ring)) {
        ++impossible_;
    } else {
        records_.lose(ring, count);
    }
}

void importer::take(std::uint32_t ring, const process_info& process,
                    const kernel_trace_record& record) {
    if (!has_begun_) {
        begin(record.time);
    }
    const std::optional<tracefs::common_fields> common = tracefs::parse_common_fields(record.bytes);
    if (!common) {
        records_.count_damaged(ring);
        return;
    }
    const kernel_trace_event* const event = events_.find(common->event);
    if (event == nullptr) {
        ++unknown_;
        records_.count_damaged(ring);
        return;
    }
    records_.take(ring, *event, process, record);
}

void importer::finish(import_result& result) {
    take_early_losses();
    records_.finish();
    file_.finish();
    if (impossible_ != 0) {
        result.damages.push_back(fmt::format(
            "{} of its counts of lost events are impossible, and are left out", impossible_));
    }
    if (unknown_ != 0) {
        result.damages.push_back(
            fmt::format("{} records are of events that it does not describe, or not so that elog "
                        "understands it",
                        unknown_));
        for (const std::string& complaint : diagnostics_) {
            result.damages.push_back(complaint);
        }
    }
    if (!clock_.realtime && has_begun_) {
        result.notes.push_back(
            fmt::format("its times are by {}, and their time of day is not recorded: they are "
                        "shown as they are, from 1970 on. To have times of day, record with {}.",
                        clock_.name, clock_.advice));
    }
    result.clock = clock_;
}

}  // namespace elog
