// SPDX-License-Identifier: MIT
#include "base/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>

#include "base/output_buffer.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

constexpr int output_look_interval = 10;  // milliseconds
constexpr int output_looks_max = 100;     // looks

/// Returns when the output accepts text, or has an error, which write(2) then reports.
void wait_until_writable(int descriptor, const abort_check& should_abort) {
    for (int looks = 0;; ++looks) {
        pollfd output{descriptor, POLLOUT, 0};
        const int ready = ::poll(&output, 1, should_abort ? output_look_interval : -1);
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return;
        }
        if (!should_abort || !should_abort()) {
            looks = 0;
        } else if (looks >= output_looks_max) {
            throw user_error(
                "The output accepts no data; what was left of it is dropped. Read faster, "
                "or record to a file with -o.");
        }
    }
}

/// The size that a writable pipe accepts atomically and without blocking. Whole lines if possible,
/// so that text of a recorded command in the same pipe does not split a line.
std::size_t part_of(std::string_view text) {
    if (text.size() <= PIPE_BUF) {
        return text.size();
    }
    const std::size_t line_end = text.rfind('\n', PIPE_BUF - 1);
    return line_end == std::string_view::npos ? PIPE_BUF : line_end + 1;
}

/// Removes from `text` what has been written, also if it throws.
void write_rest(int descriptor, std::string_view& text, const abort_check& should_abort) {
    while (!text.empty()) {
        if (should_abort) {
            wait_until_writable(descriptor, should_abort);
        }
        const std::size_t size = should_abort ? part_of(text) : text.size();
        const ssize_t written = ::write(descriptor, text.data(), size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0 && errno == EAGAIN) {
            wait_until_writable(descriptor, should_abort);
            continue;
        }
        if (written < 0 && errno == EPIPE) {
            throw output_closed{};
        }
        if (written < 0) {
            throw user_error("The output cannot be written ({}).", std::strerror(errno));
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

void write_all(int descriptor, std::string_view text, const abort_check& should_abort) {
    write_rest(descriptor, text, should_abort);
}

void write_out(int descriptor, fmt::memory_buffer& buffer, const abort_check& should_abort) {
    std::string_view rest(buffer.data(), buffer.size());
    try {
        write_rest(descriptor, rest, should_abort);
    } catch (...) {
        std::memmove(buffer.data(), rest.data(), rest.size());
        buffer.resize(rest.size());
        throw;
    }
    buffer.clear();
}

}  // namespace elog
