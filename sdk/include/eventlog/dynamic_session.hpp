// SPDX-License-Identifier: MIT
//
// eventlog::dynamic_session: a session of a provider that is defined while the program runs.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <eventlog/detail/dynamic_value.hpp>
#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.h>

namespace eventlog {

/// What eventlog::session is to a provider of structs: an observed entity, whose events can be
/// picked out by its number. It begins with the provider's first event of kind session_begin and
/// ends, when it is destroyed, with the first of kind session_end: EVENTLOG_SESSION_BEGIN_EVENT and
/// EVENTLOG_SESSION_END_EVENT in the definition.
///
///     eventlog::dynamic_session connection(net, 4711);
///     connection.emit(packet_lost, 1448, "timeout");
///
/// The number is the application's choice; two sessions with one number are one to those who
/// listen. The provider must outlive it. An object belongs to one thread at a time; enabled, emit
/// and emit_lazily may be called from several, and all of it from signal handlers and in the child
/// of a fork().
///
/// That child has a copy of the object, which ends the session once more, as an event of the child,
/// if it is destroyed there. A child that does not go on with the session leaves by exec or _exit.
class dynamic_session {
  public:
    /// After a mistake the session can be used all the same, and error() tells.
    dynamic_session(const dynamic_provider& provider, std::uint64_t id) noexcept
        : error_(eventlog_session_begin(&session_, provider.handle(), id)) {}
    /// end().
    ~dynamic_session() { static_cast<void>(end()); }
    /// It goes on in this object, and nothing is emitted. The other one keeps the number, and has
    /// ended without a word.
    dynamic_session(dynamic_session&& other) noexcept
        : session_(other.session_), error_(other.error_) {
        other.session_.open = false;
    }
    /// The same, after end() of what was here.
    dynamic_session& operator=(dynamic_session&& other) noexcept {
        if (this != &other) {
            static_cast<void>(end());
            session_ = other.session_;
            error_ = other.error_;
            other.session_.open = false;
        }
        return *this;
    }
    dynamic_session(const dynamic_session&) = delete;
    dynamic_session& operator=(const dynamic_session&) = delete;

    /// What was wrong when it began: the provider has no definition, or no event that begins a
    /// session. See eventlog_session_begin in eventlog.h.
    [[nodiscard]] eventlog_error error() const noexcept { return error_; }

    /// The number that it was made with.
    [[nodiscard]] std::uint64_t id() const noexcept { return session_.id; }

    /// Whether anyone listens to this event, in this session or another.
    [[nodiscard]] bool enabled(std::uint32_t event) const noexcept {
        return eventlog_session_enabled(&session_, event);
    }

    /// As dynamic_provider::emit, for an event that is session-bound: the values are those of the
    /// other fields.
    template <class... Values>
    eventlog_error emit(std::uint32_t event, const Values&... values) const noexcept {
        const eventlog_value list[] = {detail::dynamic_value(values)..., eventlog_absent()};
        return eventlog_session_emit(&session_, event, list, sizeof...(Values));
    }

    /// The same with the values made only when someone listens, in this session or another, in a
    /// std::tuple: as dynamic_provider::emit_lazily.
    template <std::invocable Maker>
    eventlog_error emit_lazily(std::uint32_t event, Maker&& make) const
        noexcept(std::is_nothrow_invocable_v<Maker>) {
        if (!enabled(event)) [[likely]] {
            return EVENTLOG_ERROR_NONE;
        }
        return detail::emit_tuple(std::forward<Maker>(make), [&](const auto&... values) noexcept {
            return emit(event, values...);
        });
    }

    /// Says once more that it began: for on_dump.
    eventlog_error announce() const noexcept { return eventlog_session_announce(&session_); }

    /// Ends it before its time. Nothing, and no error, if it has ended.
    eventlog_error end() noexcept { return eventlog_session_end(&session_); }

  private:
    eventlog_session session_{};
    eventlog_error error_;
};

}  // namespace eventlog
