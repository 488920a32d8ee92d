// SPDX-License-Identifier: MIT
//
// Decoding the bytes of a terminal to keys.
#include "terminal/terminal_key_decoder.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using elog::key;
using keys = std::vector<key>;

keys decoded(std::string_view bytes) {
    elog::terminal_key_decoder decoder;
    return decoder.take(bytes);
}

TEST(terminal_key_decoder, decodes_single_bytes) {
    EXPECT_EQ(decoded("q \r\n"), (keys{key::quit, key::space, key::enter, key::enter}));
    EXPECT_EQ(decoded("kjhl"), (keys{key::up, key::down, key::left, key::right}));
    EXPECT_EQ(decoded("p"), keys{key::pause});
}

TEST(terminal_key_decoder, decodes_arrows_of_both_modes) {
    EXPECT_EQ(decoded("\x1b[A\x1b[B\x1b[C\x1b[D"),
              (keys{key::up, key::down, key::right, key::left}));
    EXPECT_EQ(decoded("\x1bOA\x1bOB"), (keys{key::up, key::down}));
}

TEST(terminal_key_decoder, decodes_numbered_keys) {
    EXPECT_EQ(decoded("\x1b[5~\x1b[6~\x1b[1~\x1b[4~"),
              (keys{key::page_up, key::page_down, key::home, key::end}));
}

TEST(terminal_key_decoder, waits_for_incomplete_sequence) {
    elog::terminal_key_decoder decoder;
    EXPECT_EQ(decoder.take("\x1b"), keys{});
    EXPECT_TRUE(decoder.has_pending_bytes());
    EXPECT_EQ(decoder.take("["), keys{});
    EXPECT_EQ(decoder.take("B"), keys{key::down});
    EXPECT_FALSE(decoder.has_pending_bytes());
}

TEST(terminal_key_decoder, decodes_lone_escape_byte_as_escape_key) {
    elog::terminal_key_decoder decoder;
    EXPECT_EQ(decoder.take("\x1b"), keys{});
    EXPECT_EQ(decoder.finish_sequence(), key::escape);
    EXPECT_FALSE(decoder.has_pending_bytes());
    EXPECT_EQ(decoder.finish_sequence(), std::nullopt);
}

TEST(terminal_key_decoder, decodes_escape_before_key_as_escape_key) {
    EXPECT_EQ(decoded("\x1b\x1b[A"), (keys{key::escape, key::up}));
}

TEST(terminal_key_decoder, drops_unfinished_sequence) {
    elog::terminal_key_decoder decoder;
    EXPECT_EQ(decoder.take("\x1b[5"), keys{});
    EXPECT_EQ(decoder.finish_sequence(), std::nullopt);
    EXPECT_EQ(decoder.take("q"), keys{key::quit});
}

TEST(terminal_key_decoder, ignores_unknown_sequences) {
    EXPECT_EQ(decoded("xy\x03\xff\x1b[24~\x1b[1;5A\x1bqq"), keys{key::quit});
}

TEST(terminal_key_decoder, limits_sequence_length) {
    elog::terminal_key_decoder decoder;
    EXPECT_EQ(decoder.take("\x1b[" + std::string(100, '1')), keys{});
    EXPECT_FALSE(decoder.has_pending_bytes());
    EXPECT_EQ(decoder.take("q"), keys{key::quit});
}

}  // namespace
