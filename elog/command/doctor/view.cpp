// SPDX-License-Identifier: MIT
#include "doctor/view.hpp"

#include <utility>

#include "text/append_format.hpp"
#include "text/json_object.hpp"
#include "text/json_text.hpp"

namespace elog::doctor {
namespace {

constexpr named_check requirement_checks[] = {
    {"directory", check_directory},
    {"common", check_common_directory},
    {"memory", check_memory},
    {"flight_recorders", check_detached},
    {"hidden", check_hidden_processes},
    {"unpublished", check_unpublished_processes},
    {"unattached", check_unattached_processes},
    {"rseq", check_rseq},
    {"user_events", check_user_events},
    {"tracefs", check_tracefs},
    {"user_events_data", check_data_file},
    {"group", check_group},
    {"boot", check_boot},
    {"user_events_max", check_event_limit},
    {"perf_events", check_perf},
    {"perf", check_perf_program},
    {"trace-cmd", check_trace_cmd},
};
constexpr named_check feature_checks[] = {
    {"rseq", check_rseq},
    {"membarrier", check_membarrier},
    {"futex", check_futex},
    {"clock", check_clock},
    {"cpus", check_cpus},
    {"directory", check_directory},
    {"memory", check_memory},
    {"tracefs", check_tracefs},
    {"user_events", check_user_events},
    {"multi_format", check_multi_format},
    {"persist", check_persistence},
    {"module", check_module},
    {"relay", check_relay},
    {"perf", check_perf},
    {"bpf", check_bpf},
    {"hist", check_histograms},
    {"btf", check_types},
    {"usdt", check_probes},
    {"zstd", check_compression},
    {"terminal", check_terminal},
    {"utf8", check_character_encoding},
};

}  // namespace

const check_view requirements_view{&check_result::requirement,          requirement_checks,
                                   {"ok", "note", "missing"},           "checks",
                                   {"name", "state", "text", "remedy"}, true};
const check_view features_view{&check_result::feature,
                               feature_checks,
                               {"yes", "limited", "no"},
                               "checks",
                               {"name", "state", "text", "remedy"},
                               false};

std::vector<finding> find_rows(const check_view& shown) {
    const machine_facts machine = examine_machine();
    std::vector<finding> rows;
    for (const auto& [name, run] : shown.checks) {
        check_result result = run(machine);
        finding& row = result.*shown.row;
        if (!row.text.empty()) {
            row.name = name;
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::string rows_as_json(const check_view& shown, const std::vector<finding>& rows,
                         std::string_view head) {
    fmt::memory_buffer out;
    append_format(out, "{{\n  \"version\": {},\n{}  \"{}\": [", json_version, head, shown.list);
    const char* before_row = "\n";
    for (const finding& row : rows) {
        const std::array<std::string_view, 4> values{row.name, shown.name_of(row.state), row.text,
                                                     row.repair};
        append_format(out, "{}    {{", before_row);
        for (std::size_t i = 0; i < values.size(); ++i) {
            append_format(out, "{}", i == 0 ? "" : ", ");
            append_json_member(out, shown.members[i], values[i]);
        }
        if (shown.shows_root) {
            append_format(out, ", \"as_root\": {}", row.as_root);
        }
        append_format(out, "}}");
        before_row = ",\n";
    }
    append_format(out, "\n  ]\n}}\n");
    return fmt::to_string(out);
}

}  // namespace elog::doctor
