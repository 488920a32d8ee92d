// SPDX-License-Identifier: MIT
#include "perf/perf_buffer.hpp"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "format/event_format.hpp"
#include "kernel/error.hpp"
#include "kernel/tracing_folder.hpp"

namespace eventlog::tracefs {
namespace {

// Room is freed after this many bytes, and at the end.
constexpr std::uint64_t release_size = 64U << 10U;
constexpr int open_attempts = 5;

int open_event(perf_event_attr& attributes, std::uint32_t cpu) noexcept {
    attributes.size = sizeof attributes;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu),
                                      -1, PERF_FLAG_FD_CLOEXEC));
}

/// Each event needs a descriptor on each CPU, which soon exceeds the usual limit.
bool may_open_more() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) {
        return false;
    }
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

core::unique_fd open_event_or_more(perf_event_attr& attributes, std::uint32_t cpu) noexcept {
    core::unique_fd file(open_event(attributes, cpu));
    if (!file && errno == EMFILE && may_open_more()) {
        file = core::unique_fd(open_event(attributes, cpu));
    }
    return file;
}

[[noreturn]] void refuse_buffer(int number) {
    switch (number) {
        case EACCES:
        case EPERM:
            throw error("You may not read trace events through perf: that takes CAP_PERFMON, or "
                        "kernel.perf_event_paranoid=-1. Run it as root, for example with sudo; "
                        "elog doctor says how others get the permission.");
        case EMFILE:
        case ENFILE:
            throw error("There are too many open files: perf takes one for each event on each "
                        "CPU. Ask for fewer events, or allow more: ulimit -n");
        case ENOMEM:
            throw error("The kernel has no memory for perf. Free some.");
        case ENOSYS:
            throw error("The kernel has no perf events. Take one with CONFIG_PERF_EVENTS, or "
                        "listen via tracefs or memory.");
        default:
            throw error("The kernel refuses trace events through perf: {}. See what it says about "
                        "it with: dmesg",
                        std::strerror(number));
    }
}

bool is_there(const event_name& event, std::uint64_t id) {
    const std::optional<std::string> text = read_format(event);
    return text && parse_format(*text, event.system).id == id;
}

/// For a number without an event the kernel returns EINVAL, as for events that perf does not
/// support. An event that was re-registered may have the number again.
core::unique_fd open_attached_event(perf_event_attr& attributes, std::uint32_t cpu,
                                    const event_name& event) {
    for (int left = open_attempts; left > 0; --left) {
        core::unique_fd file = open_event_or_more(attributes, cpu);
        if (file || (errno != EINVAL && errno != ENOENT)) {
            return file;
        }
        if (!is_there(event, attributes.config)) {
            throw event_gone(event.system, event.event);
        }
    }
    throw error("Perf cannot have the event {}:{}. Leave it out, or listen via tracefs.",
                event.system, event.event);
}

perf_event_attr ring_attributes(const perf_options& options) noexcept {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
    attributes.watermark = 1;
    attributes.wakeup_watermark = static_cast<std::uint32_t>(options.buffer_size / 4);
    attributes.write_backward = options.overwrite ? 1 : 0;
    if (options.processes) {
        attributes.comm = 1;
        attributes.task = 1;
        attributes.sample_id_all = 1;
        attributes.sample_type = perf_process_type;
        attributes.mmap = options.stacks ? 1 : 0;
        attributes.mmap2 = options.stacks ? 1 : 0;
    }
    return attributes;
}

perf_event_attr event_attributes(std::uint16_t id, const perf_options& options,
                                 bool with_kernel_stack) noexcept {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = id;
    attributes.sample_period = 1;
    attributes.sample_type = perf_sample_type | (options.stacks ? perf_stack_type : 0);
    attributes.exclude_callchain_kernel = with_kernel_stack ? 0 : 1;
    attributes.disabled = 1;
    attributes.write_backward = options.overwrite ? 1 : 0;
    return attributes;
}

}  // namespace

std::unique_ptr<perf_buffer> perf_buffer::open(std::uint32_t cpu, const perf_options& options) {
    perf_event_attr attributes = ring_attributes(options);
    core::unique_fd ring = open_event_or_more(attributes, cpu);
    if (!ring && errno == ENODEV) {
        return nullptr;
    }
    if (!ring) {
        refuse_buffer(errno);
    }
    return std::unique_ptr<perf_buffer>(new perf_buffer(cpu, options, std::move(ring)));
}

perf_buffer::perf_buffer(std::uint32_t cpu, const perf_options& options, core::unique_fd ring)
    : cpu_(cpu),
      options_(options),
      ring_(std::move(ring)),
      page_size_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    map_memory();
}

perf_buffer::~perf_buffer() {
    attached_events_.clear();
    ::munmap(page_, page_size_ + memory_.size());
}

/// With `overwrite` the kernel requires a read-only mapping, because no room is freed.
void perf_buffer::map_memory() {
    const std::size_t size = page_size_ + options_.buffer_size;
    const int access = options_.overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
    void* const mapped = ::mmap(nullptr, size, access, MAP_SHARED, ring_.get(), 0);
    if (mapped == MAP_FAILED) {
        throw error("The kernel gives you no buffer of {} bytes for each CPU: {}. Ask for less "
                    "with --buffer-size, be root, or allow more with: sysctl -w "
                    "kernel.perf_event_mlock_kb=NUMBER",
                    options_.buffer_size, std::strerror(errno));
    }
    page_ = static_cast<perf_event_mmap_page*>(mapped);
    memory_ =
        perf_memory({static_cast<const std::uint8_t*>(mapped) + page_size_, options_.buffer_size});
}

bool perf_buffer::add(const event_name& event, std::uint16_t id, const std::string& filter,
                      bool with_kernel_stack) {
    perf_event_attr attributes = event_attributes(id, options_, with_kernel_stack);
    core::unique_fd file = open_attached_event(attributes, cpu_, event);
    if (!file && errno == ENODEV) {
        return true;  // the CPU has just gone offline; its buffer will be opened again
    }
    if (!file || ::ioctl(file.get(), PERF_EVENT_IOC_SET_OUTPUT, ring_.get()) != 0) {
        refuse_buffer(errno);
    }
    const bool is_filtered =
        filter.empty() || ::ioctl(file.get(), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) == 0;
    attached_events_.push_back({std::move(file), false});
    return is_filtered;
}

void perf_buffer::enable() {
    for (attached_event& each : attached_events_) {
        if (each.is_enabled) {
            continue;
        }
        if (::ioctl(each.file.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
            refuse_buffer(errno);
        }
        each.is_enabled = true;
    }
}

void perf_buffer::stop() noexcept {
    for (attached_event& each : attached_events_) {
        static_cast<void>(::ioctl(each.file.get(), PERF_EVENT_IOC_DISABLE, 0));
        each.is_enabled = false;
    }
}

void perf_buffer::deliver(std::span<const std::uint8_t> bytes, const take_record& take) {
    const std::optional<perf_record> record = parse_perf_record(bytes, options_.stacks);
    if (!record) {
        throw error("A record in perf's buffer of CPU {} makes no sense. What was in it is lost.",
                    cpu_);
    }
    if (record->kind == perf_kind::sample) {
        ++delivered_;
    }
    take(*record);
}

void perf_buffer::read(const take_record& take) {
    if (options_.overwrite) {
        read_backward(take);
    } else {
        read_forward(take);
    }
}

void perf_buffer::read_forward(const take_record& take) {
    const std::atomic_ref head_word(page_->data_head);
    const std::atomic_ref tail_word(page_->data_tail);
    const std::uint64_t head = head_word.load(std::memory_order_acquire);
    std::uint64_t tail = page_->data_tail;  // written by this thread only
    std::uint64_t given_back = tail;
    while (tail != head) {
        const std::span<const std::uint8_t> bytes = memory_.record_at(tail, head - tail);
        if (bytes.empty()) {
            tail_word.store(head, std::memory_order_release);
            throw error("Perf's buffer of CPU {} makes no sense. What was in it is lost.", cpu_);
        }
        try {
            deliver(bytes, take);
        } catch (...) {
            tail_word.store(head, std::memory_order_release);
            throw;
        }
        tail += bytes.size();
        if (tail - given_back >= release_size || tail == head) {
            tail_word.store(tail, std::memory_order_release);
            given_back = tail;
        }
    }
}

void perf_buffer::read_backward(const take_record& take) {
    const std::atomic_ref head_word(page_->data_head);
    const std::vector<std::uint64_t> positions =
        backward_positions(memory_, head_word.load(std::memory_order_acquire));
    const auto is_event = [this](std::uint64_t position) {
        const auto record =
            parse_perf_record(memory_.record_at(position, memory_.size()), options_.stacks);
        return record && record->kind == perf_kind::sample;
    };
    const std::uint64_t all = count();
    const auto kept =
        static_cast<std::uint64_t>(std::count_if(positions.begin(), positions.end(), is_event));
    perf_record missing;
    missing.kind = perf_kind::lost;
    missing.lost = all - std::min(all, kept);
    take(missing);
    for (const std::uint64_t position : positions) {
        deliver(memory_.record_at(position, memory_.size()), take);
    }
}

std::uint64_t perf_buffer::count() const {
    std::uint64_t all = 0;
    for (const attached_event& each : attached_events_) {
        std::uint64_t one = 0;
        if (::read(each.file.get(), &one, sizeof one) != static_cast<ssize_t>(sizeof one)) {
            throw error("How many events there were on CPU {} cannot be read: {}. Start again.",
                        cpu_, std::strerror(errno));
        }
        all += one;
    }
    return all;
}

bool perf_buffer::is_running() {
    std::array<std::uint64_t, 2> words{};  // a count, and the enabled time
    if (::read(ring_.get(), words.data(), sizeof words) != static_cast<ssize_t>(sizeof words)) {
        throw error("Whether perf's buffer of CPU {} is in use cannot be read: {}. Start again.",
                    cpu_, std::strerror(errno));
    }
    return words[1] != std::exchange(enabled_for_, words[1]);
}

}  // namespace eventlog::tracefs
