// SPDX-License-Identifier: MIT
#include "capture/perf_source.hpp"

#include <poll.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/cpus.hpp"
#include "base/poll_for.hpp"
#include "kernel/instance.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

constexpr std::chrono::milliseconds perf_poll_interval{100};
constexpr std::chrono::seconds perf_check_interval{1};
// Room for the processes that start on a CPU within 10 ms, or a hundred times as long.
constexpr std::uint64_t process_buffer_size = 64U << 10U;
// Larger, because each process maps several libraries.
constexpr std::uint64_t mapping_buffer_size = 512U << 10U;

std::uint64_t lost_in(const tracefs::perf_buffer& buffer) {
    const std::uint64_t all = buffer.count();
    return all - std::min(all, buffer.delivered());
}

}  // namespace

perf_source::perf_source(const tracefs::perf_options& options)
    : options_(options), stacks_(mappings_) {
    // The kernel accepts powers of two only.
    options_.buffer_size = std::bit_ceil(options_.buffer_size);
    cpus_.resize(read_cpus().possible);
    follow_cpus();
    new_cpus_.clear();
}

perf_source::buffer perf_source::open(std::uint32_t cpu) const {
    buffer opened = tracefs::perf_buffer::open(cpu, options_);
    if (opened == nullptr) {
        return opened;
    }
    for (const enabled_event& each : enabled_events_) {
        try {
            static_cast<void>(
                opened->add(each.name, each.id, each.condition, each.has_kernel_stack));
        } catch (const tracefs::event_gone&) {  // its last listener on another CPU was removed
        }
    }
    opened->enable();
    return opened;
}

/// With `overwrite`, only the newest buffer of a CPU is kept; otherwise there would be one for each
/// time the CPU went offline.
void perf_source::end(cpu_state& state) {
    for (; options_.overwrite && !state.ended.empty(); state.ended.pop_back()) {
        state.overwritten += convert_tracefs_errors([&] { return state.ended.back()->count(); });
    }
    state.ended.push_back(std::move(state.live));
    state.processes.reset();
}

/// The events of a CPU that goes offline do not return with it.
void perf_source::follow_cpus() {
    const system_cpus now = read_cpus();
    for (std::uint32_t cpu = 0; cpu < cpus_.size(); ++cpu) {
        const bool is_online = cpu < now.online.size() && now.online[cpu];
        cpu_state& state = cpus_[cpu];
        if (!is_online && state.live) {
            end(state);
        } else if (is_online && !state.live) {
            convert_tracefs_errors([&] {
                state.processes = tracefs::perf_buffer::open(
                    cpu, tracefs::perf_options{options_.stacks ? mapping_buffer_size
                                                               : process_buffer_size,
                                               false, true, options_.stacks});
                state.live = open(cpu);
            });
            if (state.live) {
                new_cpus_.push_back(cpu);
            }
        }
    }
}

template <class Visit>
void perf_source::for_each_live(const Visit& visit) {
    for (cpu_state& state : cpus_) {
        if (state.live) {
            visit(state);
        }
    }
}

/// Finds CPUs that went offline and returned between two checks.
void perf_source::check_cpus() {
    for_each_live([&](cpu_state& state) {
        if (!convert_tracefs_errors([&] { return state.live->is_running(); })) {
            end(state);
        }
    });
}

bool perf_source::enable_event(const kernel_trace_event& event, const std::string& condition) {
    const std::uint16_t id = event.format.id;
    // The stack of a program's event ends with the emit. The system call in it is the same for all.
    const bool has_kernel_stack = !is_program_system(event.kernel_name.system);
    if (options_.stacks && has_kernel_stack) {
        stacks_.prepare_kernel();
    }
    bool is_asked = true;
    convert_tracefs_errors([&] {
        for_each_live([&](cpu_state& state) {
            is_asked =
                state.live->add(event.kernel_name, id, condition, has_kernel_stack) && is_asked;
        });
        for_each_live([](cpu_state& state) { state.live->enable(); });
    });
    enabled_events_.push_back({event.kernel_name, id, condition, has_kernel_stack});
    return is_asked;
}

std::string perf_source::check_setup() {
    const auto now = std::chrono::steady_clock::now();
    if (now < poll_due_) {
        return {};
    }
    poll_due_ = now + perf_poll_interval;
    if (now >= check_due_) {
        check_due_ = now + perf_check_interval;
        check_cpus();
    }
    follow_cpus();
    return report_new_cpus();
}

std::string perf_source::report_new_cpus() {
    if (new_cpus_.empty()) {
        return {};
    }
    return fmt::format("Events emitted on CPU {} before elog noticed that it was online, a second "
                       "at most, are missing and not counted. Leave CPUs online while you record.",
                       fmt::join(std::exchange(new_cpus_, {}), ", CPU "));
}

/// Reads names and mappings of processes that may exit before /proc can be read. Processes whose
/// records were lost are named "?".
void perf_source::take_processes() {
    std::vector<process_change> changes;
    const auto note = [&](const tracefs::perf_record& record) {
        if (record.kind == tracefs::perf_kind::mapped) {
            mappings_.add_mapping(
                record.process, record.address,
                {record.address + std::min(record.size, UINT64_MAX - record.address), record.offset,
                 record.file, std::string(record.name)});
        } else if (record.kind == tracefs::perf_kind::forked && record.process != record.parent) {
            changes.push_back({record.time, record.process, record.parent});
            if (options_.stacks) {
                mappings_.add_fork(record.process, record.parent);
            }
        } else if (record.kind == tracefs::perf_kind::renamed && record.process == record.thread) {
            changes.push_back({record.time, record.process, 0, std::string(record.name)});
        }
    };
    for (const cpu_state& state : cpus_) {
        try {
            if (state.processes) {
                state.processes->read(note);
            }
        } catch (const tracefs::error&) {
            continue;  // invalid data counts as lost
        }
    }
    names_.take(std::move(changes));
}

captured_event perf_source::event_of(const tracefs::perf_record& record) {
    const tracefs::perf_task task = tracefs::task_of({record.process, record.thread}, record.raw);
    return {record.time, task.thread, task.process, record.raw,
            record.stack.empty() ? std::string_view()
                                 : stacks_.text_of(task.process, record.stack)};
}

/// Invalid data is reported and does not end the recording.
void perf_source::read(tracefs::perf_buffer& from, std::uint32_t cpu,
                       captured_event_handler& handler) {
    try {
        from.read([&](const tracefs::perf_record& record) {
            if (record.kind == tracefs::perf_kind::sample) {
                handler.take_event(cpu, event_of(record));
            } else if (record.kind == tracefs::perf_kind::lost) {
                handler.take_missed(cpu, record.lost);
            }
        });
    } catch (const tracefs::error& mistake) {
        handler.take_damage(cpu, mistake.what());
    }
}

std::string perf_source::exited_process_name(std::uint32_t process) {
    take_processes();
    return names_.of(process);
}

bool perf_source::wait(std::chrono::nanoseconds at_most) {
    take_processes();
    std::vector<pollfd> files;
    for_each_live([&](cpu_state& state) { files.push_back({state.live->file(), POLLIN, 0}); });
    const int count = poll_for(files, at_most);
    const bool is_filled = std::any_of(files.begin(), files.end(), [](const pollfd& each) {
        return (each.revents & POLLIN) != 0;
    });
    if (count > 0 && !is_filled) {
        std::this_thread::sleep_for(at_most);  // a CPU has just gone offline
    }
    return is_filled;
}

void perf_source::take(std::uint32_t cpu, std::uint64_t /*until*/,
                       captured_event_handler& handler) {
    cpu_state& state = cpus_[cpu];
    if (options_.stacks) {
        take_processes();  // for the mappings that the stacks refer to
    }
    handler.take_missed(cpu, state.overwritten);
    state.lost += std::exchange(state.overwritten, 0);
    for (const buffer& each : state.ended) {
        read(*each, cpu, handler);
        state.lost += convert_tracefs_errors([&] { return lost_in(*each); });
    }
    state.ended.clear();
    if (state.live) {
        read(*state.live, cpu, handler);
    }
}

std::string perf_source::stop() {
    convert_tracefs_errors([&] {
        for_each_live([](cpu_state& state) { state.live->stop(); });
        tracefs::wait_for_writers();
    });
    return report_new_cpus();
}

std::uint64_t perf_source::lost(std::uint32_t cpu) const {
    const cpu_state& state = cpus_[cpu];
    return state.lost +
           (state.live ? convert_tracefs_errors([&] { return lost_in(*state.live); }) : 0);
}

}  // namespace elog
