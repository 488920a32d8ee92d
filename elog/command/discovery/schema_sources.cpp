// SPDX-License-Identifier: MIT
#include "discovery/schema_sources.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/whole_files.hpp"
#include "discovery/kernel_providers.hpp"
#include "discovery/program_schemas.hpp"
#include "file/file_format.hpp"
#include "file/file_reader.hpp"
#include "import/seekable_input.hpp"
#include "memory/running_providers.hpp"
#include "schema/schema_text.hpp"

namespace elog {
namespace {

std::vector<provider_schema> find_running(const std::string& name) {
    running_providers found = find_running_providers();
    for (running_provider& provider : find_kernel_providers()) {
        found.providers.push_back(std::move(provider));
    }
    print_complaints(found.complaints);
    std::vector<provider_schema> schemas;
    for (provider_instance& provider : found.providers) {
        if (name.empty() || provider.schema.name == name) {
            add_unique(schemas, std::move(provider.schema));
        }
    }
    if (schemas.empty() && !name.empty()) {
        throw user_error("No running program has a provider called {}; for a file of this name "
                         "write ./{}. See the providers with: elog list",
                         name, name);
    }
    return schemas;
}

std::vector<provider_schema> read_recording(const seekable_input& source) {
    file_reader file(source.path());
    file.read([](const merged_record&) {});  // finds damage
    std::vector<const provider_instance*> providers;
    for (const auto& [id, provider] : file.providers()) {
        providers.push_back(&provider);
    }
    std::sort(providers.begin(), providers.end(),
              [](const auto* a, const auto* b) { return a->id < b->id; });
    std::vector<provider_schema> schemas;
    for (const provider_instance* provider : providers) {
        add_unique(schemas, provider->schema);
    }
    print_complaints(source.name(), file.damages());
    return schemas;
}

template <class Magic>
bool begins_with_magic(std::string_view content, Magic magic) {
    return content.size() >= sizeof magic && std::memcmp(content.data(), &magic, sizeof magic) == 0;
}

std::vector<provider_schema> read_file(const std::string& name) {
    const seekable_input source(name, pipe_copy::schemas);
    // Only the beginning of a larger recording or program is needed here.
    const std::string content = read_file_up_to(source.path(), schema_text_size_max + 1);
    if (begins_with_magic(content, file_magic)) {
        return read_recording(source);
    }
    if (is_program(content)) {
        return read_program(source.path(), source.name());
    }
    if (!begins_with_magic(content, schema_format::magic)) {
        return {parse_schema_text(source.name(), content).schema};
    }
    const std::vector<std::uint8_t> bytes(content.begin(), content.end());
    provider_schema schema = provider_schema::parse(bytes);
    if (schema.binary.size() != bytes.size()) {
        throw user_error("{} has {} bytes after the schema. It is damaged; write it again with: "
                         "elog schema show --binary -o FILE",
                         source.name(), bytes.size() - schema.binary.size());
    }
    return {std::move(schema)};
}

}  // namespace

std::vector<provider_schema> find_schemas(const std::string& source) {
    const bool is_name =
        source.empty() || schema_format::is_identifier(source.data(), source.size());
    return is_name ? find_running(source) : read_file(source);
}

}  // namespace elog
