// SPDX-License-Identifier: MIT
#include "live/tracing.hpp"

#include <utility>

#include <fmt/core.h>

#include "bpf/bpf_listing.hpp"
#include "cli/usage_error.hpp"
#include "kernel/error.hpp"
#include "live/where.hpp"
#include "pushdown/bpf_code_generator.hpp"

namespace elog {

capture_request make_capture_request(const listening_arguments& arguments,
                                     const subscription_options& options,
                                     const std::optional<std::string>& where) {
    capture_request request{.subscription = options,
                            .process_names = arguments.process_names,
                            .reference_time = current_time()};
    for (const std::uint64_t pid : arguments.pids) {
        request.pids.push_back(static_cast<std::uint32_t>(pid));
    }
    if (where) {
        as_usage_error([&] { request.where.emplace("--where", *where); });
    }
    return request;
}

namespace {

std::string explain_kernel(const pushdown_decision& decided) {
    if (decided.pushed) {
        return eventlog::tracefs::hist_trigger(decided.pushed->asked);
    }
    if (!decided.by_bpf.plan) {
        return "nothing";
    }
    const bpf_plan& plan = *decided.by_bpf.plan;
    return plan.by.empty() ? "in a BPF program"
                           : fmt::format("in a BPF program, by {}, with room for {} keys", plan.by,
                                         plan.keys_max);
}

/// The instructions of the BPF program that counts the event, if one does.
std::string list_program(const pushdown_decision& decided) {
    if (decided.pushed || !decided.by_bpf.plan) {
        return {};
    }
    constexpr eventlog::tracefs::bpf_maps positions{.table = 0, .zeros = 1, .losses = 2};
    constexpr const char* names[] = {"table", "zeros", "losses"};
    try {
        return eventlog::tracefs::list_instructions(
            generate_bpf_code(*decided.by_bpf.plan, positions), names);
    } catch (const eventlog::tracefs::error& error) {
        return fmt::format("  {}\n", error.what());
    }
}

/// Empty for an event that is not counted.
std::string explain_counting(const pushdown_decision& decided) {
    const bool is_counted = decided.pushed || decided.by_bpf.plan;
    if (!is_counted && decided.reason.empty()) {
        return {};
    }
    std::string here = "nothing that the kernel has not counted";
    if (!is_counted) {
        here = "all of it: " + decided.reason + (decided.by_bpf.reason.empty() ? "" : "; and ");
    } else if (decided.pushed && !decided.pushed->rest.empty()) {
        here = "what the kernel keeps for it: " + decided.pushed->rest +
               (decided.by_bpf.reason.empty() ? "" : "; ");
    }
    return fmt::format("  the kernel counts  {}\n  elog counts        {}{}\n",
                       explain_kernel(decided), here, decided.by_bpf.reason);
}

}  // namespace

std::string explain(const std::vector<discovered_event>& events) {
    std::string text;
    for (const auto& [event, condition, counted] : events) {
        const event_schema& known = event->schema->events[event->position];
        const bool is_by_bpf = counted.by_bpf.plan && counted.by_bpf.plan->wanted;
        const char* const here = condition.is_whole || is_by_bpf
                                     ? "nothing that the kernel has not asked"
                                     : "all of --where, for the kernel cannot ask all of it";
        const std::string there = is_by_bpf                ? "all of --where, in the BPF program"
                                  : condition.text.empty() ? "nothing"
                                                           : condition.text;
        text += fmt::format(
            "{}:{}, in the kernel {}:{}\n  the kernel asks  {}\n  elog asks        {}\n",
            event->schema->name, known.name, event->kernel_name.system, event->kernel_name.event,
            there, here);
        text += explain_counting(counted);
        text += list_program(counted);
    }
    return text;
}

}  // namespace elog
