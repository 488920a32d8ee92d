// SPDX-License-Identifier: MIT
//
// eventlog::session: an observed entity, such as a connection or a request, whose events a listener
// can select by its number.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <eventlog/detail/event_list.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/provider.hpp>

namespace eventlog {
inline namespace v0 {

/// Emits session_begin when it is constructed and session_end when it is destroyed. A provider has
/// these two events if one of its events is session-bound.
///
///     struct loss {
///         static constexpr eventlog::event_info info{.session_bound = true};
///         std::uint64_t sequence;
///         std::uint32_t bytes;
///         std::string_view why;
///     };
///     using tcp = eventlog::provider<"tcp", loss>;
///
///     eventlog::session<tcp> connection(socket_cookie);
///     connection.emit(loss{17, 1448, "timeout"});
///     connection.emit([&] { return loss{next_sequence(), 1448, "timeout"}; });
///
/// The application chooses the number; listeners cannot distinguish two sessions with the same
/// number. An object belongs to one thread at a time; emit may be called from several
/// threads. All functions may be called from signal handlers and in the child of a fork().
///
/// That child has a copy of the object. If the copy is destroyed, that is a second end of the
/// session, an event of the child. A child that does not continue the session must leave by exec or
/// _exit.
template <class Provider>
class session {
  public:
    /// Emits session_begin.
    [[nodiscard, gnu::visibility("hidden")]] explicit session(std::uint64_t id) noexcept : id_(id) {
        emit_current();
    }
    /// end().
    [[gnu::visibility("hidden")]] ~session() { end(); }
    /// The session continues in this object, without an event. The other object keeps the number
    /// and has ended, without an event.
    session(session&& other) noexcept : id_(other.id_), open_(std::exchange(other.open_, false)) {}
    /// Calls end(), then as the move constructor.
    [[gnu::visibility("hidden")]] session& operator=(session&& other) noexcept {
        if (this != &other) {
            end();
            id_ = other.id_;
            open_ = std::exchange(other.open_, false);
        }
        return *this;
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// The number of the session.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Whether the event has a listener, in this session or another: one load.
    template <class Event>
    [[nodiscard, gnu::always_inline]] static bool enabled() noexcept {
        return Provider::template enabled<Event>();
    }

    /// As Provider::emit, for a session-bound event, or for a callable that returns one. The
    /// callable is called only if there is a listener, in this session or another.
    template <class Argument>
    [[gnu::always_inline]] void emit(Argument&& argument) const
        noexcept(noexcept(detail::session_access::emit<Provider>(std::uint64_t{}, argument))) {
        detail::session_access::emit<Provider>(id_, std::forward<Argument>(argument));
    }

    /// As emit, for source files in which emit is a macro, as in Qt.
    template <class Argument>
    [[gnu::always_inline]] void emit_event(Argument&& argument) const
        noexcept(noexcept(std::declval<const session&>().emit(argument))) {
        emit(std::forward<Argument>(argument));
    }

    /// As Provider::time, for a session-bound event. The object keeps only the number: the session
    /// may be moved, or end, before the scope does.
    template <class Source>
    [[nodiscard, gnu::always_inline]] auto time(Source source) const noexcept {
        return timed_scope<Provider, Source, true>(std::move(source), id_);
    }

    /// Emits session_begin again, for the callback of on_new_listener.
    [[gnu::visibility("hidden")]] void emit_current() const noexcept {
        detail::session_access::emit<Provider>(id_, detail::session_begin{});
    }

    /// Ends the session before its destruction. Does nothing if it has ended.
    [[gnu::visibility("hidden")]] void end() noexcept {
        if (std::exchange(open_, false)) {
            detail::session_access::emit<Provider>(id_, detail::session_end{});
        }
    }

  private:
    std::uint64_t id_;
    bool open_ = true;
};

}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
