// SPDX-License-Identifier: MIT
//
// elog schema: what providers can say, as text or in binary form.
#include <algorithm>
#include <cstring>
#include <memory>

#include "commands.hpp"
#include "file_damage.hpp"
#include "file_format.hpp"
#include "file_reader.hpp"
#include "running_providers.hpp"
#include "schema_text.hpp"
#include "tell.hpp"
#include "whole_files.hpp"

namespace elog {
namespace {

struct schema_options {
    std::string source;
    std::string output;
    bool binary = false;
};

/// The same schema in many processes is one.
void add_once(std::vector<provider_schema>& schemas, provider_schema added) {
    const bool known = std::any_of(schemas.begin(), schemas.end(), [&](const auto& schema) {
        return schema.binary == added.binary;
    });
    if (!known) {
        schemas.push_back(std::move(added));
    }
}

std::vector<provider_schema> find_running(const std::string& name) {
    running_providers found = find_running_providers();
    for (const std::string& complaint : found.complaints) {
        tell("elog: {}", complaint);
    }
    std::vector<provider_schema> schemas;
    for (provider_instance& provider : found.providers) {
        if (name.empty() || provider.schema.name == name) {
            add_once(schemas, std::move(provider.schema));
        }
    }
    if (schemas.empty() && !name.empty()) {
        throw failure("No running program has a provider called {}; for a file of this name write "
                      "./{}. See what there is with: elog list",
                      name, name);
    }
    if (schemas.empty()) {
        tell("No running program of yours offers events. Start one that uses eventlog.");
    }
    return schemas;
}

std::vector<provider_schema> read_recording(const std::string& path) {
    file_reader file(path);
    file.read([](const merged_record&) {});  // finds what is damaged
    std::vector<const provider_instance*> providers;
    for (const auto& [id, provider] : file.providers()) {
        providers.push_back(&provider);
    }
    std::sort(providers.begin(), providers.end(),
              [](const auto* a, const auto* b) { return a->id < b->id; });
    std::vector<provider_schema> schemas;
    for (const provider_instance* provider : providers) {
        add_once(schemas, provider->schema);
    }
    for (const std::string& damage : file.damages()) {
        tell("elog: {}: {}", path, damage);
    }
    return schemas;
}

template <class Magic>
bool begins_with(std::string_view content, Magic magic) {
    return content.size() >= sizeof magic && std::memcmp(content.data(), &magic, sizeof magic) == 0;
}

std::vector<provider_schema> read_file(const std::string& path) {
    // A recording may be larger than what is read here.
    const std::string content = read_file_up_to(path, schema_text_size_max + 1);
    if (begins_with(content, file_magic)) {
        return read_recording(path);
    }
    if (!begins_with(content, eventlog::schema_magic)) {
        return {parse_schema_text(path, content).schema};
    }
    const std::vector<std::uint8_t> bytes(content.begin(), content.end());
    provider_schema schema = provider_schema::parse(bytes);
    if (schema.binary.size() != bytes.size()) {
        throw failure("{} has {} bytes behind the schema. It is damaged; write it again with: elog "
                      "schema --binary -o FILE",
                      path, bytes.size() - schema.binary.size());
    }
    return {std::move(schema)};
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
        throw failure("There are {} schemas, and a binary file holds one. Name the provider, or "
                      "end all programs but those of one version.",
                      schemas.size());
    }
    const auto& binary = schemas.front().binary;
    return {binary.begin(), binary.end()};
}

void run_schema(const schema_options& options) {
    if (options.binary && options.output.empty()) {
        throw usage_failure("The binary form goes into a file: add -o FILE.");
    }
    const bool is_name = options.source.empty() ||
                         eventlog::is_identifier(options.source.data(), options.source.size());
    const std::vector<provider_schema> schemas =
        is_name ? find_running(options.source) : read_file(options.source);
    write_whole_file(options.output, options.binary ? as_binary(schemas) : as_text(schemas));
}

}  // namespace

void add_schema(command_line& line) {
    subcommand command =
        line.add_subcommand("schema", "Show what providers can say, as text or binary");
    const auto options = std::make_shared<schema_options>();
    command.add_option("SOURCE", options->source,
                       "A running provider's name, or a file: text, binary or a recording");
    command.add_option("-o,--output", options->output, "Write to this file");
    command.add_flag("--binary", options->binary, "Write the binary form");
    command.footer("Examples:\n"
                   "  elog schema shop                  of a running program\n"
                   "  elog schema ./shop.schema         check a text, in its normal form\n"
                   "  elog schema shop --binary -o shop.bin");
    command.action([options] { run_schema(*options); });
}

}  // namespace elog
