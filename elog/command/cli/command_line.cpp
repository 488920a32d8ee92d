// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "text/did_you_mean.hpp"

namespace elog {
namespace {

constexpr std::ptrdiff_t lines_of_screen = 24;

bool is_option(const std::string& word) {
    return word.size() > 1 && word.front() == '-';
}

/// A suggestion for an unknown command.
std::string name_of_nearest_command(const CLI::App& application, const std::string& word) {
    std::vector<std::string_view> names;
    for (const CLI::App* command : application.get_subcommands(nullptr)) {
        names.push_back(command->get_name());
    }
    return did_you_mean(word, names);
}

/// A suggestion for an unknown long option.
std::string name_of_nearest_option(const CLI::App& command, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    const std::string_view wanted = std::string_view(word).substr(0, word.find('='));
    return did_you_mean(wanted, {names.begin(), names.end()});
}

/// Describes the syntax error. `first` is the first word, or empty.
std::string complaint(const CLI::App& application, const CLI::ParseError& error,
                      const std::string& first) {
    const std::vector<CLI::App*> commands = application.get_subcommands();
    if (commands.empty() && !first.empty() && !is_option(first)) {
        return "There is no command '" + first + "'." + name_of_nearest_command(application, first);
    }
    const std::vector<std::string> unexpected = application.remaining(true);
    if (commands.empty() || unexpected.empty() || !is_option(unexpected.front())) {
        return error.what();
    }
    return error.what() + std::string(".") +
           name_of_nearest_option(*commands.front(), unexpected.front());
}

option_description description_of(const CLI::Option& option) {
    option_description described;
    for (const std::string& name : option.get_snames()) {
        described.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        described.names.push_back("--" + name);
    }
    described.description = option.get_description();
    described.takes_value = option.get_items_expected_min() > 0;
    described.may_repeat = option.get_items_expected_max() > 1;
    return described;
}

/// Without the options and arguments that elog has added.
subcommand_description description_of(const CLI::App& command) {
    subcommand_description described;
    described.name = command.get_name();
    described.description = command.get_description();
    described.options.push_back(description_of(*command.get_help_ptr()));
    return described;
}

}  // namespace

/// Lists all subcommands, on as many lines as a terminal has.
class overview : public CLI::Formatter {
  public:
    struct family {
        std::vector<std::string> names;
        std::string description;
    };

    void add(family together) { families_.push_back(std::move(together)); }

    std::string make_subcommand(const CLI::App* command) const override {
        const std::string& name = command->get_name();
        for (const family& each : families_) {
            if (std::find(each.names.begin(), each.names.end(), name) != each.names.end()) {
                return name == each.names.front()
                           ? line_of(CLI::detail::join(each.names, ", "), each.description)
                           : std::string();
            }
        }
        return line_of(name, command->get_description());
    }

  private:
    static constexpr std::size_t column = 33;  // wider than the longest family

    static std::string line_of(const std::string& names, const std::string& description) {
        std::string line = "  " + names;
        line.resize(std::max(line.size() + 1, column), ' ');
        return line + description + "\n";
    }

    std::vector<family> families_;
};

/// Arguments and options of a subcommand in one list, which is short enough for a screen without
/// headings.
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
};

struct command_option::parsed {
    CLI::Option* option;
    value_kind kind = value_kind::text;
    std::vector<std::string> choices = {};
};

struct subcommand::parsed {
    CLI::App* application;
    std::deque<command_option::parsed> options;  // handles point to them
};

struct command_line::parser {
    parser(const char* name, const char* description) : application(description, name) {}

    CLI::App application;
    std::shared_ptr<overview> shown = std::make_shared<overview>();
    std::shared_ptr<single_list> shown_of_one = std::make_shared<single_list>();
    std::deque<subcommand::parsed> subcommands;  // handles point to them
};

command_option command_option::required() {
    option_->option->required();
    return *this;
}

command_option command_option::one_value_each() {
    option_->option->allow_extra_args(false);
    return *this;
}

command_option command_option::range(int smallest, int largest) {
    option_->option->check(CLI::Range(smallest, largest));
    return *this;
}

command_option command_option::value_or(int value) {
    option_->option->expected(0, 1)->default_str(std::to_string(value));
    return *this;
}

command_option command_option::excludes(command_option other) {
    option_->option->excludes(other.option_->option);
    return *this;
}

command_option command_option::completes_as(value_kind kind) {
    option_->kind = kind;
    return *this;
}

command_option command_option::one_of(std::vector<std::string> choices) {
    option_->choices = std::move(choices);
    return *this;
}

template <class Value>
command_option subcommand::add_option(const char* name, Value& value, const char* description) {
    const std::string_view words = name;
    const std::size_t end = std::min(words.find(' '), words.size());
    CLI::Option* const option =
        command_->application->add_option(std::string(words.substr(0, end)), value, description);
    if (end != words.size()) {
        option->option_text(std::string(words.substr(end + 1)));
    }
    return command_option(command_->options.emplace_back(command_option::parsed{option}));
}

template command_option subcommand::add_option(const char*, std::string&, const char*);
template command_option subcommand::add_option(const char*, std::optional<std::string>&,
                                               const char*);
template command_option subcommand::add_option(const char*, std::vector<std::string>&, const char*);
template command_option subcommand::add_option(const char*, int&, const char*);
template command_option subcommand::add_option(const char*, std::uint64_t&, const char*);
template command_option subcommand::add_option(const char*, std::optional<std::uint64_t>&,
                                               const char*);
template command_option subcommand::add_option(const char*, std::vector<std::uint64_t>&,
                                               const char*);

command_option subcommand::add_flag(const char* name, bool& given, const char* description) {
    return command_option(command_->options.emplace_back(
        command_option::parsed{command_->application->add_flag(name, given, description)}));
}

void subcommand::footer(const char* text) {
    command_->application->footer(text);
}

void subcommand::action(std::function<void()> run) {
    command_->application->callback(std::move(run));
}

command_line::command_line(const char* name, const char* description, const char* version)
    : parser_(std::make_unique<parser>(name, description)) {
    parser_->application.set_version_flag("--version", version);
    parser_->application.require_subcommand(1);
}

command_line::~command_line() = default;

subcommand command_line::add_subcommand(const char* name, const char* description) {
    CLI::App* const added = parser_->application.add_subcommand(name, description);
    added->formatter(parser_->shown_of_one);
    return subcommand(parser_->subcommands.emplace_back(subcommand::parsed{added, {}}));
}

void command_line::show_together(std::vector<std::string> names, std::string description) {
    parser_->shown->add({std::move(names), std::move(description)});
}

void command_line::footer(const char* text) {
    parser_->application.footer(text);
}

std::vector<subcommand_description> command_line::describe() const {
    std::vector<subcommand_description> all;
    for (const subcommand::parsed& each : parser_->subcommands) {
        all.push_back(description_of(*each.application));
        for (const command_option::parsed& option : each.options) {
            option_description described = description_of(*option.option);
            described.kind = option.kind;
            described.choices = option.choices;
            auto& place =
                option.option->get_positional() ? all.back().arguments : all.back().options;
            place.push_back(std::move(described));
        }
    }
    return all;
}

void command_line::run(std::vector<std::string> words) {
    const std::string first = words.empty() ? std::string() : words.front();
    parser_->application.formatter(parser_->shown);
    // CLI11 reads the words from the back.
    std::reverse(words.begin(), words.end());
    try {
        parser_->application.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) {
            throw syntax_error("{}", complaint(parser_->application, error, first));
        }
        parser_->application.exit(error);  // prints the help or the version
    }
}

}  // namespace elog
