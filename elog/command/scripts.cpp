// SPDX-License-Identifier: MIT
#include "scripts.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "aggregate/one_liner.hpp"
#include "cli/leading_option.hpp"
#include "cli/whole_files.hpp"
#include "commands.hpp"

namespace elog {
namespace {

/// Replaces lines that begin with # by blanks, so that columns stay.
std::string without_comments(std::string text) {
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::size_t first = text.find_first_not_of(" \t", begin);
        if (first < end && text[first] == '#') {
            std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                      text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        }
        begin = end + 1;
    }
    return text;
}

/// Converts "one-liner, column N: ..." to "FILE:LINE:COLUMN: ...", where N counts from the
/// beginning of the text.
std::string with_line(const std::string& message, const std::string& path,
                      const std::string& text) {
    constexpr std::string_view before = "one-liner, column ";
    std::size_t column = 0;
    if (!message.starts_with(before)) {
        return message;
    }
    const char* const end = message.data() + message.size();
    const auto [rest, error] = std::from_chars(message.data() + before.size(), end, column);
    if (error != std::errc{} || column == 0) {
        return message;
    }
    const std::string_view preceding =
        std::string_view(text).substr(0, std::min(column - 1, text.size()));
    const auto line = std::count(preceding.begin(), preceding.end(), '\n') + 1;
    const std::size_t newline = preceding.rfind('\n');
    const std::size_t of_line =
        newline == std::string_view::npos ? column : preceding.size() - newline;
    return fmt::format("{}:{}:{}{}", path, line, of_line, std::string_view(rest, end));
}

std::vector<std::string> words_of_file(const std::string& path) {
    const std::string text = without_comments(read_file_up_to(path, one_liner_size_max + 1));
    if (text.size() > one_liner_size_max) {
        throw usage_error("{} is no script: it is longer than {} characters.", path,
                          one_liner_size_max);
    }
    try {
        return one_liner::parse(text).words();
    } catch (const user_error& error) {
        throw usage_error("{}", with_line(error.what(), path, text));
    }
}

}  // namespace

void expand_script(std::vector<std::string>& words) {
    std::vector<std::string> meant;
    if (const std::optional<std::string> text = take_leading_option(words, "-n")) {
        meant = as_usage_error([&] { return one_liner::parse(*text).words(); });
    } else if (words.size() > 1 && words[0] == "run" && !words[1].starts_with('-')) {
        meant = words_of_file(words[1]);
        words.erase(words.begin(), words.begin() + 2);
    }
    words.insert(words.begin(), meant.begin(), meant.end());
}

/// expand_script() has replaced a command with a file, so this is for --help, completion and
/// messages.
void add_run(command_line& line) {
    subcommand command = line.add_subcommand("run", "Run a script, in the syntax of elog -n");
    const auto file = std::make_shared<std::string>();
    command.add_option("FILE", *file, "Script: PROVIDER:EVENT /PREDICATE/ { ACTION }")
        .required()
        .completes_as(value_kind::file);
    command.footer("Options of elog record follow FILE, or of elog agg for a script with actions.\n"
                   "Lines that begin with # are comments.\n"
                   "Examples:\n"
                   "  elog run slow_orders.script\n"
                   "  elog run order_sizes.script --duration 10s --json");
    command.action(
        [file] { throw usage_error("Options follow the script: elog run {} OPTION ...", *file); });
}

}  // namespace elog
