// SPDX-License-Identifier: MIT
//
// The public functions that define providers at run time.
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include <eventlog/eventlog.h>
#include <eventlog/schema_format.hpp>

#include "platform/signal_guard.hpp"
#include "provider/definition.hpp"
#include "provider/registered_provider.hpp"

namespace eventlog::core {
namespace {

/// The handle returned on failure: its events never have listeners.
constinit eventlog_provider null_provider;

// The constants of C equal those of C++.
static_assert(EVENTLOG_LEVEL_ERROR == static_cast<int>(level::error));
static_assert(EVENTLOG_LEVEL_WARN == static_cast<int>(level::warn));
static_assert(EVENTLOG_LEVEL_INFO == static_cast<int>(level::info));
static_assert(EVENTLOG_LEVEL_VERBOSE == static_cast<int>(level::verbose));
static_assert(EVENTLOG_LEVEL_TRACE == static_cast<int>(level::trace));
static_assert(EVENTLOG_KIND_INSTANT == static_cast<int>(kind::instant));
static_assert(EVENTLOG_KIND_BEGIN == static_cast<int>(kind::begin));
static_assert(EVENTLOG_KIND_END == static_cast<int>(kind::end));
static_assert(EVENTLOG_KIND_GAUGE == static_cast<int>(kind::gauge));
static_assert(EVENTLOG_KIND_SESSION_BEGIN == static_cast<int>(kind::session_begin));
static_assert(EVENTLOG_KIND_SESSION_END == static_cast<int>(kind::session_end));
static_assert(EVENTLOG_KIND_STATE_COMPLETE == static_cast<int>(kind::state_complete));
static_assert(EVENTLOG_TYPE_BOOLEAN == static_cast<int>(field_type::boolean));
static_assert(EVENTLOG_TYPE_CHARACTER == static_cast<int>(field_type::character));
static_assert(EVENTLOG_TYPE_SIGNED_8 == static_cast<int>(field_type::signed_8));
static_assert(EVENTLOG_TYPE_SIGNED_16 == static_cast<int>(field_type::signed_16));
static_assert(EVENTLOG_TYPE_SIGNED_32 == static_cast<int>(field_type::signed_32));
static_assert(EVENTLOG_TYPE_SIGNED_64 == static_cast<int>(field_type::signed_64));
static_assert(EVENTLOG_TYPE_UNSIGNED_8 == static_cast<int>(field_type::unsigned_8));
static_assert(EVENTLOG_TYPE_UNSIGNED_16 == static_cast<int>(field_type::unsigned_16));
static_assert(EVENTLOG_TYPE_UNSIGNED_32 == static_cast<int>(field_type::unsigned_32));
static_assert(EVENTLOG_TYPE_UNSIGNED_64 == static_cast<int>(field_type::unsigned_64));
static_assert(EVENTLOG_TYPE_FLOAT_32 == static_cast<int>(field_type::float_32));
static_assert(EVENTLOG_TYPE_FLOAT_64 == static_cast<int>(field_type::float_64));
static_assert(EVENTLOG_TYPE_TEXT == static_cast<int>(field_type::text));
static_assert(EVENTLOG_TYPE_BYTES == static_cast<int>(field_type::bytes));
static_assert(EVENTLOG_FORMAT_PLAIN == static_cast<int>(format::plain));
static_assert(EVENTLOG_FORMAT_DECIMAL == static_cast<int>(format::decimal));
static_assert(EVENTLOG_FORMAT_HEXADECIMAL == static_cast<int>(format::hexadecimal));
static_assert(EVENTLOG_FORMAT_IP_ADDRESS == static_cast<int>(format::ip_address));
static_assert(EVENTLOG_FORMAT_MAC_ADDRESS == static_cast<int>(format::mac_address));
static_assert(EVENTLOG_FORMAT_ERROR_NUMBER == static_cast<int>(format::error_number));
static_assert(EVENTLOG_FORMAT_DURATION == static_cast<int>(format::duration));
static_assert(EVENTLOG_FORMAT_REALTIME == static_cast<int>(format::realtime));
static_assert(EVENTLOG_FORMAT_MONOTONIC == static_cast<int>(format::monotonic));
static_assert(EVENTLOG_FORMAT_BYTE_SIZE == static_cast<int>(format::byte_size));
static_assert(EVENTLOG_FORMAT_CHARACTERS == static_cast<int>(format::characters));

// Programs are compiled with these layouts: a struct that changes needs another function.
static_assert(sizeof(eventlog_part) == 16 && offsetof(eventlog_part, size) == 8);
static_assert(sizeof(eventlog_site) == 40 && offsetof(eventlog_site, gate) == 32);
static_assert(sizeof(eventlog_value) == 24 && offsetof(eventlog_value, as) == 16);
static_assert(sizeof(eventlog_session) == 32 && offsetof(eventlog_session, open) == 16);
static_assert(sizeof(eventlog_timed_scope) == 48 && offsetof(eventlog_timed_scope, event) == 32);

/// nullptr on an error.
eventlog_provider* define(const eventlog_definition& definition, definition_error& error) noexcept {
    const built_definition* built = nullptr;
    if (check_definition(definition, error) != EVENTLOG_ERROR_NONE ||
        build_definition(definition, built, error) != EVENTLOG_ERROR_NONE) {
        return nullptr;
    }
    const eventlog_raw_provider understood{sizeof understood,    definition.event_count, nullptr, 0,
                                           built->schema.data(), built->schema.size()};
    eventlog_provider* provider = register_provider(understood, built);
    if (provider == nullptr) {
        std::free(const_cast<built_definition*>(built));
        error.set_no_memory(definition.name);
    }
    return provider;
}

}  // namespace
}  // namespace eventlog::core

eventlog_error eventlog_provider_create(const eventlog_definition* definition,
                                        eventlog_provider** provider, char* text,
                                        std::size_t text_size) {
    using namespace eventlog::core;
    const errno_guard keeps_errno;
    definition_error error;
    eventlog_provider* defined = nullptr;
    if (provider == nullptr) {
        error.set(EVENTLOG_ERROR_ARGUMENT,
                  "There is no place for the handle. Hand over a pointer to one.");
    } else {
        if (definition == nullptr) {
            error.set(EVENTLOG_ERROR_ARGUMENT, "There is no definition. Hand one over.");
        } else {
            defined = define(*definition, error);
        }
        *provider = defined == nullptr ? &null_provider : defined;
    }
    error.copy_to(text, text_size);
    return error.code();
}

const char* eventlog_error_text(eventlog_error error) {
    static constexpr const char* texts[] = {
        "There is no error.",
        "A pointer is NULL that must not be. Hand over what it is to point to.",
        "The sizes in a definition are not those of its structs. Begin it with "
        "EVENTLOG_DEFINITION_SIZES.",
        "A name does not have 1 to 63 letters, digits and _, and no digit first. Rename "
        "what has it.",
        "A name, the bit of a keyword or a value of an enumeration is there twice. Give "
        "each its own.",
        "A definition has too many of something, or no events. Split it in two, or give "
        "it one.",
        "A description, meaning or unit is longer than 255 bytes. Shorten it.",
        "There is no such type, format, level, kind or keyword. Take one that there is.",
        "Two things in a definition do not go together. Change one of them.",
        "An event is larger than a record, or a provider larger than a schema can be. "
        "Split it in two.",
        "There is no memory. Free some.",
        "The handle has no definition, or not any more. Define the provider first.",
        "The provider has no such event. Hand over its position in the definition.",
        "There is not one value for each field, or for each element of an array. Hand "
        "over as many as the definition says.",
        "A value has another type than its field. Hand over one of the field's type.",
        "A number does not fit into its field. Define a wider one.",
        "A field that is not optional has no value. Hand one over.",
        "The event does not belong to a session, and the call does, or the reverse. Use the "
        "functions of sessions for session_bound events only.",
        "A text is not a pattern for events. Write PROVIDER:EVENT with letters, digits, _, * and "
        "?, then, if need be, @LEVEL or @NUMBER (1 to 5), and /KEYWORD,KEYWORD or /0xMASK.",
        "EVENTLOG=off is set in the environment, so that there are no events. Unset it.",
    };
    static_assert(std::size(texts) == EVENTLOG_ERROR_OFF + 1);
    const auto index = static_cast<std::size_t>(error);
    return index < std::size(texts) ? texts[index]
                                    : "This error is not known here. Update libeventlog.";
}
