// SPDX-License-Identifier: MIT
//
// Random scripts: they are rejected with a message, a place and a caret below a line of the text,
// or run over a random payload within bounds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/user_error.hpp"
#include "fuzz_target.hpp"
#include "script/script_mistake.hpp"
#include "script/script_runner.hpp"
#include "text_and_payload.hpp"

namespace {

constexpr std::string_view schema = R"(
provider p {
    enum state : i16 { closed = -1, open = 1 }
    event first info {
        b: bool  c: char  i2: i16  u8: u64  f8: f64  t: text  d: bytes  s: state  row: u16[3]
        took: i64 format duration  ip6: ip6  label: char[8] format characters  o: u32?  ot: text?
    }
    event second warn { t: text  u8: u32  stack: text }
    event third error {}
}
)";

const elog::provider_instance& provider() {
    static const elog::provider_instance made = make_provider(schema);
    return made;
}

void check_mistake(const elog::user_error& error, std::string_view text) {
    const elog::script_mistake found = elog::locate_mistake(error.what(), text, "f");
    check(found.message.starts_with("f:"));
    check(std::count(found.excerpt.begin(), found.excerpt.end(), '\n') == 2);
    check(found.excerpt.ends_with("^\n"));
}

class counted_output final : public elog::script_output {
  public:
    void print(const elog::merged_record& /*record*/, const elog::provider_map& /*providers*/,
               const elog::clock_converter& /*clock*/) override {}
    void write(std::string_view lines) override { check(lines.ends_with('\n')); }
    void show(const elog::script_result& /*result*/, const elog::aggregator& computed,
              const elog::latency_counts* /*unmatched*/) override {
        check(computed.groups() <= 4);
    }
    void request_snapshot(const std::string& /*reason*/) override {}
};

void run(const elog::script& wanted, const text_and_payload& input,
         const elog::clock_converter& clock) {
    counted_output output;
    elog::script_runner runner(wanted, {0, 4}, output);
    runner.add(provider());
    runner.check_patterns();
    runner.check(true);
    runner.begin();
    for (std::size_t i = 0; i < 8 * provider().schema.events.size(); ++i) {
        const std::vector<std::uint8_t> part = input.payload_without(i / 3);
        elog::merged_record record;
        record.record.event = static_cast<std::uint16_t>(i % 3);
        record.record.time = i * 1000;
        record.record.payload = part;
        runner.take(record, clock);
    }
    runner.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const text_and_payload input(data, size);
    elog::clock_converter clock;
    clock.add({1, 1, 1});
    try {
        const elog::script wanted = elog::script::parse(input.text);
        static_cast<void>(wanted.words());
        static_cast<void>(wanted.common_predicate());
        run(wanted, input, clock);
    } catch (const elog::user_error& error) {
        check_mistake(error, input.text);
    }
    return 0;
}
