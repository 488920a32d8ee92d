// SPDX-License-Identifier: MIT
//
// Checks of what the kernel can do with events before they reach a reader: histograms, relay
// channels, and probes and types for bpftrace.
#include <linux/eventlog_relay.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include <fmt/core.h>

#include "doctor/check.hpp"

namespace elog::doctor {
namespace {

constexpr const char* types_path = "/sys/kernel/btf/vmlinux";
constexpr const char* probes_path = "/sys/bus/event_source/devices/uprobe";
constexpr const char* channels_path = "/sys/kernel/debug/eventlog";

}  // namespace

check_result check_histograms(const machine_facts& machine) {
    const std::string instead = " Until then elog agg counts by itself, with the same result.";
    if (machine.tracefs.empty() || !machine.may_search_tracefs) {
        return {missing, "needs access to tracefs", "See tracefs." + instead};
    }
    constexpr std::size_t size_max = std::size_t{1} << 20U;
    const std::string help = read_if_possible(machine.tracefs + "/README", size_max).value_or("");
    if (help.find("hist:keys=") == std::string::npos) {
        return {missing, "the kernel has no histograms of events",
                "Use a kernel with CONFIG_HIST_TRIGGERS." + instead};
    }
    if (!is_accessible(machine.tracefs + "/instances", W_OK)) {
        return {missing, "only root may make them", "Run elog agg as root." + instead};
    }
    return {good, "aggregates user_events in the kernel"};
}

check_result check_types(const machine_facts& /*machine*/) {
    if (!is_accessible(types_path, R_OK)) {
        return {missing, fmt::format("{} is missing", types_path),
                "For bpftrace scripts that use types of the kernel, boot a kernel with "
                "CONFIG_DEBUG_INFO_BTF. elog does not need it."};
    }
    return {good, fmt::format("{}, for bpftrace", types_path)};
}

check_result check_probes(const machine_facts& /*machine*/) {
    if (!is_accessible(probes_path, F_OK)) {
        return {missing, "the kernel has no probes in programs",
                "For USDT probes, boot a kernel with CONFIG_UPROBE_EVENTS."};
    }
    if (!has_perfmon()) {
        return {limited, "needs CAP_PERFMON, which you lack", "Run bpftrace or perf as root."};
    }
    return {good, "perf and bpftrace may use the USDT probes of programs"};
}

check_result check_relay(const machine_facts& /*machine*/) {
    if (!is_accessible(EVENTLOG_RELAY_PATH, F_OK)) {
        return {missing, "the module eventlog is not loaded, or the kernel has no relay",
                "As root: modprobe eventlog. The kernel needs CONFIG_RELAY and CONFIG_DEBUG_FS."};
    }
    if (!is_accessible(EVENTLOG_RELAY_PATH, R_OK | W_OK)) {
        return {missing, EVENTLOG_RELAY_PATH ", closed to you",
                "Run elog record --via relay as root, or use --via device."};
    }
    if (!is_accessible(channels_path, R_OK | X_OK)) {
        return {missing, fmt::format("{} cannot be read", channels_path),
                "As root: mount -t debugfs none /sys/kernel/debug"};
    }
    return {good, EVENTLOG_RELAY_PATH ", for root"};
}

}  // namespace elog::doctor
