// SPDX-License-Identifier: MIT
//
// elog verify: checks a recording.
#include <unistd.h>

#include <memory>
#include <string_view>

#include "base/output.hpp"
#include "cli/complaints.hpp"
#include "cli/reading_progress.hpp"
#include "commands.hpp"
#include "file/file_check.hpp"
#include "import/seekable_input.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

struct verify_arguments {
    std::string path;
    bool json = false;
};

/// Why a whole recording ended.
std::string_view reason_of(const file_check_result& found) {
    return !found.has_end                          ? ""
           : found.reason == end_reason::disk_full ? "disk_full"
           : found.reason == end_reason::too_large ? "too_large"
           : found.reason == end_reason::repaired  ? "repaired"
                                                   : "regular";
}

std::string as_text(const file_check_result& found, const std::string& path) {
    fmt::memory_buffer out;
    append_visible(out, path);
    const char* state = !found.damages.empty()                  ? "damaged"
                        : found.reason == end_reason::disk_full ? "whole, ended by a full disk"
                        : found.reason == end_reason::too_large
                            ? "whole, ended by the limit on the size of a file"
                        : found.has_end          ? "whole"
                        : found.is_being_written ? "whole so far, and still being written"
                                                 : "whole, but without an end: its recorder was "
                                                   "killed";
    const std::string overwritten =
        found.overwritten == 0 ? "" : fmt::format(" {} overwritten,", found.overwritten);
    append_format(out,
                  ": {}: {} blocks in {} bytes, {} records of {} bytes, {} lost,{} {} "
                  "providers, {} index\n",
                  state, found.blocks, found.size, found.records, found.record_bytes,
                  found.lost - found.overwritten, overwritten, found.providers,
                  found.has_index ? "an" : "no");
    if (found.unknown_blocks != 0) {
        append_visible(out, path);
        append_format(out, ": {} blocks of a newer version are skipped\n", found.unknown_blocks);
    }
    return fmt::to_string(out);
}

std::string as_json(const file_check_result& found, const std::string& path) {
    const char* state = !found.damages.empty()   ? "damaged"
                        : found.has_end          ? "whole"
                        : found.is_being_written ? "being_written"
                                                 : "without_end";
    return versioned_object()
        .add("file", path)
        .add("state", state)
        .add("file_bytes", found.size)
        .add("block_count", found.blocks)
        .add("events", found.records)
        .add("bytes", found.record_bytes)
        .add("lost", found.lost - found.overwritten)
        .add("overwritten", found.overwritten)
        .add("provider_count", found.providers)
        .add("has_index", found.has_index)
        .add("end_reason", reason_of(found))
        .add("unknown_block_count", found.unknown_blocks)
        .add("damages", found.damages)
        .line();
}

file_check_result check(const seekable_input& source) {
    const reading_progress progress({source.path()});
    return check_file(source.path());
}

void run_verify(const verify_arguments& arguments) {
    const seekable_input source(arguments.path);
    const std::string& path = source.name();
    const file_check_result found = check(source);
    print_complaints(path, found.damages);
    write_all(STDOUT_FILENO, arguments.json ? as_json(found, path) : as_text(found, path));
    if (!found.has_segment && found.records == 0) {
        throw user_error(
            "The file {} is damaged, and has no whole block of records. Nothing can be "
            "recovered; record again.",
            path);
    }
    if (!found.damages.empty()) {
        throw user_error(
            "The file {} is damaged. {}ecover what is whole with: elog repair FILE -o NEW", path,
            found.is_being_written ? "Wait for the recording to end, then r" : "R");
    }
}

}  // namespace

void add_verify(command_line& line) {
    subcommand command = line.add_subcommand("verify", "Check a recording");
    const auto arguments = std::make_shared<verify_arguments>();
    command
        .add_option("FILE", arguments->path,
                    "Recording made by elog record -o; - is standard input")
        .required()
        .completes_as(value_kind::file);
    command.add_flag("-j,--json", arguments->json, "Write a JSON object");
    command.footer("The exit status is 1 for a damaged file.\n"
                   "Examples:\n"
                   "  elog verify run.elog || elog repair run.elog -o sound.elog\n"
                   "  ssh host cat run.elog | elog verify - --json | jq .state");
    command.action([arguments] { run_verify(*arguments); });
}

}  // namespace elog
