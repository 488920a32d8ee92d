// SPDX-License-Identifier: MIT
//
// Subcommands of elog with their options and arguments.
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
#include <vector>

#include "cli/usage_error.hpp"

namespace elog {

/// The words do not match the syntax of the command line. `what()` does not name the help.
class syntax_error : public usage_error {
  public:
    using usage_error::usage_error;
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

    /// The last lines of --help.
    void footer(const char* text);

    /// The function of the subcommand. It runs after all variables have their values.
    void action(std::function<void()> run);

  private:
    friend class command_line;
    struct parsed;

    explicit subcommand(parsed& command) noexcept : command_(&command) {}

    parsed* command_;
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

    /// Puts these subcommands, which were added, into one line of the overview with that
    /// description. Their own --help does not change.
    void show_together(std::vector<std::string> names, std::string description);

    /// The last lines of the overview.
    void footer(const char* text);

    /// All subcommands in the order in which they were added, with their --help option.
    [[nodiscard]] std::vector<subcommand_description> describe() const;

    /// Reads the words after the program's name and runs the action of their subcommand once, or
    /// prints what --help or --version request. Throws syntax_error and the exceptions of the
    /// action.
    void run(std::vector<std::string> words);

  private:
    struct parser;

    std::unique_ptr<parser> parser_;
};

}  // namespace elog
