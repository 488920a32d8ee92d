// SPDX-License-Identifier: MIT
//
// elog schema show: shows schemas as text, JSON or in binary form.
#include <unistd.h>

#include <memory>
#include <utility>

#include "base/user_error.hpp"
#include "cli/output_file.hpp"
#include "cli/pager.hpp"
#include "commands.hpp"
#include "discovery/catalogue_output.hpp"
#include "discovery/schema_sources.hpp"
#include "schema/schema_binary.hpp"
#include "schema/schema_text.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

struct schema_options {
    std::string source;
    output_arguments output;
    bool binary = false;
    bool json = false;
    bool no_source = false;
};

/// Those of programs that differ in the lines of their declarations are equal afterwards.
std::vector<provider_schema> without_sources(std::vector<provider_schema> schemas) {
    std::vector<provider_schema> changed;
    for (provider_schema& schema : schemas) {
        remove_sources(schema);
        add_unique(changed, std::move(schema));
    }
    return changed;
}

/// Writing a schema again keeps only what this version knows; a text and JSON mention the rest.
void note_unknown_attributes(const std::vector<provider_schema>& schemas) {
    for (const provider_schema& schema : schemas) {
        if (schema.unknown_attributes != 0) {
            print_note("The schema of {} has attributes that only a newer version of elog knows "
                       "({}): they are left out, too. Use that version to keep them.",
                       schema.name, schema.unknown_attributes);
        }
    }
}

std::string as_text(const std::vector<provider_schema>& schemas) {
    std::string all;
    for (const provider_schema& schema : schemas) {
        if (schemas.size() > 1) {
            all += fmt::format("{}# {} with hash 0x{:016x}\n", all.empty() ? "" : "\n", schema.name,
                               schema.hash);
        }
        all += write_schema_text(schema);
    }
    return all;
}

std::string as_binary(const std::vector<provider_schema>& schemas) {
    if (schemas.size() != 1) {
        throw user_error("There are {} schemas, and a binary file has one. Name the provider, or "
                         "end all programs except those of one version.",
                         schemas.size());
    }
    const auto& binary = schemas.front().binary;
    return {binary.begin(), binary.end()};
}

std::string content_of(const std::vector<provider_schema>& schemas, const schema_options& options) {
    if (options.binary) {
        return as_binary(schemas);
    }
    return options.json ? schemas_as_json(schemas) : as_text(schemas);
}

void run_schema(const schema_options& options) {
    if (options.binary && options.output.path.empty()) {
        throw usage_error("The binary form is written to a file: add -o FILE, or -o - for a pipe.");
    }
    if (options.binary && options.output.is_standard_output() && ::isatty(STDOUT_FILENO) == 1) {
        throw user_error("Standard output is a terminal, which cannot show the binary form. "
                         "Redirect it to a command or file, or give a name with -o.");
    }
    std::vector<provider_schema> schemas = find_schemas(options.source);
    if (options.no_source) {
        schemas = without_sources(std::move(schemas));
        if (options.binary) {
            note_unknown_attributes(schemas);
        }
    }
    if (schemas.empty() && options.source.empty()) {
        print_note("No running program of yours offers events. Start one that uses eventlog.");
    }
    if (options.output.path.empty()) {
        start_pager();
    }
    write_text_output(options.output, content_of(schemas, options));
}

}  // namespace

void add_schema_show(command_group& schema) {
    subcommand command =
        schema.add_subcommand("show", "Show schemas of providers, as text or binary");
    const auto options = std::make_shared<schema_options>();
    command
        .add_option("SOURCE", options->source,
                    "Provider, schema, recording, program or library; - is standard input")
        .completes_as(value_kind::source);
    add_output_options(command, options->output, "Write to this file, not to standard output");
    const command_option binary =
        command.add_flag("--binary", options->binary, "Write the binary form");
    command.add_flag("-j,--json", options->json, "Write a JSON object").excludes(binary);
    command.add_flag("--no-source", options->no_source,
                     "Leave out the lines of programs that declare events");
    command.footer("Examples:\n"
                   "  elog schema show shop                  of a running program\n"
                   "  elog schema show ./shop.schema         check a text, in its normal form\n"
                   "  elog schema show ./order_service       of a program, whether it runs or not\n"
                   "  elog schema show shop --binary -o shop.bin");
    command.action([options] { run_schema(*options); });
}

}  // namespace elog
