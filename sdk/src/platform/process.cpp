// SPDX-License-Identifier: MIT
#include "platform/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "platform/short_text.hpp"
#include "platform/signal_guard.hpp"
#include "platform/startup_section.hpp"
#include "platform/time_namespace.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {
namespace {

[[EVENTLOG_STARTUP_SECTION]] constinit process_identity identity_of_this_process{};
[[EVENTLOG_STARTUP_SECTION]] constinit pid_t pid_of_identity = 0;  // that remembered it

struct stat_fields {
    char state = 0;
    std::uint64_t thread_count = 0;
    std::uint64_t start_time = 0;
};

/// Takes the characters of a file /proc/PID/stat. A process name, in parentheses, may contain any
/// character: the fields are those behind the last ')'.
class stat_parser {
  public:
    explicit stat_parser(stat_fields& fields) noexcept : fields_(fields) {}

    void take(char character) noexcept {
        if (character == ')') {
            fields_ = {};
            field_ = name_field;
        } else if (character == ' ') {
            ++field_;
        } else if (field_ == name_field + 1) {
            fields_.state = character;
        } else if (field_ == thread_count_field) {
            add_digit(fields_.thread_count, character);
        } else if (field_ == start_time_field) {
            add_digit(fields_.start_time, character);
        }
    }

    [[nodiscard]] bool is_complete() const noexcept { return field_ > start_time_field; }

  private:
    static constexpr unsigned name_field = 2;
    static constexpr unsigned thread_count_field = 20;
    static constexpr unsigned start_time_field = 22;

    static void add_digit(std::uint64_t& number, char digit) noexcept {
        number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    }

    stat_fields& fields_;
    unsigned field_ = 0;
};

/// Reads fields 3, 20 and 22 of a file /proc/PID/stat. In pieces: this may run on a signal stack.
[[gnu::noinline]] bool read_stat(const char* path, stat_fields& fields) noexcept {
    const unique_fd file(::open(path, O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text{};
    stat_parser parser(fields);
    ssize_t size = file ? 1 : 0;
    while (size > 0) {
        size = ::read(file.get(), text.data(), text.size());
        for (ssize_t i = 0; i < size; ++i) {
            parser.take(text[static_cast<std::size_t>(i)]);
        }
    }
    return parser.is_complete();
}

/// Whether /proc has the numbers of this process's pid namespace. A process may enter a pid
/// namespace and keep the /proc of an outer one, where its number is that of another process.
[[gnu::noinline]] bool has_own_proc() noexcept {
    std::array<char, 16> number{};
    const ssize_t size = ::readlink("/proc/self", number.data(), number.size() - 1);
    const char* at = number.data();
    return size > 0 && take_number(at) == static_cast<std::uint64_t>(::getpid());
}

/// The last tick may differ between time namespaces: see machine_start_time(). A process number is
/// not used again that soon.
bool is_same_start(std::uint64_t one, std::uint64_t other) noexcept {
    return (one > other ? one - other : other - one) <= 1;
}

/// False only if the process or thread of this pid namespace has certainly ended. Its fields stay 0
/// if they are unknown.
bool is_running(std::uint32_t pid, stat_fields& fields) noexcept {
    if (pid == 0 || pid > static_cast<std::uint32_t>(INT32_MAX)) {
        return false;  // impossible pid: the file is damaged
    }
    short_text<32> path;
    path.put("/proc/").put_number(pid).put("/stat");
    if (has_own_proc() && read_stat(path.c_str(), fields)) {
        // A process whose first thread has ended is reported as a zombie, but lives while it has
        // other threads.
        return fields.state != 'X' && (fields.state != 'Z' || fields.thread_count > 1);
    }
    fields = {};
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t cached_thread_id = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t fast_path_blocks = 0;

}  // namespace

// emit_small.cpp refers to it in assembly.
[[gnu::tls_model("initial-exec"), gnu::used]] constinit thread_local std::uint32_t known_thread_id =
    0;

[[gnu::noinline]] std::uint64_t own_pid_namespace() noexcept {
    struct stat status {};
    return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

process_identity current_process() noexcept {
    process_identity identity;
    read_time_offsets();
    identity.pid = static_cast<std::uint32_t>(::getpid());
    identity.uid = ::geteuid();
    stat_fields fields;
    if (read_stat("/proc/self/stat", fields)) {
        identity.start_time = machine_start_time(fields.start_time);
    }
    identity.pid_namespace = own_pid_namespace();
    const unique_fd file(::open("/proc/self/comm", O_RDONLY | O_CLOEXEC));
    if (file) {
        const ssize_t size = ::read(file.get(), identity.name.data(), identity.name.size() - 1);
        // The kernel adds a newline; the name itself may contain others.
        const auto end = static_cast<std::size_t>(size < 0 ? 0 : size);
        identity.name[end != 0 && identity.name[end - 1] == '\n' ? end - 1 : end] = '\0';
    }
    return identity;
}

void remember_identity(const process_identity& identity) noexcept {
    identity_of_this_process = identity;
    pid_of_identity = ::getpid();
}

const process_identity& own_identity() noexcept {
    return identity_of_this_process;
}

bool is_own_process() noexcept {
    return pid_of_identity == 0 || pid_of_identity == ::getpid();
}

bool is_alive(std::uint32_t pid, std::uint64_t start_time, std::uint64_t pid_namespace) noexcept {
    stat_fields fields;
    if (pid_namespace != own_pid_namespace()) {
        return true;
    }
    if (!is_running(pid, fields)) {
        return false;
    }
    return start_time == 0 || fields.start_time == 0 ||
           is_same_start(machine_start_time(fields.start_time), start_time);
}

bool is_thread_alive(std::uint32_t tid) noexcept {
    stat_fields fields;
    return is_running(tid, fields);
}

std::uint32_t thread_id() noexcept {
    if (cached_thread_id == 0) {
        const errno_guard keeps_errno;
        const long id = ::syscall(SYS_gettid);
        // Where a sandbox denies the call, all threads have the id of the first. In the words of
        // locks that is one which lives.
        cached_thread_id = id > 0 ? static_cast<std::uint32_t>(id) : own_identity().pid;
    }
    if (fast_path_blocks == 0) {
        known_thread_id = cached_thread_id;
    }
    return cached_thread_id;
}

void reset_thread_id() noexcept {
    cached_thread_id = 0;
    known_thread_id = 0;
}

void block_fast_path() noexcept {
    ++fast_path_blocks;
    known_thread_id = 0;
}

void unblock_fast_path() noexcept {
    --fast_path_blocks;
}

}  // namespace eventlog::core
