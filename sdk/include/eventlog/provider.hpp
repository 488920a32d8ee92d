// SPDX-License-Identifier: MIT
//
// eventlog::provider: declares events as structs, emits them, and tests for listeners.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/abi.h>
#include <eventlog/detail/event_list.hpp>
#include <eventlog/detail/event_site.hpp>
#include <eventlog/detail/fixed_string.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/memcpy_payload.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/detail/schema_writer.hpp>
#include <eventlog/detail/send.hpp>
#include <eventlog/detail/usdt.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/status.hpp>
#include <eventlog/wrappers.hpp>

namespace eventlog {
inline namespace v0 {

template <class Provider, class Event>
class gauge_object;
template <class Provider, class Source, bool InSession>
class timed_scope;

namespace detail {

// aarch64 kernels may use pages of 64 KiB.
#if defined(__aarch64__)
inline constexpr std::size_t gate_alignment = 65536;
inline constexpr std::size_t gate_size = 65536;
#else
inline constexpr std::size_t gate_alignment = 4096;
inline constexpr std::size_t gate_size = 8192;
#endif

/// A provider's gate words and room for its counters. The pages hold nothing else, because shared
/// memory is mapped over them. Plain words, read with is_open: functions of std::atomic would be
/// inlined at each call site, which costs compile time.
struct alignas(gate_alignment) gate_page {
    std::uint32_t words[gate_size / sizeof(std::uint32_t)];
};
static_assert(sizeof(gate_page) == gate_size);

[[gnu::always_inline]] inline bool is_open(const std::uint32_t& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED) != 0;
}

/// Whether there is a listener. An open gate alone does not prove that, see
/// EVENTLOG_GATE_AMBIGUOUS.
[[gnu::always_inline]] inline bool has_listener(const std::uint32_t& word,
                                                const event_site& site) noexcept {
    const std::uint32_t bits = __atomic_load_n(&word, __ATOMIC_RELAXED);
    if (bits == 0) [[likely]] {
        return false;
    }
    return (bits & ~EVENTLOG_GATE_AMBIGUOUS) != 0 ||
           eventlog_has_listener(site.handle(), site.event);
}

// Hidden, as all state: each shared object has its own, which must not be merged with that of
// another object.
class [[gnu::visibility("hidden")]] registration;

/// Publishes the provider for its lifetime, and stores the handle in the `event_count` sites.
class registration {
  public:
    registration(gate_page& gate, const std::uint8_t* schema, std::size_t schema_size,
                 std::uint32_t event_count, event_site* sites) noexcept
        : event_count_(event_count), sites_(sites) {
        const eventlog_raw_provider definition{sizeof(definition), event_count, gate.words,
                                               sizeof gate,        schema,      schema_size};
        set_handle(eventlog_raw_provider_register(&definition));
    }
    ~registration() {
        eventlog_provider* const withdrawn = handle();
        set_handle(nullptr);
        eventlog_raw_provider_unregister(withdrawn);
    }

    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;

    [[nodiscard]] eventlog_provider* handle() const noexcept {
        return __atomic_load_n(&handle_, __ATOMIC_ACQUIRE);
    }

  private:
    void set_handle(eventlog_provider* handle) noexcept {
        __atomic_store_n(&handle_, handle, __ATOMIC_RELEASE);
        for (std::uint32_t i = 0; i < event_count_; ++i) {
            sites_[i].set_handle(handle);
        }
    }

    eventlog_provider* handle_ = nullptr;
    std::uint32_t event_count_;
    event_site* sites_;
};

/// Calls the maker so that it is inlined, whatever its length. clang leaves a long call on an
/// unlikely path out of line; the captures of the maker then must be in memory, and are stored in
/// front of the branch. g++ inlines a function with a single caller by itself, and ignores flatten
/// here.
template <class Maker>
[[gnu::always_inline, gnu::flatten]] inline auto make_inline(Maker&& make) noexcept(
    std::is_nothrow_invocable_v<Maker>) {
    return std::forward<Maker>(make)();
}

/// Emits events of a session, for the classes of this library that keep its number.
struct session_access {
    template <class Provider, class Argument>
    [[gnu::always_inline]] static void emit(
        const std::uint64_t& session,
        Argument&& argument) noexcept(noexcept(Provider::emit_in_session(session, argument))) {
        Provider::emit_in_session(session, std::forward<Argument>(argument));
    }
};

// The declaration has the attribute, too, because clang uses the first declaration.
template <fixed_string Name, class Provider, class List>
struct [[gnu::visibility("hidden")]] provider_state;

/// The state of a provider. Without hidden visibility the linker would make its symbols unique in
/// the process, and a dlopen'ed object could never be unloaded.
template <fixed_string Name, class Provider, class... Events>
struct [[gnu::visibility("hidden")]] provider_state<Name, Provider, event_list<Events...>> {
    static_assert(check_provider<Provider, Events...>::passed);
    alignas(gate_alignment) static inline constinit gate_page gate{};
    static constexpr auto schema = make_schema<Name, Provider, Events...>();

  private:
    // The sites of all events, in one array, because names of objects in this template are long.
    template <std::size_t... Id>
    static consteval auto make_sites(std::index_sequence<Id...>) {
        return std::array<event_site, sizeof...(Events)>{make_site<Events>(Id, gate.words)...};
    }
    static inline constinit auto sites = make_sites(std::index_sequence_for<Events...>{});
    // Constants, so that they need no call: in unoptimized code, functions of std::array are shared
    // by all plugins of a process whose schemas have the same size.
    static constexpr const std::uint8_t* schema_begin = schema.data();
    static constexpr std::size_t schema_size = schema.size();

  public:
    static inline const registration registered{gate, schema_begin, schema_size, sizeof...(Events),
                                                sites.data()};

    /// Naming `registered` makes a program that emits publish the provider.
    [[gnu::always_inline]] static const event_site& site(std::size_t event) noexcept {
        static_cast<void>(
            &check_description<Provider,
                               !std::is_reference_v<decltype(provider_info_of<Provider>)>>);
        static_cast<void>(&registered);
        return sites[event];
    }
    /// Does not publish the provider. A program that only tests for listeners never has one.
    [[gnu::always_inline]] static const event_site& site_without_registering(
        std::size_t event) noexcept {
        return sites[event];
    }
};

}  // namespace detail

/// A named set of events. It is a type without objects:
///
///     struct loss { std::uint64_t sequence; std::uint32_t bytes; std::string_view why; };
///     using tcp = eventlog::provider<"tcp", loss>;
///     tcp::emit(loss{17, 1448, "timeout"});
///
/// A program or shared object that emits an event publishes the provider when it is loaded, without
/// a call, and withdraws it when it exits or is unloaded. Before and afterwards the functions do
/// nothing.
///
/// - emit, enabled and run_callbacks: any thread, any signal handler, any child of fork().
/// - status and the setters of callbacks: any thread and such a child; not from signal handlers.
///
/// Events from a child of _Fork, clone or a raw system call have the process and thread numbers of
/// its parent. So have events from a child handler of pthread_atfork that was registered before the
/// library's own. The first provider of the process registers the library's handler.
template <detail::fixed_string Name, class... Events>
class provider {
    static_assert(schema_format::is_identifier(Name.characters, Name.view().size()),
                  "eventlog: a provider's name needs 1 to 63 letters, digits and _, and no digit "
                  "first. Rename the provider.");
    static_assert(sizeof...(Events) > 0, "eventlog: a provider needs at least one event.");
    static_assert(sizeof...(Events) <= schema_format::events_max,
                  "eventlog: a provider has more than 1024 events. Split it in two.");

    // The built-in events for sessions and replayed state follow the provider's own.
    using events = detail::with_builtin_events<provider, Events...>;
    using state = detail::provider_state<Name, provider, events>;

    friend struct detail::session_access;

    /// The position in the list of events; their number if it is not there.
    template <class Entry>
    static constexpr std::size_t position = detail::index_in<Entry>(events{});

  public:
    /// Whether an event, or a wrapper such as timed<Event>, is in the provider's list.
    template <class Entry>
    static constexpr bool lists = position<Entry> < detail::count_in(events{});

  private:
    /// The entry of the list for an event: itself, or a wrapper of it.
    template <class Event>
    using entry_of = std::conditional_t<
        lists<Event>, Event,
        std::conditional_t<lists<timed<Event>>, timed<Event>, eventlog::gauge<Event>>>;

    // A search takes time to compile, so these functions search for a wrapper only if the event is
    // not found.

    template <class Event>
    static consteval std::size_t index() {
        if constexpr (lists<Event>) {
            return position<Event>;
        } else {
            static_assert(lists<entry_of<Event>>,
                          "eventlog: this type is not an event of this provider. Add it to the "
                          "provider's list.");
            return position<entry_of<Event>>;
        }
    }

    /// The position of an event that is emitted as it is, without a duration.
    template <class Event>
    static consteval std::size_t emitted_index() {
        if constexpr (lists<Event>) {
            return position<Event>;
        } else {
            static_assert(!lists<timed<Event>>,
                          "eventlog: this event is timed. Emit it with time(), which measures a "
                          "scope, or emit an eventlog::timed<...> object with its duration.");
            return index<Event>();
        }
    }

    /// Whether a callable returns an event of this provider.
    template <class Made>
    static consteval bool check_made() {
        constexpr bool passed = lists<Made> || lists<eventlog::gauge<Made>> || lists<timed<Made>>;
        static_assert(passed, "eventlog: the callable does not return an event of this provider. "
                              "Return one, or add the type to the provider's list.");
        return passed;
    }

    /// Whether a tracer is attached to the event's USDT probe; a constant false without probes.
    template <class Event>
    [[gnu::always_inline]] static bool is_probe_enabled() noexcept {
        if constexpr (provider_info_of<provider>.usdt) {
            return detail::probe<Name, entry_of<Event>>::is_enabled();
        } else {
            return false;
        }
    }
    template <class Event>
    [[gnu::always_inline]] static void fire_probe(const std::uint64_t& session,
                                                  const Event& event) noexcept {
        using probe = detail::probe<Name, entry_of<Event>>;
        if (probe::is_enabled()) [[unlikely]] {
            probe::fire(session, event);
        }
    }

    /// Emits an event that was made because there is a listener.
    template <class Made>
    [[gnu::always_inline]] static void emit_lazy_event(std::uint64_t session,
                                                       const Made& event) noexcept {
        constexpr std::size_t id = emitted_index<Made>();
        if constexpr (provider_info_of<provider>.usdt) {
            fire_probe(session, event);
            if (!detail::is_open(state::gate.words[id])) {
                return;
            }
        }
        if constexpr (!event_info_of<Made>.session_bound && detail::is_built_in_place<Made>) {
            detail::emit_memcpy_payload(state::site(id), &event);
        } else {
            detail::members_of<Made>::with(event, detail::send<Made>{state::site(id), session});
        }
    }

    /// Emits an event of a session; called through session_access. The number is passed by
    /// reference, so that it is read behind the branch.
    template <class Event>
    requires(lists<Event> || !std::is_invocable_v<const Event&>)
        [[gnu::always_inline]] static void emit_in_session(const std::uint64_t& session,
                                                           const Event& event) noexcept {
        static_assert(event_info_of<Event>.session_bound,
                      "eventlog: this event does not belong to a session. Emit it through the "
                      "provider, or set .session_bound = true in its eventlog::event_info.");
        constexpr std::size_t id = emitted_index<Event>();
        if (detail::is_open(state::gate.words[id])) [[unlikely]] {
            detail::members_of<Event>::with(event, detail::send<Event>{state::site(id), session});
        }
        if constexpr (provider_info_of<provider>.usdt) {
            fire_probe(session, event);
        }
    }

    /// Emits an event of a session that `make` returns, called only if there is a listener.
    template <class Maker>
    requires(!lists<std::remove_cvref_t<Maker>> && std::is_invocable_v<Maker>)
        [[gnu::always_inline]] static void emit_in_session(
            const std::uint64_t& session,
            Maker&& make) noexcept(std::is_nothrow_invocable_v<Maker>) {
        using made = std::remove_cvref_t<std::invoke_result_t<Maker>>;
        if constexpr (check_made<made>()) {
            static_assert(event_info_of<made>.session_bound,
                          "eventlog: this event does not belong to a session. Emit it through the "
                          "provider, or set .session_bound = true in its eventlog::event_info.");
            if (enabled<made>()) [[unlikely]] {
                const made event = detail::make_inline(std::forward<Maker>(make));
                emit_lazy_event(session, event);
            }
        }
    }

  public:
    /// A number that emits Event whenever it changes; see gauge_object (gauge.hpp).
    template <class Event>
    using gauge = gauge_object<provider, Event>;

    /// Returns an object that emits `event` with the time until its end; see timed_scope.
    /// A callable is called at the end, and returns the event.
    template <class Source>
    [[nodiscard, gnu::always_inline]] static auto time(Source source) noexcept {
        return timed_scope<provider, Source, false>(std::move(source));
    }

    /// Whether the event has a listener: one load and a test if it has none, two with USDT probes.
    /// (On kernels before Linux 6.4 that have user_events it is a call.)
    template <class Event>
    [[nodiscard, gnu::always_inline]] static bool enabled() noexcept {
        return detail::has_listener(state::gate.words[index<Event>()],
                                    state::site_without_registering(index<Event>())) ||
               is_probe_enabled<Event>();
    }

    /// Emits an event: one load and a branch without a listener. An existing object is not read
    /// then. For an object that is made for the call, the compiler moves computations on values
    /// behind the branch. It cannot move calls of functions that it does not see, loops, reads of
    /// memory, or the construction of a std::string or of a large array; pass a callable for these.
    ///
    /// Takes no lock, does not allocate, does not wait. An event without room in the ring is
    /// counted as lost. An object with large arrays whose bytes are its payload is copied once,
    /// straight into the ring.
    template <class Event>
    requires(lists<Event> || !std::is_invocable_v<const Event&>)
        [[gnu::always_inline]] static void emit(const Event& event) noexcept {
        static_assert(!event_info_of<Event>.session_bound,
                      "eventlog: this event belongs to a session. Emit it through the "
                      "eventlog::session object.");
        constexpr std::size_t id = emitted_index<Event>();
        if (detail::is_open(state::gate.words[id])) [[unlikely]] {
            if constexpr (detail::is_emitted_in_place<Event>) {
                detail::emit_memcpy_payload(state::site(id), &event);
            } else {
                detail::members_of<Event>::with(event, detail::send<Event>{state::site(id), 0});
            }
        }
        if constexpr (provider_info_of<provider>.usdt) {
            fire_probe(0, event);
        }
    }

    /// Emits an event that `make` returns. `make` is called only if there is a listener. A type in
    /// the provider's list is an event, also if it can be called.
    ///
    ///     tcp::emit([&] { return loss{packet->sequence, size_of(packet), "ack"}; });
    template <class Maker>
    requires(!lists<std::remove_cvref_t<Maker>> && std::is_invocable_v<Maker>)
        [[gnu::always_inline]] static void emit(Maker&& make) noexcept(
            std::is_nothrow_invocable_v<Maker>) {
        using made = std::remove_cvref_t<std::invoke_result_t<Maker>>;
        if constexpr (check_made<made>()) {
            static_assert(!event_info_of<made>.session_bound,
                          "eventlog: this event belongs to a session. Emit it through the "
                          "eventlog::session object.");
            if (enabled<made>()) [[unlikely]] {
                const made event = detail::make_inline(std::forward<Maker>(make));
                emit_lazy_event(0, event);
            }
        }
    }

    /// As emit, for source files in which emit is a macro, as in Qt.
    template <class Argument>
    [[gnu::always_inline]] static void emit_event(Argument&& argument) noexcept(
        noexcept(emit(std::forward<Argument>(argument)))) {
        emit(std::forward<Argument>(argument));
    }

    /// Returns the provider's status and the numbers of events written and lost. Not in signal
    /// handlers, and not where events are emitted: it takes a lock and copies text.
    [[nodiscard, gnu::visibility("hidden")]] static provider_status status() noexcept {
        return detail::status_of(state::registered.handle());
    }

    /// Sets the callback that runs when a listener appears or disappears. It receives the number of
    /// subscriptions that now want any event of this provider. It also runs once soon after this
    /// call.
    ///
    /// The library has no thread of its own: the callback runs inside the next emit of any event of
    /// the provider, in the emitting thread, or in run_callbacks(); never in two threads at once.
    /// So any emit of the provider may run it:
    ///
    /// - A thread that emits while it holds a lock that the callback takes deadlocks.
    /// - If the application emits in signal handlers, the callback must be async-signal-safe.
    /// - It may emit, and replace itself. An exception that leaves it ends the program.
    ///
    /// Null removes the callback. Returns true if the previous callback does not run and never
    /// will. Returns false, without waiting, if another thread runs a callback of this provider or
    /// is about to. Not for signal handlers.
    [[gnu::visibility("hidden")]] static bool on_listeners_changed(
        void (*callback)(unsigned listeners)) noexcept {
        return on_listeners_changed(callback == nullptr ? nullptr : call_on_listeners_changed,
                                    reinterpret_cast<void*>(callback));
    }
    /// With a context, which the callback receives. The two are replaced together: a callback never
    /// receives the context of another one. If the call returns true, the context of the previous
    /// callback may be freed.
    [[gnu::visibility("hidden")]] static bool on_listeners_changed(
        void (*callback)(void* context, unsigned listeners), void* context) noexcept {
        return eventlog_provider_on_listeners_changed(state::registered.handle(), callback,
                                                      context);
    }

    /// Sets the callback that runs for each new subscription and emits the present state. Events of
    /// this provider that it emits reach that subscription only, and a state_complete event
    /// follows. Execution, locks, signal handlers and removal: as of on_listeners_changed. The
    /// thread's signals are blocked meanwhile.
    [[gnu::visibility("hidden")]] static bool on_new_listener(void (*callback)()) noexcept {
        return on_new_listener(callback == nullptr ? nullptr : call_on_new_listener,
                               reinterpret_cast<void*>(callback));
    }
    /// With a context, as on_listeners_changed.
    [[gnu::visibility("hidden")]] static bool on_new_listener(void (*callback)(void* context),
                                                              void* context) noexcept {
        static_assert(
            provider_info_of<provider>.replays_state,
            "eventlog: this provider does not replay its state. Set .replays_state = true in "
            "its eventlog::provider_info.");
        return eventlog_provider_on_new_listener(state::registered.handle(), callback, context);
    }

    /// Runs callbacks that are due, for applications that emit rarely. Any context in which the
    /// callbacks may run.
    [[gnu::visibility("hidden")]] static void run_callbacks() noexcept {
        eventlog_provider_run_callbacks(state::registered.handle());
    }

    /// The declared name. A constant.
    static constexpr std::string_view name() noexcept { return Name.view(); }

    /// The binary form of the schema, see schema_format.hpp. A constant.
    static constexpr const auto& schema() noexcept { return state::schema; }

  private:
    // POSIX allows the conversion of a function's address to that of an object, and back.
    static void call_on_listeners_changed(void* callback, unsigned listeners) {
        reinterpret_cast<void (*)(unsigned)>(callback)(listeners);
    }
    static void call_on_new_listener(void* callback) { reinterpret_cast<void (*)()>(callback)(); }
};

}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
