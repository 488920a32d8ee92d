// SPDX-License-Identifier: MIT
#include "bpf/bpf_counter.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "bpf/bpf_program.hpp"
#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

constexpr const char* program_name = "elog_agg";
// A license that permits reading the kernel's memory, for texts.
constexpr const char* license = "Dual MIT/GPL";
constexpr std::size_t log_size = std::size_t{256} << 10U;
constexpr int attempts = 5;
constexpr std::uint32_t only_key = 0;  // key of the only element of an array

/// Linux counts the events for which a program could not run since 6.7.
bool counts_missed() noexcept {
    utsname system{};
    unsigned major = 0;
    unsigned minor = 0;
    return ::uname(&system) == 0 && std::sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(6U, 7U);
}

[[noreturn]] void refuse_counter(const char* what, int number) {
    if (number == EPERM || number == EACCES) {
        throw error("BPF programs that count take CAP_BPF and CAP_PERFMON");
    }
    throw error("the kernel refuses {}: {}", what, std::strerror(number));
}

core::unique_fd make_map(bpf_map_type type, std::uint32_t key_size, std::uint32_t value_size,
                         std::uint32_t entries, const char* what) {
    core::unique_fd made(
        bpf_map_create(type, program_name, key_size, value_size, entries, nullptr));
    if (!made) {
        refuse_counter(what, errno);
    }
    return made;
}

/// The last line of the verifier's log before its statistics.
std::string reason_in(std::string_view log) {
    log = log.substr(0, log.find_last_not_of('\n') + 1);
    const std::size_t end = log.rfind("\nprocessed ");
    log = log.substr(0, end);
    const std::size_t begin = log.rfind('\n');
    return std::string(begin == std::string_view::npos ? log : log.substr(begin + 1));
}

core::unique_fd load(const std::vector<bpf_insn>& program, bpf_prog_load_opts& options) {
    return core::unique_fd(bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, program_name, license,
                                         program.data(), program.size(), &options));
}

/// Repeated, because the CPU may go offline meanwhile.
core::unique_fd open_event(std::uint16_t event) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = event;
    attributes.sample_period = 1;
    attributes.disabled = 1;
    core::unique_fd opened;
    for (int left = attempts; !opened && left > 0; --left) {
        opened = core::unique_fd(static_cast<int>(::syscall(
            SYS_perf_event_open, &attributes, -1, ::sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC)));
    }
    if (!opened) {
        refuse_counter("perf's event", errno);
    }
    return opened;
}

}  // namespace

std::uint32_t bpf_cpus() noexcept {
    return static_cast<std::uint32_t>(std::max(libbpf_num_possible_cpus(), 1));
}

bpf_support find_bpf_support() {
    if (!counts_missed()) {
        return bpf_support::too_old;
    }
    const core::unique_fd table(bpf_map_create(BPF_MAP_TYPE_PERCPU_HASH, program_name,
                                               sizeof only_key, sizeof(std::uint64_t), 1, nullptr));
    int number = errno;
    if (table) {
        bpf_program nothing;
        nothing.set(bpf_register::r0, 0);
        nothing.exit();
        const std::vector<bpf_insn> instructions = nothing.finish();
        const core::unique_fd program(bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, program_name, license,
                                                    instructions.data(), instructions.size(),
                                                    nullptr));
        if (program) {
            return bpf_support::yes;
        }
        number = errno;
    }
    switch (number) {
        case EPERM:
        case EACCES:
            return bpf_support::not_permitted;
        case EINVAL:
        case ENOSYS:
            return bpf_support::none;
        default:
            errno = number;
            return bpf_support::unclear;
    }
}

bpf_counter::bpf_counter(std::uint16_t event, const bpf_request& asked)
    : key_size_(asked.key_size), words_(asked.words), keys_max_(asked.keys_max), cpus_(bpf_cpus()) {
    if (!counts_missed()) {
        throw error("before Linux 6.7, the kernel does not count what BPF programs miss");
    }
    make_maps();
    load_program(asked);
    attach(event);
}

void bpf_counter::make_maps() {
    const auto value_size = static_cast<std::uint32_t>(words_ * sizeof(std::uint64_t));
    table_ = make_map(BPF_MAP_TYPE_PERCPU_HASH, key_size_, value_size, keys_max_, "BPF's table");
    zeros_ = make_map(BPF_MAP_TYPE_ARRAY, sizeof only_key, value_size, 1, "BPF's array");
    losses_ = make_map(BPF_MAP_TYPE_ARRAY, sizeof only_key, sizeof(bpf_losses), 1, "BPF's array");
}

void bpf_counter::load_program(const bpf_request& asked) {
    const std::vector<bpf_insn> program =
        asked.program({table_.get(), zeros_.get(), losses_.get()});
    bpf_prog_load_opts options{};
    options.sz = sizeof options;
    program_ = load(program, options);
    if (program_) {
        return;
    }
    const int number = errno;
    if (number == EPERM) {
        refuse_counter("the BPF program", number);
    }
    // Loads it again for the verifier's log.
    std::string log(log_size, '\0');
    options.log_buf = log.data();
    options.log_size = static_cast<std::uint32_t>(log.size());
    options.log_level = 1;
    program_ = load(program, options);
    if (!program_) {
        const std::string reason = reason_in(log.c_str());
        throw error("the kernel refuses the BPF program: {}",
                    reason.empty() ? std::strerror(number) : reason.c_str());
    }
}

/// The program runs for the event on every CPU, whatever CPU the perf event belongs to.
void bpf_counter::attach(std::uint16_t event) {
    core::unique_fd opened = open_event(event);
    if (::ioctl(opened.get(), PERF_EVENT_IOC_SET_BPF, program_.get()) != 0) {
        refuse_counter("the BPF program at this event", errno);
    }
    attached_ = std::move(opened);
}

std::uint64_t bpf_counter::missed() const {
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(program_.get(), &info, &size) != 0) {
        throw error("What a BPF program has missed cannot be read: {}. Have elog count itself, "
                    "with --push-down never.",
                    std::strerror(errno));
    }
    return info.recursion_misses;
}

bpf_table bpf_counter::read() const {
    const auto check = [](int result) {
        if (result != 0) {
            throw error("What BPF has counted cannot be read: {}. Have elog count itself, with "
                        "--push-down never.",
                        std::strerror(errno));
        }
    };
    bpf_table found;
    check(bpf_map_lookup_elem(losses_.get(), &only_key, &found.losses));
    found.missed = missed();
    std::vector<std::uint8_t> before(key_size_);
    std::vector<std::uint8_t> key(key_size_);
    const void* from = nullptr;
    while (bpf_map_get_next_key(table_.get(), from, key.data()) == 0) {
        bpf_entry& entry = found.entries.emplace_back();
        entry.key = key;
        entry.words.resize(std::size_t{words_} * cpus_);
        check(bpf_map_lookup_elem(table_.get(), key.data(), entry.words.data()));
        before = key;
        from = before.data();
    }
    if (errno != ENOENT) {
        check(-1);
    }
    return found;
}

}  // namespace eventlog::tracefs
