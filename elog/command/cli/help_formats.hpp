// SPDX-License-Identifier: MIT
//
// Layout of --help: an overview of all commands, and one list for each command. Both fit on a
// screen.
//
// Only command_line.cpp includes it, because it includes CLI11.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_line.hpp"

namespace elog {

inline constexpr std::ptrdiff_t lines_of_screen = 24;

[[nodiscard]] inline bool is_hidden(const CLI::App& command) {
    return command.get_group().empty();
}

/// The commands of a group, or of the whole command line.
[[nodiscard]] inline std::vector<const CLI::App*> shown_commands(const CLI::App& application) {
    return application.get_subcommands([](const CLI::App* each) { return !is_hidden(*each); });
}

/// Lists all commands in sections.
class overview_format : public CLI::Formatter {
  public:
    void use(std::vector<overview_section> sections) { sections_ = std::move(sections); }

    std::string make_help(const CLI::App* application, std::string name,
                          CLI::AppFormatMode /*mode*/) const override {
        std::string text = application->get_description() + "\nUsage: " + name +
                           " [OPTION ...] COMMAND [OPTION ...] [ARGUMENT ...]\n";
        for (const overview_section& section : sections_) {
            text += section.heading + ":\n";
            for (const overview_section::line& line : section.lines) {
                text += line_of(*application, line);
            }
        }
        if (sections_.empty()) {
            for (const CLI::App* command : shown_commands(*application)) {
                text += line_of(*application, {{command->get_name()}});
            }
        }
        return text;
    }

  private:
    static constexpr std::size_t column = 28;  // wider than the longest names

    static std::string line_of(const CLI::App& application, const overview_section::line& line) {
        std::string text = "  " + CLI::detail::join(line.names, ", ");
        text.resize(std::max(text.size() + 2, column), ' ');
        if (!line.description.empty()) {
            return text + line.description + "\n";
        }
        for (const CLI::App* command : shown_commands(application)) {
            if (!line.names.empty() && command->get_name() == line.names.front()) {
                return text + command->get_description() + "\n";
            }
        }
        return text + "\n";
    }

    std::vector<overview_section> sections_;
};

/// Arguments, options and subcommands of a command in one list, which is short enough for a screen
/// without headings.
class single_list : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* command, std::string name,
                          CLI::AppFormatMode mode) const override {
        std::string text = CLI::Formatter::make_help(command, std::move(name), mode);
        // Without a footer the text ends with an empty line, which does not fit on a screen; nor
        // does the empty line before the list if the list is long.
        text.erase(text.find_last_not_of('\n') + 1);
        text += '\n';
        if (std::count(text.begin(), text.end(), '\n') > lines_of_screen) {
            text.erase(text.find("\n\n"), 1);
        }
        // Description and usage share the first line.
        if (std::count(text.begin(), text.end(), '\n') > lines_of_screen) {
            text.replace(text.find('\n'), 1, ". ");
        }
        // Nor does the empty line before the footer.
        const std::size_t empty = text.find("\n\n");
        if (std::count(text.begin(), text.end(), '\n') > lines_of_screen &&
            empty != std::string::npos) {
            text.erase(empty, 1);
        }
        return text;
    }

    /// Words at the end of the usage line that the parser does not read.
    void end_usage(const CLI::App* command, std::string words) {
        ends_of_usage_[command] = std::move(words);
    }

    std::string make_usage(const CLI::App* command, std::string name) const override {
        std::string text = CLI::Formatter::make_usage(command, std::move(name));
        if (const auto found = ends_of_usage_.find(command); found != ends_of_usage_.end()) {
            text.insert(text.find_last_not_of('\n') + 1, " " + found->second);
        }
        return text;
    }

    std::string make_positionals(const CLI::App* command) const override {
        const auto is_argument = [](const CLI::Option* option) { return option->get_positional(); };
        return "\n" + make_group({}, true, command->get_options(is_argument));
    }

    std::string make_group(std::string /*heading*/, bool are_arguments,
                           std::vector<const CLI::Option*> options) const override {
        std::string list;
        for (const CLI::Option* option : options) {
            list += make_option(option, are_arguments);
        }
        return list;
    }

    std::string make_subcommands(const CLI::App* command,
                                 CLI::AppFormatMode /*mode*/) const override {
        std::string list;
        for (const CLI::App* each : shown_commands(*command)) {
            list += make_subcommand(each);
        }
        return list;
    }

    /// The parser reports excluded options when both are given. The name of an argument describes
    /// it, and the usage line shows whether it is required.
    std::string make_option_opts(const CLI::Option* option) const override {
        if (option->get_positional()) {
            return option->get_items_expected_max() > 1 ? " ..." : "";
        }
        if (option->get_items_expected_max() == 0) {
            return {};
        }
        std::string text = option->get_option_text();
        if (text.empty()) {
            text = option->get_type_name();
        }
        return " " + text + (option->get_required() ? " REQUIRED" : "");
    }

  private:
    std::map<const CLI::App*, std::string> ends_of_usage_;
};

}  // namespace elog
