// SPDX-License-Identifier: MIT
//
// eventlog::dynamic_session: a session of a provider that is defined at run time.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <eventlog/detail/dynamic_value.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.h>

namespace eventlog {
inline namespace v0 {

/// The counterpart of eventlog::session for providers that are defined at run time: an observed
/// entity whose events a listener can select by its number. Emits the provider's first event of
/// kind session_begin when it is constructed, and the first of kind session_end when it is
/// destroyed (EVENTLOG_SESSION_BEGIN_EVENT and EVENTLOG_SESSION_END_EVENT in the definition).
///
///     eventlog::dynamic_session connection(net, 4711);
///     connection.emit(packet_lost, 1448, "timeout");
///
/// The application chooses the number; listeners cannot distinguish two sessions with the same
/// number. The provider must outlive the session. An object belongs to one thread at a time;
/// enabled and emit may be called from several threads. All functions may be called
/// from signal handlers and in the child of a fork().
///
/// That child has a copy of the object. If the copy is destroyed, that is a second end of the
/// session, an event of the child. A child that does not continue the session must leave by exec or
/// _exit.
class dynamic_session {
  public:
    /// After an error the session is usable all the same; error() returns it.
    [[nodiscard]] dynamic_session(const dynamic_provider& provider, std::uint64_t id) noexcept
        : error_(eventlog_session_begin(&session_, provider.handle(), id)) {}
    /// end().
    ~dynamic_session() { static_cast<void>(end()); }
    /// The session continues in this object, without an event. The other object keeps the number
    /// and has ended, without an event.
    dynamic_session(dynamic_session&& other) noexcept
        : session_(other.session_), error_(other.error_) {
        other.session_.open = false;
    }
    /// Calls end(), then as the move constructor.
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

    /// The error of eventlog_session_begin (session.h): the provider has no definition, or no event
    /// that begins a session.
    [[nodiscard]] eventlog_error error() const noexcept { return error_; }

    /// The number of the session.
    [[nodiscard]] std::uint64_t id() const noexcept { return session_.id; }

    /// Whether the event has a listener, in this session or another.
    [[nodiscard]] bool enabled(std::uint32_t event) const noexcept {
        return eventlog_session_enabled(&session_, event);
    }

    /// As dynamic_provider::emit, for a session-bound event; the values are those of the fields
    /// behind the session.
    template <class... Values>
    eventlog_error emit(std::uint32_t event, const Values&... values) const noexcept {
        const eventlog_value list[] = {detail::dynamic_value(values)..., eventlog_absent()};
        return eventlog_session_emit(&session_, event, list, sizeof...(Values));
    }

    /// As dynamic_provider::emit, for a session-bound event.
    template <std::invocable Maker>
    eventlog_error emit(std::uint32_t event, Maker&& make) const
        noexcept(std::is_nothrow_invocable_v<Maker>) {
        if (!enabled(event)) [[likely]] {
            return EVENTLOG_ERROR_NONE;
        }
        return detail::emit_tuple(std::forward<Maker>(make), [&](const auto&... values) noexcept {
            return emit(event, values...);
        });
    }

    /// As dynamic_provider::time, for a session-bound event. The object keeps only the number: the
    /// session may be moved, or end, before the scope does.
    template <class... Values>
    [[nodiscard]] auto time(std::uint32_t event, Values... values) const noexcept {
        eventlog_timed_scope begun{};
        eventlog_timed_scope_begin_in_session(&begun, &session_, event);
        return detail::make_timed_scope(begun, std::move(values)...);
    }

    /// Emits the begin of the session again, for the callback of on_new_listener.
    eventlog_error emit_current() const noexcept {
        return eventlog_session_emit_current(&session_);
    }

    /// Ends the session before its destruction. Does nothing, without an error, if it has ended.
    eventlog_error end() noexcept { return eventlog_session_end(&session_); }

  private:
    eventlog_session session_{};
    eventlog_error error_;
};

}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
