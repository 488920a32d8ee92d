// SPDX-License-Identifier: MIT
//
// eventlog::session: an observed entity, one connection or one request, whose events can be picked
// out by its number.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <eventlog/detail/event_list.hpp>
#include <eventlog/provider.hpp>

namespace eventlog {

/// Begins with session_begin and ends, when it is destroyed, with session_end; the provider has
/// these two events as soon as one of its events is session-bound.
///
///     template <>
///     inline constexpr eventlog::event_traits eventlog::traits_of<loss>{.session_bound = true};
///
///     eventlog::session<tcp> connection(socket_cookie);
///     connection.emit(loss{17, 1448, "timeout"});
///     connection.emit_lazily([&] { return loss{next_sequence(), 1448, "timeout"}; });
///
/// The number is the application's choice; two sessions with one number are one to those who
/// listen. An object belongs to one thread at a time; emit and emit_lazily may be called from
/// several. All of it may be called from signal handlers and in the child of a fork().
///
/// That child has a copy of the object, which ends the session once more, as an event of the child,
/// if it is destroyed there. A child that does not go on with the session leaves by exec or _exit.
template <class Provider>
class session {
  public:
    /// Emits session_begin with that number.
    explicit session(std::uint64_t id) noexcept : id_(id) { announce(); }
    /// end().
    ~session() { end(); }
    /// It goes on in this object, and nothing is emitted. The other one keeps the number, and has
    /// ended without a word.
    session(session&& other) noexcept : id_(other.id_), open_(std::exchange(other.open_, false)) {}
    /// The same, after end() of what was here.
    session& operator=(session&& other) noexcept {
        if (this != &other) {
            end();
            id_ = other.id_;
            open_ = std::exchange(other.open_, false);
        }
        return *this;
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// The number that it was made with.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Whether anyone listens to this event, in this session or another: one load.
    template <class Event>
    [[nodiscard, gnu::always_inline]] static bool enabled() noexcept {
        return Provider::template enabled<Event>();
    }

    /// As Provider::emit, for an event that is session-bound.
    template <class Event>
    [[gnu::always_inline]] void emit(const Event& event) const noexcept {
        Provider::emit_in_session(id_, event);
    }

    /// As Provider::emit_lazily, for an event that is session-bound: it is made only when someone
    /// listens, in this session or another, whatever that takes.
    template <class Maker>
    requires std::is_invocable_v<Maker>
    [[gnu::always_inline]] void emit_lazily(Maker&& make) const
        noexcept(std::is_nothrow_invocable_v<Maker>) {
        Provider::emit_lazily_in_session(id_, std::forward<Maker>(make));
    }

    /// Says once more that it began: for on_dump.
    void announce() const noexcept { Provider::emit_in_session(id_, detail::session_begin{}); }

    /// Ends it before its time. Nothing if it has ended.
    void end() noexcept {
        if (std::exchange(open_, false)) {
            Provider::emit_in_session(id_, detail::session_end{});
        }
    }

  private:
    std::uint64_t id_;
    bool open_ = true;
};

}  // namespace eventlog
