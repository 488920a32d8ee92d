// SPDX-License-Identifier: MIT
#include "kernel/hist_table.hpp"

#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "kernel/error.hpp"
#include "kernel/kernel_text.hpp"

namespace eventlog::tracefs {
namespace {

// Larger than the largest table with the longest names.
constexpr std::size_t text_size_max = std::size_t{256} << 20U;
constexpr int read_attempts = 5;
constexpr std::chrono::milliseconds between_readings{10};

/// Parses a line by its expected content.
class line_reader {
  public:
    explicit line_reader(std::string_view line) noexcept : rest_(line) {}

    void skip_blanks() noexcept {
        const std::size_t end = rest_.find_first_not_of(' ');
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
    }
    void take(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) {
            refuse();
        }
        rest_.remove_prefix(word.size());
    }
    std::uint64_t take_number() {
        skip_blanks();
        std::uint64_t number = 0;
        const auto [end, mistake] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
        if (mistake != std::errc{}) {
            refuse();
        }
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return number;
    }
    void end() {
        skip_blanks();
        if (!rest_.empty()) {
            refuse();
        }
    }

    [[noreturn]] void refuse() const {
        throw error("What the kernel has counted cannot be read, at '{}'. Have elog count itself, "
                    "with --push-down never.",
                    rest_.substr(0, 40));
    }

  private:
    std::string_view rest_;
};

void take_name(line_reader& line, const std::string& name) {
    line.take(name);
    line.take(":");
}

hist_entry parse_entry(std::string_view text, const hist_request& asked) {
    line_reader line(text);
    hist_entry entry;
    const char* between = "{";
    for (const hist_key& key : asked.keys) {
        line.take(between);
        between = ",";
        take_name(line, key.field);
        if (key.bucket == 0) {
            entry.keys.push_back(line.take_number());
            continue;
        }
        line.take("~");
        entry.keys.push_back(line.take_number());
        line.take("-");
        static_cast<void>(line.take_number());
    }
    line.take("}");
    take_name(line, "hitcount");
    entry.hits = line.take_number();
    for (const std::string& value : asked.values) {
        take_name(line, value);
        entry.sums.push_back(line.take_number());
    }
    line.end();
    return entry;
}

std::uint64_t parse_total(std::string_view text, const char* name) {
    line_reader line(text);
    take_name(line, name);
    const std::uint64_t number = line.take_number();
    line.end();
    return number;
}

/// Iterates over the lines with content.
class lines {
  public:
    explicit lines(std::string_view text) noexcept : rest_(text) {}

    /// Empty if there are no more lines.
    std::string_view next() noexcept {
        while (!rest_.empty()) {
            const std::string_view line = take_line(rest_);
            if (line.find_first_not_of(' ') != std::string_view::npos && !line.starts_with('#')) {
                return line;
            }
        }
        return {};
    }

  private:
    std::string_view rest_;
};

void check_sum(const hist_table& table, std::uint64_t entries) {
    std::uint64_t hits = 0;
    for (const hist_entry& entry : table.entries) {
        if (__builtin_add_overflow(hits, entry.hits, &hits)) {
            throw error("The kernel says that it has counted more events than there can be. Have "
                        "elog count itself, with --push-down never.");
        }
    }
    if (entries != table.entries.size() || hits != table.hits) {
        throw error("The kernel says that it has counted {} events by {} keys, and shows {} by {}: "
                    "another process has changed the histogram, or still does. Start again.",
                    table.hits, entries, hits, table.entries.size());
    }
}

}  // namespace

std::string hist_trigger(const hist_request& asked, bool paused) {
    std::string keys;
    for (const hist_key& key : asked.keys) {
        keys += fmt::format("{}{}{}", keys.empty() ? "" : ",", key.field,
                            key.bucket == 0 ? "" : fmt::format(".buckets={}", key.bucket));
    }
    return fmt::format("hist:keys={}{}{}:size={}{}{}{}", keys,
                       asked.values.empty() ? "" : ":vals=", fmt::join(asked.values, ","),
                       asked.size, paused ? ":pause" : "", asked.condition.empty() ? "" : " if ",
                       asked.condition);
}

hist_table parse_hist(std::string_view text, const hist_request& asked) {
    constexpr std::string_view end_of_entries = "Totals:";
    if (text.size() > text_size_max) {
        throw error("The kernel says more about a histogram than one can hold. Have elog count "
                    "itself, with --push-down never.");
    }
    hist_table table;
    lines all(text);
    std::string_view line = all.next();
    for (; line.starts_with('{'); line = all.next()) {
        table.entries.push_back(parse_entry(line, asked));
    }
    line_reader(line).take(end_of_entries);
    table.hits = parse_total(all.next(), "Hits");
    const std::uint64_t entries = parse_total(all.next(), "Entries");
    table.dropped = parse_total(all.next(), "Dropped");
    // A second histogram of the event would follow.
    line_reader(all.next()).end();
    check_sum(table, entries);
    return table;
}

hist_table read_hist(const std::function<std::string()>& read, const hist_request& asked) {
    for (int left = read_attempts; --left > 0; std::this_thread::sleep_for(between_readings)) {
        try {
            return parse_hist(read(), asked);
        } catch (const error&) {  // the last attempt reports the error
        }
    }
    return parse_hist(read(), asked);
}

}  // namespace eventlog::tracefs
