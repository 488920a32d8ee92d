// SPDX-License-Identifier: MIT
//
// elog schema gen: generates code that emits the events of a schema.
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/output_file.hpp"
#include "cli/whole_files.hpp"
#include "codegen/generate.hpp"
#include "commands.hpp"
#include "import/seekable_input.hpp"
#include "schema/schema_binary.hpp"
#include "schema/schema_text.hpp"

namespace elog {
namespace {

/// `output` is the requested file; empty for standard output.
using generator = std::string (*)(const located_schema& source, const std::string& output);

/// Most languages do not depend on the name of the file.
template <std::string (*Generate)(const located_schema&)>
std::string generate_for_any_file(const located_schema& source, const std::string& /*output*/) {
    return Generate(source);
}

/// A header of trace events includes itself by its name, which the preprocessor reads as tokens of
/// C.
std::string generate_for_kernel(const located_schema& source, const std::string& output) {
    if (output.empty() || output == "-") {
        return generate_kernel_c(source, "eventlog_" + source.schema.name);
    }
    const std::filesystem::path name = std::filesystem::path(output).filename();
    const std::string stem = name.stem().string();
    if (name.extension() != ".h" || !schema_format::is_identifier(stem.data(), stem.size())) {
        throw usage_error("A header for the kernel is called by letters, digits and _, and .h, as "
                          "in -o eventlog_{}.h; not {}.",
                          source.schema.name, name.string());
    }
    return generate_kernel_c(source, stem);
}

constexpr std::pair<std::string_view, generator> generators[] = {
    {"c", generate_for_any_file<generate_c>},
    {"c++", generate_for_any_file<generate_cpp>},
    {"kernel-c", generate_for_kernel},
    {"python", generate_for_any_file<generate_python>},
    {"rust", generate_for_any_file<generate_rust>},
};

struct gen_options {
    std::string language;
    std::string source;
    output_arguments output;
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
    throw usage_error("'{}' is no language. Use one of {}.", language, known);
}

void run_gen(const gen_options& options) {
    const generator generate = find_generator(options.language);
    const seekable_input input(options.source, pipe_copy::schemas);
    const std::string text = read_file_up_to(input.path(), schema_text_size_max + 1);
    located_schema source = parse_schema_text(input.name(), text);
    // Generated code is another place than that of the text.
    remove_sources(source.schema);
    write_text_output(options.output, generate(source, options.output.path));
}

}  // namespace

void add_schema_gen(command_group& schema) {
    subcommand command = schema.add_subcommand("gen", "Generate code from a schema");
    const auto options = std::make_shared<gen_options>();
    command
        .add_option("--lang LANGUAGE", options->language,
                    "Language of the code: c, c++, kernel-c, python or rust")
        .required()
        .one_of({"c", "c++", "kernel-c", "python", "rust"});
    command
        .add_option("FILE", options->source,
                    "Schema as text, see elog-schema(5); - is standard input")
        .required()
        .completes_as(value_kind::file);
    add_output_options(command, options->output, "Write to this file, not to standard output");
    command.footer("Examples:\n"
                   "  elog schema gen --lang c tcp.schema -o tcp_events.h\n"
                   "  elog schema gen --lang python tcp.schema -o tcp_events.py");
    command.action([options] { run_gen(*options); });
}

}  // namespace elog
