// SPDX-License-Identifier: MIT
//
// Commands of elog with their options and arguments. A command may be a group of commands:
// "elog flight start".
//
// Only command_line.cpp includes CLI11, the parser behind this interface, because compiling it
// takes seconds.
//
// A name is "--long" for a flag, "-s,--long VALUE" for an option, whose value --help shows as
// VALUE, or "ARGUMENT" for a positional argument. A bound variable is written while the command
// line is read and has to live until then. Each function throws std::exception if its request
// contradicts an earlier one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/usage_error.hpp"

namespace elog {

class command_line;

/// The words do not match the syntax of the command line. `what()` does not name the help.
class syntax_error : public usage_error {
  public:
    /// `advice` are the lines after the message: the command that prints the help, or the help.
    syntax_error(const std::string& message, std::string advice)
        : usage_error("{}", message), advice_(std::move(advice)) {}

    [[nodiscard]] const std::string& advice() const noexcept { return advice_; }

  private:
    std::string advice_;
};

/// Kind of a value, by which a shell completes it with existing values.
enum class value_kind {
    text,  // any text, without completion
    file,
    new_file,
    event,         // PROVIDER:EVENT of a running program, or a pattern
    process,       // a number
    process_name,  // of a process with providers
    subscription,  // the name of a flight recorder
    source,        // a running provider, or a file
};

/// An option, a flag or an argument of a subcommand: a handle, valid as long as the command line.
class command_option {
  public:
    command_option required();

    /// For a vector: each occurrence of the option has one value.
    command_option one_value_each();

    /// Rejects numbers outside of the range, which includes both limits.
    command_option range(int smallest, int largest);

    /// The value may be omitted, which means `value`.
    command_option value_or(int value);

    /// Rejects a command line with both options.
    command_option excludes(command_option other);

    command_option completes_as(value_kind kind);

    /// The possible values, for completion. The command itself rejects others.
    command_option one_of(std::vector<std::string> choices);

  private:
    friend class command_line;
    friend class subcommand;
    struct parsed;

    explicit command_option(parsed& option) noexcept : option_(&option) {}

    parsed* option_;
};

/// A subcommand: a handle, valid as long as the command line.
class subcommand {
  public:
    /// Without the option an optional stays empty, and any other variable keeps its value. `Value`
    /// is std::string, int or std::uint64_t, or an optional or a vector of a string or number.
    template <class Value>
    command_option add_option(const char* name, Value& value, const char* description);

    /// Sets `given` to true if the flag is given.
    command_option add_flag(const char* name, bool& given, const char* description);

    /// Words that may follow the options and that the parser does not read, for --help.
    void end_usage(const char* words);

    /// The last lines of --help.
    void footer(const char* text);

    /// The function of the subcommand. It runs after all variables have their values.
    void action(std::function<void()> run);

  private:
    friend class command_group;
    friend class command_line;
    struct parsed;

    explicit subcommand(parsed& command) noexcept : command_(&command) {}

    parsed* command_;
};

/// A command that consists of commands: a handle, valid as long as the command line.
class command_group {
  public:
    subcommand add_subcommand(const char* name, const char* description);

    /// The last lines of --help.
    void footer(const char* text);

  private:
    friend class command_line;

    command_group(command_line& line, subcommand::parsed& group) noexcept
        : line_(&line), group_(&group) {}

    command_line* line_;
    subcommand::parsed* group_;
};

/// An option, a flag or an argument as it was added.
struct option_description {
    std::vector<std::string> names;  // "-o", "--output"; empty for an argument
    std::string description;
    bool takes_value = false;  // as the next word; an optional value needs "=VALUE"
    bool may_repeat = false;
    value_kind kind = value_kind::text;
    std::vector<std::string> choices;
};

struct subcommand_description {
    std::string name;
    std::string description;
    std::vector<option_description> options;
    std::vector<option_description> arguments;  // by position
    std::vector<subcommand_description> subcommands{};
};

/// Some lines of the overview under a heading.
struct overview_section {
    struct line {
        /// Names of commands that were added, or another text.
        std::vector<std::string> names;
        std::string description{};  // empty: that of the command
    };

    std::string heading;
    std::vector<line> lines;
};

/// The whole command line. One thread uses it and its handles.
class command_line {
  public:
    /// `version` is the text that --version prints.
    command_line(const char* name, const char* description, const char* version);
    ~command_line();
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;

    subcommand add_subcommand(const char* name, const char* description);

    /// Adds a command that help, completion and describe() do not show.
    subcommand add_hidden(const char* name);

    command_group add_group(const char* name, const char* description);

    /// The list that --help of the whole command line prints, in place of one with all commands.
    void overview(std::vector<overview_section> sections);

    /// All commands in the order in which they were added, with their --help option, except hidden
    /// ones.
    [[nodiscard]] std::vector<subcommand_description> describe() const;

    /// Reads the words after the program's name and runs the action of their command once, or
    /// prints what --help, --version or "help COMMAND ..." request. -j and --json may precede the
    /// command. Throws syntax_error, the exceptions of the action, and those of write_all().
    void run(std::vector<std::string> words);

  private:
    friend class command_group;
    struct parser;

    /// The commands are the words that name one, from the outermost on.
    void print_help(const std::vector<std::string>& commands) const;

    std::unique_ptr<parser> parser_;
};

}  // namespace elog
