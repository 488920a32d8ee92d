// SPDX-License-Identifier: MIT
//
// Mistakes in words of the command line, in sentences that name the option and the remedy. The
// parser's own messages name its types and callbacks.
//
// Only command_line.cpp includes it, because it includes CLI11.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/leading_option.hpp"

namespace elog {

/// Rejects other words than decimal numbers, and hexadecimal ones after 0x. CLI11 alone would wrap
/// or limit a number that is out of range, and read one after 0 as octal.
template <class Number>
CLI::Validator whole_number() {
    const auto convert = [](std::string& word) -> std::string {
        const bool is_hexadecimal = word.starts_with("0x");
        const char* const end = word.data() + word.size();
        Number number{};
        const auto [rest, error] = std::from_chars(word.data() + (is_hexadecimal ? 2 : 0), end,
                                                   number, is_hexadecimal ? 16 : 10);
        if (rest != end || error == std::errc::invalid_argument) {
            return "'" + word + "' is not a whole number, such as 8";
        }
        if (error == std::errc::result_out_of_range) {
            return "'" + word + "' is over " + std::to_string(std::numeric_limits<Number>::max());
        }
        word = std::to_string(number);
        return {};
    };
    return {convert, ""};
}

/// Rejects whole numbers outside of the range, which includes both limits.
inline CLI::Validator number_within(std::int64_t smallest, std::int64_t largest) {
    const auto check = [smallest, largest](std::string& word) -> std::string {
        std::int64_t number = 0;
        const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error == std::errc{} && smallest <= number && number <= largest) {
            return {};
        }
        return "'" + word + "' is out of range. Write a number from " + std::to_string(smallest) +
               " to " + std::to_string(largest);
    };
    return {check, ""};
}

/// The option of a word like --name, --name=VALUE or -n; nullptr for other words.
[[nodiscard]] inline const CLI::Option* named_option(const CLI::App& command,
                                                     std::string_view word) {
    return is_option(word)
               ? command.get_option_no_throw(std::string(word.substr(0, word.find('='))))
               : nullptr;
}

/// Whether the word is an option whose value is the next word.
[[nodiscard]] inline bool is_before_value(const CLI::App& command, const std::string& word) {
    const auto takes_value = [](const CLI::Option* option) {
        return option != nullptr && option->get_items_expected_min() > 0;
    };
    if (!is_option(word) || word.starts_with("--")) {
        return word.find('=') == std::string::npos && takes_value(named_option(command, word));
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
        // The rest of the word is the value.
        if (takes_value(named_option(command, std::string{'-', word[i]}))) {
            return i + 1 == word.size();
        }
    }
    return false;
}

/// The first word like --flag=VALUE; empty: there is none. The parser takes some of these values,
/// such as numbers. The words from `begin` on are options and arguments of the command.
[[nodiscard]] inline std::string flag_with_value(const CLI::App& command,
                                                 const std::vector<std::string>& words,
                                                 std::size_t begin) {
    for (std::size_t at = begin; at < words.size(); ++at) {
        const CLI::Option* const option = named_option(command, words[at]);
        if (option != nullptr && option->get_items_expected_max() == 0 &&
            words[at].starts_with("--") && words[at].find('=') != std::string::npos) {
            return words[at];
        }
        at += is_before_value(command, words[at]) ? 1 : 0;
    }
    return {};
}

/// The option's value as --help shows it.
[[nodiscard]] inline std::string value_name(const CLI::Option& option) {
    const std::string text = option.get_option_text();
    return text.empty() ? "VALUE" : text.substr(0, text.find("..."));
}

/// Describes an error of the parser in the words of the command.
[[nodiscard]] inline std::string sentence_of(const CLI::App& command,
                                             const CLI::ParseError& error) {
    const std::string text = error.what();
    const std::string name = text.substr(0, text.find(':'));
    const CLI::Option* const option = command.get_option_no_throw(name);
    const bool is_count = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
    if (is_count && option != nullptr && option->count() > 1) {
        return name + " is given " + std::to_string(option->count()) +
               " times, the last time as '" + option->results().back() + "'. Give it once.";
    }
    if (is_count && option != nullptr) {
        return name + " needs a value. Write " + name + " " + value_name(*option) + ".";
    }
    return text.ends_with('.') ? text : text + ".";
}

}  // namespace elog
