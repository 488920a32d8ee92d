// SPDX-License-Identifier: MIT
//
// The reasons of losses in all formats.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "output/csv_writer.hpp"
#include "output/json_lines_writer.hpp"
#include "output/text_writer.hpp"

namespace {

constexpr std::uint32_t shared_ring = 9;

/// Seven overwritten and five lost events of a CPU, with damage; and losses of a provider.
std::vector<elog::loss_report> make_losses() {
    return {elog::trailing_loss(2, 12, 7, 3), elog::trailing_loss(shared_ring, 1),
            elog::provider_loss(0, 5, 2, 4)};
}

/// What a writer writes of all losses.
template <class Writer>
std::string text_of_losses() {
    const int file = ::memfd_create("losses", MFD_CLOEXEC);
    if (file < 0) {
        throw std::runtime_error("no memory file");
    }
    elog::provider_instance shop;
    shop.schema.name = "shop";
    Writer writer(file);
    for (const elog::loss_report& loss : make_losses()) {
        writer.write_loss(loss, {{0, shop}}, shared_ring);
    }
    writer.finish();
    std::string text(4096, '\0');
    const ssize_t size = ::pread(file, text.data(), text.size(), 0);
    ::close(file);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
}

TEST(loss_names, are_words_in_text) {
    EXPECT_EQ(text_of_losses<elog::text_writer>(), "-- lost 5 events on CPU 2: full --\n"
                                                   "-- overwritten 7 events on CPU 2 --\n"
                                                   "-- lost 3 events on CPU 2: damaged --\n"
                                                   "-- lost 1 events in the shared ring: full --\n"
                                                   "-- lost 2 events of shop: too_large --\n"
                                                   "-- lost 4 events of shop: busy --\n");
}

TEST(loss_names, are_words_in_json) {
    EXPECT_EQ(text_of_losses<elog::json_lines_writer>(),
              R"({"lost":5,"reason":"full","cpu":2})"
              "\n"
              R"({"overwritten":7,"cpu":2})"
              "\n"
              R"({"lost":3,"reason":"damaged","cpu":2})"
              "\n"
              R"({"lost":1,"reason":"full","cpu":null})"
              "\n"
              R"({"lost":2,"reason":"too_large","provider":"shop"})"
              "\n"
              R"({"lost":4,"reason":"busy","provider":"shop"})"
              "\n");
}

TEST(loss_names, are_words_in_tables) {
    const std::string rows = text_of_losses<elog::csv_writer>();
    EXPECT_EQ(rows.substr(rows.find('\n') + 1), ",2,,,,,,,5,full,,,,\n"
                                                ",2,,,,,,,,,7,,,\n"
                                                ",2,,,,,,,3,damaged,,,,\n"
                                                ",,,,,,,,1,full,,,,\n"
                                                ",,,,,shop,,,2,too_large,,,,\n"
                                                ",,,,,shop,,,4,busy,,,,\n");
}

}  // namespace
