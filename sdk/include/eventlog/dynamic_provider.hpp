// SPDX-License-Identifier: MIT
//
// eventlog::dynamic_provider: in C++, events that are known at run time only. eventlog.h has the
// structs of the definition, which dynamic_definition.hpp builds.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/detail/dynamic_value.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/dynamic_timed_scope.hpp>
#include <eventlog/eventlog.h>
#include <eventlog/status.hpp>

namespace eventlog {
inline namespace v0 {

/// A provider that is defined at run time and withdrawn when the object is destroyed:
///
///     eventlog::dynamic_provider shop(definition);
///     if (shop.error() != EVENTLOG_ERROR_NONE) { std::cerr << shop.error_text(); }
///     shop.emit(order_placed, order, customer, std::nullopt);
///     shop.emit(order_placed, [&] { return std::tuple(order, customer, count_items()); });
///
/// enabled and emit: any thread, any signal handler, any child of a fork(). The object
/// must outlive all code that emits through it; see eventlog_provider_destroy in definition.h.
/// dynamic_session.hpp has its sessions.
class dynamic_provider {
  public:
    /// After an error in the definition the provider never has a listener; error() returns the
    /// error.
    [[nodiscard]] explicit dynamic_provider(const eventlog_definition& definition) noexcept
        : error_(eventlog_provider_create(&definition, &handle_, text_.data(), text_.size())) {}
    /// Calls eventlog_provider_destroy; the same rules apply to threads that still emit.
    ~dynamic_provider() { eventlog_provider_destroy(handle_); }
    dynamic_provider(const dynamic_provider&) = delete;
    dynamic_provider& operator=(const dynamic_provider&) = delete;

    /// The result of eventlog_provider_create. Never changes.
    [[nodiscard]] eventlog_error error() const noexcept { return error_; }
    /// The error as a sentence; empty if there is none. Valid for the lifetime of the object.
    [[nodiscard]] std::string_view error_text() const noexcept { return text_.data(); }

    /// Returns the provider's status and counters. Not for signal handlers.
    [[nodiscard]] provider_status status() const noexcept { return detail::status_of(handle_); }

    /// Whether the event has a listener.
    [[nodiscard]] bool enabled(std::uint32_t event) const noexcept {
        return eventlog_enabled(handle_, event);
    }

    /// Emits an event with eventlog_emit, with its checks and errors. Values are numbers,
    /// bool, enumerations, texts, spans of std::byte or std::uint8_t, std::array of numbers,
    /// std::optional of these, std::nullopt.
    template <class... Values>
    eventlog_error emit(std::uint32_t event, const Values&... values) const noexcept {
        // One additional element, because an event may have no fields.
        const eventlog_value list[] = {detail::dynamic_value(values)..., eventlog_absent()};
        return eventlog_emit(handle_, event, list, sizeof...(Values));
    }

    /// Emits the values that `make` returns in a std::tuple. `make` is called, and values
    /// are checked, only if there is a listener.
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

    /// Returns an object that emits a timed event with the time until its end; see
    /// dynamic_timed_scope. `values` are those of the fields behind the duration, or one callable
    /// that returns them in a std::tuple and is called at the end.
    template <class... Values>
    [[nodiscard]] auto time(std::uint32_t event, Values... values) const noexcept {
        eventlog_timed_scope begun{};
        eventlog_timed_scope_begin(&begun, handle_, event);
        return detail::make_timed_scope(begun, std::move(values)...);
    }

    /// Sets the callback that runs when a listener appears or disappears, with the contract of
    /// provider::on_listeners_changed. Withdrawing the provider removes the callback, but another
    /// thread may still run it. To exclude that, remove it before and check the result.
    [[gnu::visibility("hidden")]] bool on_listeners_changed(
        void (*callback)(unsigned listeners)) noexcept {
        return on_listeners_changed(callback == nullptr ? nullptr : call_on_listeners_changed,
                                    reinterpret_cast<void*>(callback));
    }
    /// With a context, as eventlog_provider_on_listeners_changed.
    bool on_listeners_changed(void (*callback)(void* context, unsigned listeners),
                              void* context) noexcept {
        return eventlog_provider_on_listeners_changed(handle_, callback, context);
    }

    /// Sets the callback that runs for each new subscription, with the contract of
    /// provider::on_new_listener. A state_complete event follows if the definition has one
    /// (EVENTLOG_STATE_COMPLETE_EVENT).
    [[gnu::visibility("hidden")]] bool on_new_listener(void (*callback)()) noexcept {
        return on_new_listener(callback == nullptr ? nullptr : call_on_new_listener,
                               reinterpret_cast<void*>(callback));
    }
    /// With a context, as eventlog_provider_on_new_listener.
    bool on_new_listener(void (*callback)(void* context), void* context) noexcept {
        return eventlog_provider_on_new_listener(handle_, callback, context);
    }

    /// Runs callbacks that are due, for applications that emit rarely.
    void run_callbacks() const noexcept { eventlog_provider_run_callbacks(handle_); }

    /// The handle for the functions of eventlog.h, valid for the lifetime of the object, also after
    /// an error in the definition.
    [[nodiscard]] eventlog_provider* handle() const noexcept { return handle_; }

  private:
    // POSIX allows the conversion of a function's address to that of an object, and back. Hidden,
    // so that the library's pointer leads to the object that set the callback.
    [[gnu::visibility("hidden")]] static void call_on_listeners_changed(void* callback,
                                                                        unsigned listeners) {
        reinterpret_cast<void (*)(unsigned)>(callback)(listeners);
    }
    [[gnu::visibility("hidden")]] static void call_on_new_listener(void* callback) {
        reinterpret_cast<void (*)()>(callback)();
    }

    eventlog_provider* handle_ = nullptr;
    std::array<char, EVENTLOG_TEXT_SIZE> text_{};
    eventlog_error error_;
};

}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
