// SPDX-License-Identifier: MIT
//
// Formats a catalogue as text.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "discovery/catalogue_output.hpp"
#include "record/loss_names.hpp"
#include "ring/gate_layout.hpp"
#include "schema/type_text.hpp"
#include "terminal/wrapped_text.hpp"

namespace elog {
namespace {

// A longer name moves the rest of its line to the right.
constexpr std::size_t name_column_max = 30;
constexpr std::size_t event_indent = 2;
constexpr std::size_t detail_indent = 6;
constexpr std::size_t level_width = 7;
constexpr std::size_t label_end = 12;  // after "processes" and "listeners"

paint paint_of_level(eventlog::level severity) {
    switch (severity) {
        case eventlog::level::error:
            return paint::red;
        case eventlog::level::warn:
            return paint::magenta;
        case eventlog::level::info:
            return paint::plain;
        case eventlog::level::verbose:
        case eventlog::level::trace:
            return paint::faint;
    }
    return paint::plain;
}

class catalogue_formatter {
  public:
    catalogue_formatter(const catalogue& shown, const terminal_style& style, bool stats)
        : shown_(shown), style_(style), stats_(stats) {}

    [[nodiscard]] std::string make() {
        const std::vector<catalogue_provider>& all = shown_.providers;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto has_name_of = [&](std::size_t other) {
                return other < all.size() && all[other].schema.name == all[i].schema.name;
            };
            if (i != 0) {
                out_.push_back('\n');
            }
            append_heading(all[i].schema, has_name_of(i - 1) || has_name_of(i + 1));
            append_processes(all[i]);
            append_listeners(all[i]);
            if (stats_) {
                append_counters(all[i]);
            }
            append_events(all[i]);
        }
        if (shown_.is_whole) {
            append_idle_listeners();
        }
        return fmt::to_string(out_);
    }

  private:
    void append_heading(const provider_schema& schema, bool is_one_of_several) {
        wrapped_line line(out_, style_, 0, event_indent);
        line.add(schema.name, paint::strong);
        if (is_one_of_several) {
            // Programs were compiled with different events or fields.
            line.add(fmt::format("(schema {:016x})", schema.hash), paint::faint);
        }
        if (!schema.description.empty()) {
            line.fill_to(0);
            line.add_words(schema.description);
        }
    }

    /// "order_service 4242, 4243; worker 99".
    void append_processes(const catalogue_provider& provider) {
        wrapped_line line(out_, style_, event_indent, label_end);
        line.add("processes", paint::faint);
        line.fill_to(label_end);
        for (std::size_t i = 0; i < provider.processes.size(); ++i) {
            const catalogue_process& process = provider.processes[i];
            if (i == 0 || provider.processes[i - 1].name != process.name) {
                line.add(process.name);
            }
            const bool is_last = i + 1 == provider.processes.size();
            const bool goes_on = !is_last && provider.processes[i + 1].name == process.name;
            // pid 0 is the kernel or one of its modules.
            if (process.pid == 0) {
                line.add(is_last ? "(kernel)" : "(kernel);");
                continue;
            }
            line.add(fmt::format("{}{}{}", process.pid,
                                 process.instances > 1 ? fmt::format("(x{})", process.instances)
                                                       : std::string(),
                                 is_last   ? ""
                                 : goes_on ? ","
                                           : ";"));
        }
    }

    /// Whether the subscription receives any listed event of the provider.
    static bool receives(unsigned slot, const catalogue_provider& provider) {
        return std::any_of(
            provider.events.begin(), provider.events.end(), [slot](const auto& event) {
                return std::any_of(event.listeners.begin(), event.listeners.end(),
                                   [slot](const auto& each) { return each.slot == slot; });
            });
    }

    /// "[1] elog 813: absent:*": the subscriptions that receive no event yet, with their rules.
    void append_idle_listeners() {
        bool is_first = true;
        for (const running_subscription& subscription : shown_.subscriptions) {
            const bool is_idle = !subscription.has_ended &&
                                 std::none_of(shown_.providers.begin(), shown_.providers.end(),
                                              [&](const auto& provider) {
                                                  return receives(subscription.slot, provider);
                                              });
            if (is_idle) {
                append_idle_listener(subscription, is_first);
                is_first = false;
            }
        }
    }

    void append_idle_listener(const running_subscription& subscription, bool is_first) {
        if (is_first) {
            if (!shown_.providers.empty()) {
                out_.push_back('\n');
            }
            wrapped_line(out_, style_, 0, event_indent)
                .add_words("Listeners without an event of a running program", paint::faint);
        }
        wrapped_line line(out_, style_, event_indent, detail_indent);
        line.add(fmt::format("[{}]", subscription.slot), paint::strong);
        append_name(line, subscription);
        for (const std::string& rule : subscription.rules()) {
            line.add(rule);
        }
        for (const std::string& process : subscription.processes()) {
            line.add(process, paint::faint);
        }
    }

    /// "[0] elog 812": the subscriptions that receive any of the listed events.
    void append_listeners(const catalogue_provider& provider) {
        if (std::none_of(shown_.subscriptions.begin(), shown_.subscriptions.end(),
                         [&](const auto& each) { return receives(each.slot, provider); })) {
            return;
        }
        wrapped_line line(out_, style_, event_indent, label_end);
        line.add("listeners", paint::faint);
        line.fill_to(label_end);
        for (const running_subscription& subscription : shown_.subscriptions) {
            if (receives(subscription.slot, provider)) {
                line.add(fmt::format("[{}]", subscription.slot), paint::strong);
                append_name(line, subscription);
            }
        }
    }

    /// "elog 812", or "flight (elog flight start)" for a flight recorder.
    static void append_name(wrapped_line& line, const running_subscription& subscription) {
        if (!subscription.name.empty()) {
            line.add(subscription.name);
            line.add(subscription.is_paused ? "(elog flight start, paused)" : "(elog flight start)",
                     paint::faint);
            return;
        }
        line.add(subscription.process.empty() ? "process" : subscription.process);
        line.add(fmt::format("{}", subscription.pid));
        if (subscription.is_paused) {
            line.add("(paused)", paint::faint);
        }
    }

    /// "order_service 4242: 1200 written 7 lost (7 full)": a line for each process, and one for
    /// its events for the kernel, if there were any.
    void append_counters(const catalogue_provider& provider) {
        for (const catalogue_process& process : provider.processes) {
            append_counters(process, process.counters, "counted");
            if (process.in_kernel.written != 0 || lost_count(process.in_kernel) != 0) {
                append_counters(process, process.in_kernel, "kernel");
            }
        }
    }

    void append_counters(const catalogue_process& process, const eventlog_route_counters& counters,
                         const char* label) {
        wrapped_line line(out_, style_, event_indent, label_end);
        line.add(label, paint::faint);
        line.fill_to(label_end);
        line.add(process.name);
        line.add(fmt::format("{}:", process.pid));
        line.add(fmt::format("{} written", counters.written));
        if (counters.truncated != 0) {
            line.add(fmt::format("({} truncated)", counters.truncated));
        }
        append_losses(line, counters);
    }

    static void append_losses(wrapped_line& line, const eventlog_route_counters& counters) {
        const std::pair<const char*, std::uint64_t> reasons[] = {
            {loss_name::full, counters.lost_full},
            {loss_name::too_large, counters.lost_too_large},
            {loss_name::busy, counters.lost_busy},
            {loss_name::unattached, counters.lost_unattached},
            {loss_name::refused, counters.lost_refused}};
        const std::uint64_t lost = lost_count(counters);
        std::string why;
        for (const auto& [reason, count] : reasons) {
            if (count != 0) {
                why += fmt::format("{}{} {}", why.empty() ? " (" : ", ", count, reason);
            }
        }
        line.add(fmt::format("{} lost{}{}", lost, why, why.empty() ? "" : ")"),
                 lost == 0 ? paint::plain : paint::red);
    }

    void append_events(const catalogue_provider& provider) {
        const type_text types(provider.schema);
        std::size_t widest = 0;
        for (const catalogue_event& event : provider.events) {
            widest = std::max(widest, provider.schema.events[event.id].name.size());
        }
        const std::size_t column = event_indent + std::min(widest, name_column_max) + 2;
        for (const catalogue_event& event : provider.events) {
            const event_schema& schema = provider.schema.events[event.id];
            append_event_line(provider, event, schema, column);
            append_description(schema);
            append_fields(types, schema);
        }
    }

    void append_event_line(const catalogue_provider& provider, const catalogue_event& event,
                           const event_schema& schema, std::size_t column) {
        wrapped_line line(out_, style_, event_indent, detail_indent);
        line.add(schema.name, paint::strong);
        line.fill_to(column);
        line.add(name_of(schema.severity), paint_of_level(schema.severity));
        const std::vector<std::string> keywords = keywords_of(provider.schema, schema);
        const bool has_more = schema.kind != eventlog::kind::instant || schema.session_bound ||
                              schema.truncates || !keywords.empty() || !event.listeners.empty();
        if (!has_more) {
            return;
        }
        line.fill_to(column + level_width);
        if (schema.kind != eventlog::kind::instant) {
            line.add(name_of(schema.kind));
        }
        if (schema.session_bound) {
            line.add("session");
        }
        if (schema.truncates) {
            line.add("truncates");
        }
        for (const std::string& keyword : keywords) {
            line.add(keyword);
        }
        for (const event_listener& listener : event.listeners) {
            line.add(listener_text(provider, listener), paint::strong);
        }
    }

    /// "/orders," and "money": the part of a pattern after the names.
    static std::vector<std::string> keywords_of(const provider_schema& provider,
                                                const event_schema& event) {
        std::vector<std::string> names;
        for (const auto& [bit, name] : provider.keywords) {
            if ((event.keywords >> bit & 1U) != 0) {
                names.push_back(names.empty() ? "/" + name : name);
            }
        }
        for (std::size_t i = 0; i + 1 < names.size(); ++i) {
            names[i] += ',';
        }
        return names;
    }

    static std::string listener_text(const catalogue_provider& provider,
                                     const event_listener& listener) {
        std::string text = fmt::format("[{}]", listener.slot);
        if (listener.in_sessions) {
            text += "#";
        }
        if (listener.pids.size() != provider.processes.size()) {
            text += fmt::format("(in {} of {})", listener.pids.size(), provider.processes.size());
        }
        return text;
    }

    void append_description(const event_schema& schema) {
        if (schema.description.empty() && schema.when.empty()) {
            return;
        }
        wrapped_line line(out_, style_, detail_indent, detail_indent);
        line.add_words(schema.description, paint::faint);
        if (!schema.when.empty()) {
            line.add_words(schema.description.empty() ? "When" : "when", paint::faint);
            line.add_words(schema.when, paint::faint);
        }
    }

    void append_fields(const type_text& types, const event_schema& schema) {
        if (schema.fields.empty()) {
            return;
        }
        wrapped_line line(out_, style_, detail_indent, detail_indent);
        for (const field_schema& field : schema.fields) {
            const char* between = &field == &schema.fields.back() ? "" : ",";
            line.add(fmt::format("{}: {}{}", field.name, types.of(field), between));
        }
    }

    const catalogue& shown_;
    terminal_style style_;
    bool stats_;
    fmt::memory_buffer out_;
};

}  // namespace

std::string catalogue_as_text(const catalogue& shown, const terminal_style& style, bool stats) {
    return catalogue_formatter(shown, style, stats).make();
}

}  // namespace elog
