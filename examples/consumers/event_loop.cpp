// SPDX-License-Identifier: MIT
//
// Reads events in an event loop, beside another descriptor: prints the number of events of each
// name for each line of standard input, and ends with it:
//
//     ./event_loop 'memory:bakery:*'
//
// An address names any source: see libelog(3).
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <elog/elog.hpp>

namespace {

class event_counter {
  public:
    explicit event_counter(const std::string& address)
        : source_(elog::open(address, {.exclude_self = true})) {}

    [[nodiscard]] elog::source& source() { return source_; }

    /// Reads what there is. The descriptor of the source stays readable until this is done.
    void read() {
        while (const std::optional<elog::record> record = source_.try_get()) {
            ++counts_[std::string(record->name())];
        }
    }

    void print() const {
        for (const auto& [name, count] : counts_) {
            std::cout << name << '=' << count << ' ';
        }
        std::cout << "lost=" << source_.totals().lost << std::endl;
    }

  private:
    elog::source source_;
    std::map<std::string, std::uint64_t> counts_;
};

/// The number of lines that standard input has now; nothing at its end.
std::optional<std::size_t> read_lines() {
    std::array<char, 4096> text{};
    const ssize_t size = ::read(STDIN_FILENO, text.data(), text.size());
    if (size <= 0) {
        return std::nullopt;
    }
    std::size_t lines = 0;
    for (const char each : std::string_view(text.data(), static_cast<std::size_t>(size))) {
        lines += each == '\n' ? 1 : 0;
    }
    return lines;
}

void run(event_counter& counter) {
    std::array<pollfd, 2> waiting{
        {{counter.source().descriptor(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    while (!counter.source().is_over()) {
        if (::poll(waiting.data(), waiting.size(), -1) < 0) {
            continue;  // a signal
        }
        if (waiting[0].revents != 0) {
            counter.read();
        }
        if (waiting[1].revents != 0) {
            const std::optional<std::size_t> lines = read_lines();
            for (std::size_t i = 0; i < lines.value_or(0); ++i) {
                counter.print();
            }
            if (!lines) {
                waiting[1].fd = -1;       // poll() ignores it
                counter.source().stop();  // what was emitted before is still read
            }
        }
    }
    counter.print();
}

}  // namespace

int main(int argument_count, char** arguments) try {
    event_counter counter(argument_count > 1 ? arguments[1] : "memory:*");
    run(counter);
} catch (const elog::error& mistake) {
    std::cerr << mistake.what() << '\n';
    return 1;
}
