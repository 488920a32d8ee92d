// SPDX-License-Identifier: MIT
//
// elog gen: code that emits a schema's events.
#include <functional>
#include <memory>
#include <utility>

#include "commands.hpp"
#include "generate.hpp"
#include "schema_text.hpp"
#include "whole_files.hpp"

namespace elog {
namespace {

using generator = std::string (*)(const located_schema&);

constexpr std::pair<std::string_view, generator> generators[] = {
    {"c", generate_c},
    {"c++", generate_cpp},
    {"python", generate_python},
    {"rust", generate_rust},
};

struct gen_options {
    std::string language;
    std::string source;
    std::string output;
};

generator find_generator(const std::string& language) {
    std::string known;
    for (const auto& [name, generate] : generators) {
        if (name == language) {
            return generate;
        }
        known += known.empty() ? "" : ", ";
        known += name;
    }
    throw usage_failure("There is no language {}; there are {}.", language, known);
}

void run_gen(const gen_options& options) {
    const generator generate = find_generator(options.language);
    const std::string text = read_file_up_to(options.source, schema_text_size_max + 1);
    write_whole_file(options.output, generate(parse_schema_text(options.source, text)));
}

}  // namespace

void add_gen(CLI::App& application) {
    CLI::App* command =
        application.add_subcommand("gen", "Make code that emits the events of a schema's text");
    const auto options = std::make_shared<gen_options>();
    command->add_option("--lang", options->language, "Language of the code: c, c++, python or rust")
        ->required();
    command->add_option("FILE", options->source, "Schema as text, see elog-schema(5)")->required();
    command->add_option("-o,--output", options->output, "Write to this file");
    command->footer("Example:\n  elog gen --lang c tcp.schema -o tcp_events.h");
    command->callback([options] { run_gen(*options); });
}

}  // namespace elog
