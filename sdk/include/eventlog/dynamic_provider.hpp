// SPDX-License-Identifier: MIT
//
// eventlog::dynamic_provider: events that are known at run time only, in C++. The definition is
// that of eventlog.h.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/detail/dynamic_value.hpp>
#include <eventlog/eventlog.h>
#include <eventlog/status.hpp>

namespace eventlog {

/// A provider that is defined while the program runs, and withdrawn when this object goes:
///
///     eventlog::dynamic_provider shop(definition);
///     if (shop.error() != EVENTLOG_ERROR_NONE) { std::cerr << shop.error_text(); }
///     shop.emit(order_placed, order, customer, std::nullopt);
///     shop.emit_lazily(order_placed, [&] { return std::tuple(order, customer, count_items()); });
///
/// enabled, emit and emit_lazily: any thread, any signal handler, any child of a fork(). The object
/// must outlive what emits from it; see eventlog_provider_unregister in eventlog.h. Its sessions
/// are those of dynamic_session.hpp.
class dynamic_provider {
  public:
    /// After a mistake in the definition nobody ever hears the provider, and error() tells.
    explicit dynamic_provider(const eventlog_definition& definition) noexcept
        : error_(eventlog_define_provider(&definition, &handle_, text_.data(), text_.size())) {}
    /// eventlog_provider_unregister, with what that says about threads that still emit.
    ~dynamic_provider() { eventlog_provider_unregister(handle_); }
    dynamic_provider(const dynamic_provider&) = delete;
    dynamic_provider& operator=(const dynamic_provider&) = delete;

    /// What is wrong with the definition: eventlog_define_provider's answer. Never changes.
    [[nodiscard]] eventlog_error error() const noexcept { return error_; }
    /// A sentence, empty if there is no error. Lives as long as the object.
    [[nodiscard]] std::string_view error_text() const noexcept { return text_.data(); }

    /// What became of publishing the provider, and of its events. Not for signal handlers.
    [[nodiscard]] provider_status status() const noexcept { return detail::status_of(handle_); }

    /// Whether anyone listens to this event right now.
    [[nodiscard]] bool enabled(std::uint32_t event) const noexcept {
        return eventlog_enabled(handle_, event);
    }

    /// Emits an event: eventlog_emit_values, with its checks and errors. Values are numbers, bool,
    /// enumerations, texts, spans of std::byte or std::uint8_t, std::array of numbers,
    /// std::optional of these, std::nullopt.
    template <class... Values>
    eventlog_error emit(std::uint32_t event, const Values&... values) const noexcept {
        // One more, because an event may be without fields.
        const eventlog_value list[] = {detail::dynamic_value(values)..., eventlog_absent()};
        return eventlog_emit_values(handle_, event, list, sizeof...(Values));
    }

    /// The same with the values made only when someone listens, whatever that takes: `make` returns
    /// them in a std::tuple. While nobody listens nothing is checked, either.
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

    /// Has `callback` called when somebody began or stopped to listen: provider::on_enable, whose
    /// contract it shares. What is taken back by withdrawing the provider may still run in another
    /// thread; to know that none does, take it back before, and look at what is returned.
    [[gnu::visibility("hidden")]] bool on_enable(void (*callback)(unsigned listeners)) noexcept {
        return on_enable(callback == nullptr ? nullptr : call_on_enable,
                         reinterpret_cast<void*>(callback));
    }
    /// The same with a context, as eventlog_provider_on_change has it.
    bool on_enable(void (*callback)(void* context, unsigned listeners), void* context) noexcept {
        return eventlog_provider_on_change(handle_, callback, context);
    }

    /// Has `callback` called for each new subscription, to tell it the present state:
    /// provider::on_dump, whose contract it shares. A dump_complete event follows if the definition
    /// has one: EVENTLOG_DUMP_COMPLETE_EVENT.
    [[gnu::visibility("hidden")]] bool on_dump(void (*callback)()) noexcept {
        return on_dump(callback == nullptr ? nullptr : call_on_dump,
                       reinterpret_cast<void*>(callback));
    }
    /// The same with a context, as eventlog_provider_on_dump has it.
    bool on_dump(void (*callback)(void* context), void* context) noexcept {
        return eventlog_provider_on_dump(handle_, callback, context);
    }

    /// Runs callbacks that are due: for applications that emit seldom.
    void poll() const noexcept { eventlog_provider_poll(handle_); }

    /// For the functions of eventlog.h, as long as the object lives. After a mistake in the
    /// definition, one that they take and nobody ever hears.
    [[nodiscard]] eventlog_provider* handle() const noexcept { return handle_; }

  private:
    // A function's address travels as an object's, which POSIX allows. Hidden, so that what the
    // library keeps points into the object that asked for it.
    [[gnu::visibility("hidden")]] static void call_on_enable(void* callback, unsigned listeners) {
        reinterpret_cast<void (*)(unsigned)>(callback)(listeners);
    }
    [[gnu::visibility("hidden")]] static void call_on_dump(void* callback) {
        reinterpret_cast<void (*)()>(callback)();
    }

    eventlog_provider* handle_ = nullptr;
    std::array<char, EVENTLOG_TEXT_SIZE> text_{};
    eventlog_error error_;
};

}  // namespace eventlog
