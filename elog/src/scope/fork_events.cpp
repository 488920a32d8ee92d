// SPDX-License-Identifier: MIT
#include "scope/fork_events.hpp"

#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "platform/time_namespace.hpp"

namespace elog {
namespace {

// linux/cn_proc.h declares these in different scopes in its versions.
constexpr std::uint32_t listen_operation = 1;  // PROC_CN_MCAST_LISTEN
constexpr std::uint32_t fork_happened = 1;     // PROC_EVENT_FORK

struct process_fork {  // the beginning of struct proc_event
    std::uint32_t what;
    std::uint32_t cpu;
    std::uint64_t time;  // CLOCK_MONOTONIC, nanoseconds
    std::uint32_t parent_thread;
    std::uint32_t parent;
    std::uint32_t child_thread;
    std::uint32_t child;
};
static_assert(sizeof(process_fork) == 32);

constexpr std::size_t event_offset = NLMSG_HDRLEN + sizeof(cn_msg);
// Room for bursts between two calls of take(). The kernel counts about 1 KB for each event.
constexpr int receive_buffer_size = 16 << 20;

/// `body` is what linux/cn_proc.h calls enum proc_cn_mcast_op or struct proc_input.
template <std::size_t Count>
bool send_request(int socket, const std::array<std::uint32_t, Count>& body) {
    std::array<std::uint8_t, event_offset + sizeof body> request{};
    nlmsghdr head{};
    head.nlmsg_len = request.size();
    head.nlmsg_type = NLMSG_DONE;
    cn_msg message{};
    message.id = {CN_IDX_PROC, CN_VAL_PROC};
    message.len = sizeof body;
    std::memcpy(request.data(), &head, sizeof head);
    std::memcpy(request.data() + NLMSG_HDRLEN, &message, sizeof message);
    std::memcpy(request.data() + event_offset, body.data(), sizeof body);
    return ::send(socket, request.data(), request.size(), 0) ==
           static_cast<ssize_t>(request.size());
}

/// The second request omits the other events, to need less room. Before Linux 6.6 the kernel
/// ignores it.
bool send_listen_requests(int socket) {
    return send_request<1>(socket, {listen_operation}) &&
           send_request<2>(socket, {listen_operation, fork_happened});
}

std::int64_t nanoseconds_of(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::uint64_t ticks_of(std::uint64_t nanoseconds) {
    static const long per_second = ::sysconf(_SC_CLK_TCK);
    return nanoseconds / (1'000'000'000U / static_cast<std::uint64_t>(per_second));
}

}  // namespace

fork_events::fork_events()
    : socket_(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_CONNECTOR)) {
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = CN_IDX_PROC;
    const int fd = socket_.get();
    if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer_size,
                     sizeof receive_buffer_size) != 0) {
        static_cast<void>(::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer_size,
                                       sizeof receive_buffer_size));
    }
    if (!socket_ || ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        !send_listen_requests(fd)) {
        socket_ = {};
    }
}

void parse_process_event(std::span<const std::uint8_t> message, std::int64_t to_boot_time,
                         std::uint32_t self, std::vector<fork_event>& forks) {
    process_fork fork{};
    if (message.size() < event_offset + sizeof fork) {
        return;
    }
    std::memcpy(&fork, message.data() + event_offset, sizeof fork);
    const bool is_thread = fork.child_thread != fork.child;
    if (fork.what != fork_happened || (is_thread && fork.child == self)) {
        return;
    }
    const std::uint64_t time = ticks_of(fork.time + static_cast<std::uint64_t>(to_boot_time));
    forks.push_back({is_thread ? fork.child : fork.parent, fork.child_thread, time});
}

bool fork_events::take(std::vector<fork_event>& forks) {
    // The events have the clock of the machine, and start times are those of the machine.
    const eventlog::core::time_offsets own = eventlog::core::own_time_offsets();
    const std::int64_t to_boot_time = nanoseconds_of(CLOCK_BOOTTIME) - own.boottime -
                                      (nanoseconds_of(CLOCK_MONOTONIC) - own.monotonic);
    const auto self = static_cast<std::uint32_t>(::getpid());
    std::array<std::uint8_t, 1024> message{};
    while (socket_) {
        sockaddr_nl sender{};
        socklen_t sender_size = sizeof sender;
        const ssize_t size = ::recvfrom(socket_.get(), message.data(), message.size(), 0,
                                        reinterpret_cast<sockaddr*>(&sender), &sender_size);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size < 0) {
            // ENOBUFS: the kernel found no room for an event.
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        if (sender.nl_pid == 0) {  // the kernel
            parse_process_event({message.data(), static_cast<std::size_t>(size)}, to_boot_time,
                                self, forks);
        }
    }
    return false;
}

}  // namespace elog
