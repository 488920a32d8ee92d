// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/output.hpp"
#include "cli/help_formats.hpp"
#include "cli/leading_option.hpp"
#include "cli/parser_errors.hpp"
#include "text/did_you_mean.hpp"

namespace elog {
namespace {

bool is_json_flag(const std::string& word) {
    return word == "-j" || word == "--json";
}

bool is_group(const CLI::App& command) {
    return !command.get_subcommands(nullptr).empty();
}

const CLI::App* find_command(const CLI::App& group, const std::string& name) {
    for (const CLI::App* each : group.get_subcommands(nullptr)) {
        if (each->get_name() == name) {
            return each;
        }
    }
    return nullptr;
}

/// The commands that the first words name, down to one without commands of its own.
struct named_commands {
    const CLI::App* last = nullptr;
    std::string before{};   // full name of the command that contains the last one
    std::size_t count = 0;  // of words

    [[nodiscard]] std::string full_name() const {
        return before.empty() ? last->get_name() : before + " " + last->get_name();
    }
    [[nodiscard]] std::string advice() const { return "Try: " + full_name() + " --help"; }
    [[nodiscard]] std::string help() const { return last->help(before); }
};

named_commands find_named(const CLI::App& application, const std::vector<std::string>& words) {
    named_commands found{&application};
    while (found.count < words.size()) {
        const CLI::App* const next = find_command(*found.last, words[found.count]);
        if (next == nullptr) {
            break;
        }
        found = {next, found.full_name(), found.count + 1};
    }
    return found;
}

/// Moves -j and --json from the front of a command, or from within its name, behind it.
void move_json_flags(const CLI::App& application, std::vector<std::string>& words) {
    std::vector<std::string> flags;
    std::size_t at = 0;
    for (const CLI::App* command = &application; at < words.size() && is_group(*command);) {
        if (is_json_flag(words[at])) {
            flags.push_back(words[at]);
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
            continue;
        }
        command = find_command(*command, words[at]);
        if (command == nullptr) {
            break;
        }
        ++at;
    }
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), flags.begin(), flags.end());
}

/// A suggestion for an unknown command. One that belongs to a group is named with it.
std::string name_of_nearest_command(const CLI::App& group, const std::string& word) {
    std::vector<std::string_view> names;
    for (const CLI::App* command : shown_commands(group)) {
        if (find_command(*command, word) != nullptr) {
            return " Did you mean '" + command->get_name() + " " + word + "'?";
        }
        names.push_back(command->get_name());
    }
    return did_you_mean(word, names);
}

/// A suggestion for an unknown long option.
std::string name_of_nearest_option(const CLI::App& command, const std::string& name) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& each : option->get_lnames()) {
            names.push_back("--" + each);
        }
    }
    return did_you_mean(name, {names.begin(), names.end()});
}

/// Throws syntax_error if the words name no command, or a group without one of its commands.
void check_commands(const named_commands& named, const std::vector<std::string>& words) {
    if (!is_group(*named.last)) {
        return;
    }
    const bool is_whole = named.last->get_parent() == nullptr;
    if (named.count == words.size() || is_json_flag(words[named.count])) {
        throw syntax_error(is_whole
                               ? "A command is missing."
                               : "One of the commands of " + named.full_name() + " is missing.",
                           named.help());
    }
    const std::string& word = words[named.count];
    if (!is_option(word)) {
        throw syntax_error((is_whole ? "There is no command '" + word
                                     : named.full_name() + " has no command '" + word) +
                               "'." + name_of_nearest_command(*named.last, word),
                           named.advice());
    }
}

std::string unknown_option(const named_commands& named, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    if (is_json_flag(name)) {
        return named.full_name() + " has no JSON output. Leave out " + name + ".";
    }
    if (named.last->get_parent() == nullptr) {
        return named.full_name() + " has no option '" + name +
               "'. Options of a command follow its name.";
    }
    const bool is_selection = name.starts_with("-e") || name == "--event" || name == "--level";
    if (is_selection && named.last->get_option_no_throw("--where") != nullptr) {
        return named.full_name() + " has no option '" + name +
               "'. Select events with --where 'event == \"NAME\" && level <= warn'.";
    }
    return named.full_name() + " has no option '" + name + "'." +
           name_of_nearest_option(*named.last, name);
}

/// Describes the syntax error: an unknown option first, which may be what another error is due to.
std::string complaint(const CLI::App& application, const CLI::ParseError& error,
                      const named_commands& named) {
    const std::vector<std::string> unexpected = application.remaining(true);
    for (const std::string& word : unexpected) {
        if (is_option(word)) {
            return unknown_option(named, word);
        }
    }
    if (!unexpected.empty()) {
        return named.full_name() + " does not take the argument '" + unexpected.front() +
               "'. Leave it out.";
    }
    return sentence_of(*named.last, error);
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

template <class Value>
struct number_in {
    using type = Value;
};
template <class Value>
struct number_in<std::optional<Value>> {
    using type = Value;
};
template <class Value>
struct number_in<std::vector<Value>> {
    using type = Value;
};

}  // namespace

struct command_option::parsed {
    CLI::Option* option;
    value_kind kind = value_kind::text;
    std::vector<std::string> choices = {};
};

struct subcommand::parsed {
    CLI::App* application;
    const CLI::App* group;                       // nullptr: none
    single_list* format;                         // that of --help
    std::deque<command_option::parsed> options;  // handles point to them
};

struct command_line::parser {
    parser(const char* name, const char* description) : application(description, name) {}

    subcommand::parsed& add(CLI::App& to, const char* name, const char* description) {
        CLI::App* const added = to.add_subcommand(name, description);
        added->formatter(list);
        const CLI::App* const group = &to == &application ? nullptr : &to;
        return subcommands.emplace_back(subcommand::parsed{added, group, list.get(), {}});
    }

    /// The commands of a group; nullptr for those in no group.
    [[nodiscard]] std::vector<subcommand_description> describe(const CLI::App* group) const;

    CLI::App application;
    std::shared_ptr<overview_format> overview = std::make_shared<overview_format>();
    std::shared_ptr<single_list> list = std::make_shared<single_list>();
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
    option_->option->check(number_within(smallest, largest));
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
    using number = typename number_in<Value>::type;
    if constexpr (std::is_integral_v<number>) {
        option->transform(whole_number<number>());
    }
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

void subcommand::end_usage(const char* words) {
    command_->format->end_usage(command_->application, words);
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
    return subcommand(parser_->add(parser_->application, name, description));
}

subcommand command_line::add_hidden(const char* name) {
    subcommand::parsed& added = parser_->add(parser_->application, name, "");
    added.application->group("");
    return subcommand(added);
}

command_group command_line::add_group(const char* name, const char* description) {
    subcommand::parsed& added = parser_->add(parser_->application, name, description);
    added.application->require_subcommand(1);
    return {*this, added};
}

subcommand command_group::add_subcommand(const char* name, const char* description) {
    return subcommand(line_->parser_->add(*group_->application, name, description));
}

void command_group::footer(const char* text) {
    group_->application->footer(text);
}

void command_line::overview(std::vector<overview_section> sections) {
    parser_->overview->use(std::move(sections));
}

std::vector<subcommand_description> command_line::describe() const {
    return parser_->describe(nullptr);
}

std::vector<subcommand_description> command_line::parser::describe(const CLI::App* group) const {
    std::vector<subcommand_description> all;
    for (const subcommand::parsed& each : subcommands) {
        if (each.group != group || is_hidden(*each.application)) {
            continue;
        }
        subcommand_description& described = all.emplace_back(description_of(*each.application));
        for (const command_option::parsed& option : each.options) {
            option_description of_option = description_of(*option.option);
            of_option.kind = option.kind;
            of_option.choices = option.choices;
            auto& place = option.option->get_positional() ? described.arguments : described.options;
            place.push_back(std::move(of_option));
        }
        if (is_group(*each.application)) {
            described.subcommands = describe(each.application);
        }
    }
    return all;
}

void command_line::print_help(const std::vector<std::string>& commands) const {
    const named_commands named = find_named(parser_->application, commands);
    if (named.count != commands.size()) {
        const std::string& word = commands[named.count];
        throw syntax_error(named.full_name() + " has no command '" + word + "'." +
                               name_of_nearest_command(*named.last, word),
                           named.advice());
    }
    write_all(STDOUT_FILENO, named.help());
}

void command_line::run(std::vector<std::string> words) {
    CLI::App& application = parser_->application;
    application.formatter(parser_->overview);
    move_json_flags(application, words);
    if (!words.empty() && words.front() == "help" && (words.size() == 1 || !is_option(words[1]))) {
        print_help({words.begin() + 1, words.end()});
        return;
    }
    const named_commands named = find_named(application, words);
    check_commands(named, words);
    if (const std::string word = flag_with_value(*named.last, words, named.count); !word.empty()) {
        throw syntax_error("'" + word + "' gives a value to a flag. Write " +
                               word.substr(0, word.find('=')) + " without one.",
                           named.advice());
    }
    // CLI11 reads the words from the back.
    std::reverse(words.begin(), words.end());
    try {
        application.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) {
            throw syntax_error(complaint(application, error, named), named.advice());
        }
        std::ostringstream text;
        application.exit(error, text, text);  // the help or the version
        write_all(STDOUT_FILENO, text.str());
    }
}

}  // namespace elog
