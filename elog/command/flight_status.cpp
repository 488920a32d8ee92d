// SPDX-License-Identifier: MIT
//
// elog flight status: shows flight recorders and their contents.
#include <unistd.h>

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/complaints.hpp"
#include "cli/json_document.hpp"
#include "commands.hpp"
#include "discovery/incompatible_processes.hpp"
#include "discovery/running_subscriptions.hpp"
#include "live/sampling.hpp"
#include "memory/detached_subscription.hpp"
#include "memory/pause_log.hpp"
#include "memory/recording.hpp"
#include "memory/running_directory.hpp"
#include "memory/snapshot_requests.hpp"
#include "output/text_writer.hpp"
#include "predicate/filtering_sink.hpp"
#include "record/clock_converter.hpp"
#include "record/loss_names.hpp"
#include "record/sampling_report.hpp"
#include "recorder/omitted_events.hpp"
#include "terminal/diagnostics.hpp"
#include "text/escaped_text.hpp"
#include "text/json_object.hpp"
#include "text/utc_text.hpp"

namespace elog {
namespace {

/// Discards all records, which the recording counts, and keeps the clock.
class counting_sink : public record_sink {
  public:
    explicit counting_sink(std::uint32_t clock) noexcept : clock_(clock) {}
    [[nodiscard]] const clock_converter& clock() const noexcept { return clock_; }

    void start(const region_view& /*source*/) override {}
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& /*provider*/) override {}
    void take_run(const record_run& /*run*/) override {}
    void take_loss(const loss_report& /*loss*/) override {}
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override {}

  private:
    clock_converter clock_;
};

/// In nanoseconds since 1970.
struct shown_pause {
    std::int64_t begin = 0;
    std::optional<std::int64_t> end;  // nothing if it goes on
};

struct detached_status {
    running_subscription subscription;
    std::uint64_t since = 0;  // nanoseconds since 1970
    recording_summary holds{};
    std::optional<sampling_report> omitted{};  // by a snapshot that is taken now
    request_counts requests{};                 // requests of programs for snapshots
    std::optional<std::string> reason{};       // reason of the last request
    std::uint32_t pause_count = 0;
    std::vector<shown_pause> pauses{};  // the last ones, in order
};

void add_pauses(detached_status& shown, const region_view& source, const clock_converter& clock) {
    const pause_history pauses = read_pauses(source.file);
    shown.pause_count = pauses.count;
    for (const recorder_pause& each : pauses.last) {
        shown.pauses.push_back(
            {clock.realtime(each.begin),
             each.goes_on() ? std::nullopt : std::optional(clock.realtime(each.end))});
    }
}

/// Returns nothing if it was ended meanwhile.
std::optional<detached_status> examine(const running_subscription& subscription) {
    try {
        const detached_subscription source(subscription.name);
        counting_sink nowhere(source.region().header.clock);
        const std::unique_ptr<record_sampler> sampler = make_sampler(source.region().header);
        filtering_sink sampled(nullptr, nowhere);
        sampled.sample_with(sampler.get());
        recording process(source.region(), sampled, source.unattached());
        const snapshot_requests requests(source.region());
        detached_status found{subscription, source.region().header.clock_start.realtime,
                              process.snapshot()};
        if (sampler) {
            found.omitted = sampler->report();
        }
        found.requests = requests.counts();
        found.reason = requests.reason();
        add_pauses(found, source.region(), nowhere.clock());
        // elog flight stop releases the memory while it is read here; then the rest reads as empty.
        return source.still_exists() ? std::optional(std::move(found)) : std::nullopt;
    } catch (const user_error& error) {
        print_diagnostic("elog: {}", error.what());
        return std::nullopt;
    }
}

const char* mode_of(const detached_status& shown) {
    return shown.subscription.overwrites ? "overwrite" : "discard";
}

/// Escaped, because any user with write access to the directory may have written the file.
std::string visible_rules(const running_subscription& subscription) {
    fmt::memory_buffer text;
    for (const std::vector<std::string>& entries :
         {subscription.rules(), subscription.processes()}) {
        for (const std::string& entry : entries) {
            append(text, " ");
            append_visible(text, entry);
        }
    }
    return fmt::to_string(text);
}

/// Empty without requests. Whether a command waits for requests is unknown.
std::string requests_of(const detached_status& shown) {
    if (shown.requests.wanted == 0) {
        return {};
    }
    fmt::memory_buffer text;
    append(text, fmt::format("  requests    {} snapshots by programs, {} of them not answered yet",
                             shown.requests.wanted, shown.requests.open()));
    if (!shown.reason) {
        append(text, "; several programs request one now");
    } else if (!shown.reason->empty()) {
        append(text, "; the last for: ");
        append_visible(text, *shown.reason);
    }
    append(text, "\n");
    if (shown.requests.open() != 0 && !shown.subscription.has_ended) {
        append(
            text,
            fmt::format("              Answer with: elog flight snapshot {} --on-request -o FILE\n",
                        shown.subscription.name));
    }
    return fmt::to_string(text);
}

std::string local_time(std::int64_t realtime) {
    const auto seconds = static_cast<std::time_t>(realtime / 1'000'000'000);
    std::tm parts{};
    char text[32] = "";
    if (::localtime_r(&seconds, &parts) != nullptr) {
        static_cast<void>(std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts));
    }
    return &text[0];
}

/// Empty without pauses. Of an interrupted command, see P4 in linux/eventlog.h.
std::string pauses_of(const detached_status& shown) {
    const std::string& name = shown.subscription.name;
    std::string text;
    if (!shown.pauses.empty() && !shown.subscription.has_ended && !shown.subscription.is_paused &&
        !shown.pauses.back().end) {
        text = fmt::format("  pause       a command was killed that paused or resumed it, or is at "
                           "work: some programs may be\n"
                           "              silent. Complete it with: elog flight resume {}\n",
                           name);
    } else if (shown.subscription.is_paused) {
        text = fmt::format(
            "  paused      {}it receives no events. Continue with: elog flight resume "
            "{}\n",
            shown.pauses.empty() ? "" : "since " + local_time(shown.pauses.back().begin) + ": ",
            name);
    }
    if (!shown.pauses.empty() && shown.pauses.back().end) {
        text += fmt::format("  pauses      {}, the last from {} to {}\n", shown.pause_count,
                            local_time(shown.pauses.back().begin),
                            local_time(*shown.pauses.back().end));
    }
    return text;
}

std::string text_of(const detached_status& shown) {
    const recording_summary& holds = shown.holds;
    std::string text = fmt::format("{}: {}, {} KiB of memory, since {}\n", shown.subscription.name,
                                   mode_of(shown), shown.subscription.memory >> 10U,
                                   local_time(static_cast<std::int64_t>(shown.since)));
    if (shown.subscription.has_ended) {
        text += fmt::format("  ended       it receives no more events. Write those that it has "
                            "with: elog flight stop {} -o FILE\n",
                            shown.subscription.name);
    }
    text += pauses_of(shown);
    text += "  events     " + visible_rules(shown.subscription);
    text += fmt::format("\n  holds       {} events, {} bytes\n", holds.events, holds.bytes);
    if (shown.omitted) {
        text += fmt::format("  snapshot    {}\n", omitted_text(*shown.omitted));
    }
    if (shown.subscription.overwrites) {
        text += fmt::format("  overwritten {} events\n", holds.overwritten);
    }
    text += fmt::format(
        "  lost        {} events{}\n", holds.lost,
        holds.unattached == 0 ? "" : fmt::format(", {} of them unattached", holds.unattached));
    if (holds.has_unread_losses) {
        text += "              and perhaps some of programs that have ended: there were too many\n";
    }
    if (holds.has_impossible_counts) {
        text += "              and perhaps others: a program has overwritten counts\n";
    }
    text += requests_of(shown);
    if (holds.providers_refused != 0) {
        text += fmt::format("  refused     {} providers: there is no room for more than {}. Stop "
                            "it, and start it again.\n",
                            holds.providers_refused, EVENTLOG_PROVIDERS_MAX);
    }
    return text;
}

nlohmann::ordered_json json_of(const std::vector<shown_pause>& pauses) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const shown_pause& each : pauses) {
        list.push_back({{"start_time", as_utc_text(each.begin)},
                        {"end_time", each.end ? nlohmann::ordered_json(as_utc_text(*each.end))
                                              : nlohmann::ordered_json()}});
    }
    return list;
}

/// null without a limit.
nlohmann::ordered_json json_of_rate(std::uint64_t max_rate) {
    return max_rate == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(max_rate);
}

std::string json_of(const std::vector<detached_status>& all) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const detached_status& each : all) {
        list.push_back({{"name", each.subscription.name},
                        {"slot", each.subscription.slot},
                        {"mode", mode_of(each)},
                        {"ended", each.subscription.has_ended},
                        {"paused", each.subscription.is_paused},
                        {"pause_count", each.pause_count},
                        {"pauses", json_of(each.pauses)},
                        {"rules", each.subscription.rules()},
                        {"process_rules", each.subscription.processes()},
                        {"sessions", each.subscription.sessions},
                        {"max_rate", json_of_rate(each.subscription.max_rate())},
                        {"start_time", as_utc_text(static_cast<std::int64_t>(each.since))},
                        {"memory_bytes", each.subscription.memory},
                        {"events", each.holds.events},
                        {"bytes", each.holds.bytes},
                        {loss_name::overwritten, each.holds.overwritten},
                        {"lost", each.holds.lost},
                        {"lost_by_reason",
                         {{loss_name::full, each.holds.full},
                          {loss_name::too_large, each.holds.too_large},
                          {loss_name::busy, each.holds.busy},
                          {loss_name::unattached, each.holds.unattached},
                          {loss_name::damaged, each.holds.damaged}}},
                        {"providers_refused", each.holds.providers_refused},
                        {"counts_overwritten", each.holds.has_impossible_counts},
                        {"losses_incomplete", each.holds.has_unread_losses},
                        {"snapshots_requested", each.requests.wanted},
                        {"snapshots_answered", each.requests.answered},
                        {"snapshot_reason", each.reason && each.requests.wanted != 0
                                                ? nlohmann::ordered_json(*each.reason)
                                                : nlohmann::ordered_json()}});
        json_object omitted;
        add_omitted(omitted, each.omitted.value_or(sampling_report{}));
        list.back().update(nlohmann::ordered_json::parse(omitted.text()));
    }
    const nlohmann::ordered_json all_of_it = {{"version", json_version},
                                              {"flight_recorders", std::move(list)}};
    return document_text(all_of_it) + '\n';
}

void run_status(bool as_json) {
    std::vector<std::string> complaints;
    std::vector<detached_status> all;
    std::vector<running_subscription> flight_recorders;
    if (const std::optional<eventlog::core::directory> where = open_running_directory()) {
        for (const running_subscription& each : read_subscriptions(*where, complaints)) {
            if (each.name.empty()) {
                continue;
            }
            flight_recorders.push_back(each);
            if (std::optional<detached_status> status = examine(each)) {
                all.push_back(std::move(*status));
            }
        }
    }
    print_complaints(complaints);
    warn_incompatible_processes(flight_recorders);
    std::string text;
    if (as_json) {
        text = json_of(all);
    } else {
        for (const detached_status& each : all) {
            text += text_of(each);
        }
    }
    write_all(STDOUT_FILENO, text);
    if (all.empty()) {
        print_note("No flight recorder is running. Start one with: elog flight start NAME -e "
                   "'PROVIDER:*'");
    }
}

}  // namespace

void add_flight_status(command_group& flight) {
    subcommand command =
        flight.add_subcommand("status", "Show flight recorders and their contents");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("-j,--json", *json, "Write a JSON object");
    command.footer("Examples:\n"
                   "  elog flight status\n"
                   "  elog flight status --json | jq -r '.flight_recorders[].name'");
    command.action([json] { run_status(*json); });
}

}  // namespace elog
