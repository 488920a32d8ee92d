// SPDX-License-Identifier: MIT
#include "recorder/summary.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "live/uncounted_losses.hpp"
#include "record/loss_names.hpp"
#include "record/ring_records.hpp"
#include "recorder/omitted_events.hpp"
#include "shm/directory.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

// The largest event that the kernel's tracing takes, see write_user_events in the library.
constexpr unsigned kernel_payload_max = 4048;

/// Number of events that the file would have without --limit, on a disk with enough space, if no
/// other process took it away.
std::uint64_t count_wanted(const recording_summary& summary, const summary_notes& notes) {
    return notes.omitted ? notes.omitted->kept
                         : notes.passed.value_or(summary.events + summary.unwritten);
}

std::uint64_t count_in_file(const recording_summary& summary, const summary_notes& notes) {
    const std::uint64_t passed = notes.kept.value_or(count_wanted(summary, notes));
    return passed - std::min(passed, summary.unwritten + notes.moved);
}

std::optional<double> per_second(const recording_summary& summary) {
    return summary.elapsed
               ? std::optional(static_cast<double>(summary.events) / summary.elapsed->count())
               : std::nullopt;
}

std::string duration_text(const recording_summary& summary) {
    return summary.elapsed ? fmt::format(", {:.3f} s, {:.0f} events/s", summary.elapsed->count(),
                                         *per_second(summary))
                           : std::string();
}

/// ", in run.elog", and how many of the events, if the file has not all.
std::string place_of(const recording_summary& summary, const summary_notes& notes) {
    if (!notes.output) {
        return {};
    }
    const std::uint64_t count = count_in_file(summary, notes);
    return count == summary.events ? fmt::format(", in {}", *notes.output)
                                   : fmt::format(", {} of them in {}", count, *notes.output);
}

/// Rings with events or losses. Events that were too large or found the ring busy belong to no
/// ring.
std::vector<json_object> rings_as_json(const std::vector<ring_totals>& rings) {
    std::vector<json_object> shown;
    for (std::size_t i = 0; i < rings.size(); ++i) {
        const ring_totals& ring = rings[i];
        const std::uint64_t lost = ring.lost + ring.damaged + ring.unwritten;
        if (ring.read == 0 && lost == 0 && ring.overwritten == 0) {
            continue;
        }
        const bool is_shared = i + 1 == rings.size();
        shown.emplace_back()
            .add("cpu", is_shared ? std::nullopt : std::optional(i))
            .add("events", ring.read)
            .add("bytes", ring.bytes)
            .add("lost", lost)
            .add("overwritten", ring.overwritten);
    }
    return shown;
}

std::vector<json_object> losses_as_json(const std::vector<lossy_provider>& providers) {
    std::vector<json_object> shown;
    for (const lossy_provider& each : providers) {
        const provider_losses& lost = each.lost;
        json_object by_reason = json_object()
                                    .add(loss_name::full, lost.full)
                                    .add(loss_name::too_large, lost.too_large)
                                    .add(loss_name::busy, lost.busy)
                                    .add(loss_name::unattached, lost.unattached);
        if (lost.refused != 0) {
            by_reason.add(loss_name::refused, lost.refused);
        }
        shown.emplace_back()
            .add("provider", each.provider)
            .add("comm", each.process)
            .add("pid", each.pid)
            .add("lost", lost.full + lost.too_large + lost.busy + lost.unattached + lost.refused)
            .add("lost_by_reason", by_reason);
        if (lost.no_memory != 0) {
            shown.back().add("lost_no_memory", lost.no_memory);
        }
    }
    return shown;
}

/// Limited to `full`: a process counts a loss in the ring first and in its provider's entry
/// afterwards, so that the two may be read in between.
std::uint64_t lost_by_capacity(const recording_summary& summary) {
    return std::min(summary.no_memory, summary.full);
}

void print_losses(const recording_summary& summary) {
    const std::uint64_t no_memory = lost_by_capacity(summary);
    if (summary.full != no_memory) {
        print_diagnostic(
            "elog: {} events found no room in the buffers. Make them larger with --buffer-size.",
            summary.full - no_memory);
    }
    if (no_memory != 0) {
        print_diagnostic(
            "elog: {} events found no memory for the shared ring. Free some in {}, or set "
            "EVENTLOG_DIR to a larger tmpfs.",
            no_memory, eventlog::core::current_directory().text.data());
    }
    if (summary.overwritten != 0) {
        print_diagnostic(
            "elog: {} older events were overwritten by newer ones in the buffers. To keep more, "
            "make them larger with --buffer-size.",
            summary.overwritten);
    }
    if (summary.too_large != 0) {
        print_diagnostic("elog: {} events were over {} bytes, or over {} for the kernel. Shorten "
                         "them in the program.",
                         summary.too_large, payload_size_max, kernel_payload_max);
    }
    if (summary.truncated != 0) {
        print_diagnostic("elog: {} events were too large, and their texts have been truncated.",
                         summary.truncated);
    }
    if (summary.busy != 0) {
        print_diagnostic("elog: {} events found the shared ring in use. Use a machine with "
                         "restartable sequences, or fewer threads.",
                         summary.busy);
    }
    if (summary.unattached != 0) {
        print_diagnostic("elog: {} events were emitted by processes that were not attached (yet). "
                         "Let their threads wait until eventlog has started, or see elog-list(1).",
                         summary.unattached);
    }
    if (summary.refused != 0) {
        print_diagnostic("elog: {} events were rejected by the kernel. See elog-list(1), --stats.",
                         summary.refused);
    }
    if (summary.damaged != 0) {
        print_diagnostic("elog: {} events were damaged: a program has overwritten the buffers.",
                         summary.damaged);
    }
    report_uncounted_losses(summary);
}

}  // namespace

void count_unwritten(recording_summary& summary, const std::vector<unwritten_records>& by_ring) {
    for (std::size_t i = 0; i < by_ring.size(); ++i) {
        const auto& [count, bytes] = by_ring[i];
        summary.events -= std::min(count, summary.events);
        summary.bytes -= std::min(bytes, summary.bytes);
        summary.unwritten += count;
        summary.lost += count;
        if (i < summary.rings.size()) {
            ring_totals& ring = summary.rings[i];
            ring.read -= std::min(count, ring.read);
            ring.bytes -= std::min(bytes, ring.bytes);
            ring.unwritten += count;
        }
    }
}

void print_summary(const recording_summary& summary, const summary_notes& notes) {
    // --quiet never suppresses losses.
    if (summary.lost != 0 || !is_quiet()) {
        print_diagnostic("{} events, {} bytes, {} lost{}{}", summary.events, summary.bytes,
                         summary.lost, duration_text(summary), place_of(summary, notes));
    }
    print_losses(summary);
    if (notes.passed) {
        print_note("{} events passed --where", *notes.passed);
    }
    if (notes.omitted) {
        print_note("{}", omitted_text(*notes.omitted));
    }
    if (notes.kept) {
        print_note("{} events were kept for --limit, {} later ones were left out", *notes.kept,
                   count_wanted(summary, notes) - *notes.kept);
    }
}

bool print_summary_as_json(const json_object& first, const recording_summary& summary,
                           const summary_notes& notes) {
    print_losses(summary);
    json_object by_reason = json_object()
                                .add(loss_name::full, summary.full)
                                .add(loss_name::too_large, summary.too_large)
                                .add(loss_name::busy, summary.busy)
                                .add(loss_name::unattached, summary.unattached)
                                .add(loss_name::damaged, summary.damaged);
    if (summary.refused != 0) {
        by_reason.add(loss_name::refused, summary.refused);
    }
    if (summary.unwritten != 0) {
        by_reason.add(loss_name::unwritten, summary.unwritten);
    }
    std::optional<std::int64_t> duration;
    if (summary.elapsed) {
        duration = std::chrono::round<std::chrono::nanoseconds>(*summary.elapsed).count();
    }
    json_object object = versioned_object();
    object.add_members(first)
        .add("file", notes.output)
        .add("events", summary.events)
        .add("bytes", summary.bytes)
        .add("lost", summary.lost)
        .add("lost_by_reason", by_reason)
        .add("lost_by_provider", losses_as_json(summary.lossy_providers))
        .add("lost_no_memory", lost_by_capacity(summary))
        .add(loss_name::overwritten, summary.overwritten)
        .add("truncated", summary.truncated)
        .add("providers_refused", summary.providers_refused)
        .add("counts_overwritten", summary.has_impossible_counts)
        .add("losses_incomplete", summary.has_unread_losses)
        .add("where_matched", notes.passed)
        .add("file_events", count_in_file(summary, notes))
        .add("duration_ns", duration)
        .add("events_per_second", per_second(summary))
        .add("by_cpu", rings_as_json(summary.rings));
    add_omitted(object, notes.omitted.value_or(sampling_report{}));
    if (notes.command) {
        object.add("command", *notes.command);
    }
    try {
        write_all(STDOUT_FILENO, object.line());
    } catch (const output_closed&) {  // the file is complete
    } catch (const user_error& error) {
        print_diagnostic("elog: {}", error.what());
        return false;
    }
    return true;
}

}  // namespace elog
