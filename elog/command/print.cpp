// SPDX-License-Identifier: MIT
//
// elog print: an .elog file as text.
#include <unistd.h>

#include <memory>

#include "commands.hpp"
#include "file_damage.hpp"
#include "file_reader.hpp"
#include "text_writer.hpp"

namespace elog {
namespace {

void run_print(const std::string& path) {
    file_reader file(path);
    text_writer writer(STDOUT_FILENO);
    file.read([&](const merged_record& record) {
        writer.write(record, file.providers(), file.clock(), file.shared_ring());
    });
    for (const loss_block& loss : file.losses()) {
        writer.write_loss(loss, file.providers(), file.shared_ring());
    }
    writer.write_skipped();
    writer.flush();
    complain_about_damage(file, path);
}

}  // namespace

void add_print(CLI::App& application) {
    CLI::App* command = application.add_subcommand("print", "Print a recording as text");
    const auto path = std::make_shared<std::string>();
    command->add_option("FILE", *path, "Recording made by elog record -o")->required();
    command->footer("Example:\n  elog print run.elog | grep order=17");
    command->callback([path] { run_print(*path); });
}

}  // namespace elog
