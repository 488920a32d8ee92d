// SPDX-License-Identifier: MIT
//
// Random schema texts: they are rejected with a message and a place, or their binary form is
// accepted by each reader, their normal form is equivalent, and each generator accepts or rejects
// them with a message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/user_error.hpp"
#include "codegen/generate.hpp"
#include "codegen/generate_bpftrace.hpp"
#include "fuzz_target.hpp"
#include "schema/provider_schema.hpp"
#include "schema/schema_text.hpp"

namespace {

void check_refusal(const elog::user_error& error) {
    const std::string_view message = error.what();
    check(message.starts_with("f:") && message.ends_with('.'));
}

/// For a language that cannot express each schema.
template <class Generate>
void accept_or_reject(const Generate& generate) {
    try {
        generate();
    } catch (const elog::user_error& error) {
        check_refusal(error);
    }
}

void generate_all(const elog::located_schema& source) {
    static_cast<void>(elog::generate_c(source));
    static_cast<void>(elog::generate_python(source));
    static_cast<void>(elog::generate_rust(source));
    for (const char* const program : {"", "./program"}) {
        static_cast<void>(elog::generate_bpftrace(source.schema, program));
    }
    accept_or_reject([&] { static_cast<void>(elog::generate_cpp(source)); });
    accept_or_reject([&] { static_cast<void>(elog::generate_kernel_c(source, "header")); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // A separate string, so that a sanitizer detects reads beyond its end.
    const std::string text(data, data + size);
    elog::located_schema source;
    try {
        source = elog::parse_schema_text("f", text);
    } catch (const elog::user_error& error) {
        check_refusal(error);
        return 0;
    }
    const elog::provider_schema read = elog::provider_schema::parse(source.schema.binary);
    check(read.hash == source.schema.hash && read.events.size() == source.events.size());
    const std::string normal = elog::write_schema_text(read);
    check(normal.starts_with("provider "));
    check(elog::parse_schema_text("f", normal).schema.binary == source.schema.binary);
    check(elog::write_schema_text(elog::parse_schema_text("f", normal).schema) == normal);
    generate_all(source);
    return 0;
}
