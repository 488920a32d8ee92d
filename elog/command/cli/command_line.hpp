// SPDX-License-Identifier: MIT
//
// What elog's command line may say: subcommands, and the options and arguments of each. The parser
// behind it is CLI11, which takes the compiler many seconds to read. So it stays in
// command_line.cpp.
//
// A name is "--long", "-s,--long", or "ARGUMENT" for what is told by its place. What is bound to an
// option is written when the command line is read, and must live until then. Each of these
// functions throws std::exception if what it is asked to add contradicts what is there already.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/usage_error.hpp"

namespace elog {

/// The words are none that the command line has. `what()` does not say where to look them up.
class syntax_error : public usage_error {
  public:
    using usage_error::usage_error;
};

/// What a value names: a shell offers those there are when it completes a command line.
enum class value_kind {
    text,  // anything; nothing is offered
    file,
    new_file,
    event,         // PROVIDER:EVENT of a running program, or a pattern of such
    process,       // a number
    process_name,  // of a process that can be listened to
    subscription,  // as it was called in elog start
    source,        // a running provider, or a file
};

/// An option, a flag or an argument of a subcommand: a handle, valid as long as the command line.
class command_option {
  public:
    command_option required();

    /// For a vector: what follows the first value belongs to something else. To give another one,
    /// the option is repeated.
    command_option one_value_each();

    /// Numbers outside are refused. Both limits are allowed.
    command_option range(int smallest, int largest);

    /// May stand without a value; that means `value`.
    command_option value_or(int value);

    /// What --help shows for the value, instead of its type.
    command_option value_name(const char* name);

    /// Both at once are refused.
    command_option excludes(command_option other);

    command_option completes_as(value_kind kind);

    /// What else there is to say than these is refused elsewhere.
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
    // An optional stays empty, and everything else keeps its value, if the option is not given.
    command_option add_option(const char* name, std::string& value, const char* description);
    command_option add_option(const char* name, std::optional<std::string>& value,
                              const char* description);
    command_option add_option(const char* name, std::vector<std::string>& values,
                              const char* description);
    command_option add_option(const char* name, int& value, const char* description);
    command_option add_option(const char* name, std::uint64_t& value, const char* description);
    command_option add_option(const char* name, std::optional<std::uint64_t>& value,
                              const char* description);
    command_option add_option(const char* name, std::vector<std::uint64_t>& values,
                              const char* description);

    /// True if it is given.
    command_option add_flag(const char* name, bool& given, const char* description);

    /// What --help ends with.
    void footer(const char* text);

    /// What the subcommand does. All options have their values then.
    void action(std::function<void()> run);

  private:
    friend class command_line;
    struct parsed;

    explicit subcommand(parsed& command) noexcept : command_(&command) {}

    template <class Value>
    command_option bind(const char* name, Value& value, const char* description);

    parsed* command_;
};

/// An option, a flag or an argument, as it has been added.
struct option_description {
    std::vector<std::string> names;  // "-o", "--output"; none of an argument
    std::string description;
    bool takes_value = false;  // as the next word; one that may stand without takes "=VALUE" only
    bool may_repeat = false;
    value_kind kind = value_kind::text;
    std::vector<std::string> choices;
};

struct subcommand_description {
    std::string name;
    std::string description;
    std::vector<option_description> options;
    std::vector<option_description> arguments;  // in their order
};

/// The whole command line. One thread uses it and its handles.
class command_line {
  public:
    /// `version` is what --version prints.
    command_line(const char* name, const char* description, const char* version);
    ~command_line();
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;

    subcommand add_subcommand(const char* name, const char* description);

    /// In the list of all that --help shows, these share a line with that description; each has
    /// been added. What --help says about one of them stays its own.
    void show_together(std::vector<std::string> names, std::string description);

    /// What --help ends with, if it is asked for without a subcommand.
    void footer(const char* text);

    /// All subcommands, in the order in which they were added, with the help that each has.
    [[nodiscard]] std::vector<subcommand_description> describe() const;

    /// Reads the words behind the program's name, and runs the action of the subcommand that they
    /// name, once. Prints what --help or --version ask for instead. Throws syntax_error, and what
    /// the action throws.
    void run(std::vector<std::string> words);

  private:
    struct parser;

    std::unique_ptr<parser> parser_;
};

}  // namespace elog
