// SPDX-License-Identifier: MIT
//
// eventlog::provider: declare events as structs, emit them, ask whether anyone listens.
#pragma once

#ifdef emit
#error "eventlog: emit is a macro, as of Qt. Define QT_NO_KEYWORDS, and write Q_EMIT."
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/abi.h>
#include <eventlog/detail/encode.hpp>
#include <eventlog/detail/event_list.hpp>
#include <eventlog/detail/fixed_string.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/memcpy_payload.hpp>
#include <eventlog/detail/schema_writer.hpp>
#include <eventlog/detail/usdt.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/status.hpp>
#include <eventlog/traits.hpp>

namespace eventlog {

namespace detail {

// aarch64 kernels may use pages of 64 KiB.
#if defined(__aarch64__)
inline constexpr std::size_t gate_alignment = 65536;
inline constexpr std::size_t gate_size = 65536;
#else
inline constexpr std::size_t gate_alignment = 4096;
inline constexpr std::size_t gate_size = 8192;
#endif

/// A provider's gate words and room for its counters, alone on their pages, because shared memory
/// is mapped over them. Plain words, read with is_open: compilers had to take the functions of
/// std::atomic apart at each call site.
struct alignas(gate_alignment) gate_page {
    std::uint32_t words[gate_size / sizeof(std::uint32_t)];
};
static_assert(sizeof(gate_page) == gate_size);

[[gnu::always_inline]] inline bool is_open(const std::uint32_t& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED) != 0;
}

/// The same for who wants to know it before doing more than to emit: a gate may be open without
/// anybody who listens.
[[gnu::always_inline]] inline bool has_listener(const std::uint32_t& word,
                                                const event_site& site) noexcept {
    const std::uint32_t bits = __atomic_load_n(&word, __ATOMIC_RELAXED);
    if (bits == 0) [[likely]] {
        return false;
    }
    return (bits & ~EVENTLOG_GATE_AMBIGUOUS) != 0 ||
           eventlog_has_listener(site.handle(), site.event);
}

// Hidden, as is all that has to do with state: each shared object has its own, and must not end up
// with a namesake in another one.
class [[gnu::visibility("hidden")]] registration;

/// Publishes the provider while it lives, and tells its `event_count` sites.
class registration {
  public:
    registration(gate_page& gate, const std::uint8_t* schema, std::size_t schema_size,
                 std::uint32_t event_count, event_site* sites) noexcept
        : event_count_(event_count), sites_(sites) {
        const eventlog_provider_definition definition{sizeof(definition), event_count, gate.words,
                                                      sizeof gate,        schema,      schema_size};
        set_handle(eventlog_provider_register(&definition));
    }
    ~registration() {
        eventlog_provider* const withdrawn = handle();
        set_handle(nullptr);
        eventlog_provider_unregister(withdrawn);
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

/// Calls the maker in a way that has it inlined, however long it is. clang leaves a long call on an
/// unlikely path out of line; then what the maker captures has to be in memory, and is put there in
/// front of the branch. g++ inlines by itself what is called in one place, and ignores flatten
/// here.
template <class Maker>
[[gnu::always_inline, gnu::flatten]] inline auto make_inline(Maker&& make) noexcept(
    std::is_nothrow_invocable_v<Maker>) {
    return std::forward<Maker>(make)();
}

// The attribute stands here, too: clang goes by the first declaration.
template <fixed_string Name, class Provider, class List>
struct [[gnu::visibility("hidden")]] provider_state;

/// What a provider owns. Were it not hidden, the linker would make the symbols unique across the
/// process, which would keep a dlopen'ed object from ever unloading.
template <fixed_string Name, class Provider, class... Events>
struct [[gnu::visibility("hidden")]] provider_state<Name, Provider, event_list<Events...>> {
    static_assert(check_provider<Provider, Events...>::passed);
    alignas(gate_alignment) static inline constinit gate_page gate{};
    static constexpr auto schema = make_schema<Name, Provider, Events...>();

  private:
    // What call sites hand to the encoder, in one array: names of objects in here are long.
    template <std::size_t... Id>
    static consteval auto make_sites(std::index_sequence<Id...>) {
        return std::array<event_site, sizeof...(Events)>{make_site<Events>(Id, gate.words)...};
    }
    static inline constinit auto sites = make_sites(std::index_sequence_for<Events...>{});
    // Constants, so that they take no call: where nothing is optimised, std::array's functions
    // belong to all plugins of a process with schemas as long, and one plugin's to the others.
    static constexpr const std::uint8_t* schema_begin = schema.data();
    static constexpr std::size_t schema_size = schema.size();

  public:
    static inline const registration registered{gate, schema_begin, schema_size, sizeof...(Events),
                                                sites.data()};

    /// Naming `registered` is what makes a program that emits publish the provider.
    [[gnu::always_inline]] static const event_site& site(std::size_t event) noexcept {
        static_cast<void>(&registered);
        return sites[event];
    }
    /// Who only asks does not publish: if nobody emits, nobody listens.
    [[gnu::always_inline]] static const event_site& site_without_registering(
        std::size_t event) noexcept {
        return sites[event];
    }
};

}  // namespace detail

/// A named set of events. A type, never an object:
///
///     struct loss { std::uint64_t sequence; std::uint32_t bytes; std::string_view why; };
///     using tcp = eventlog::provider<"tcp", loss>;
///     tcp::emit(loss{17, 1448, "timeout"});
///
/// A program or shared object that emits anywhere publishes the provider when it is loaded, without
/// any call, and withdraws it when it exits or is unloaded. What emits, enabled and poll may be
/// called from any thread, from signal handlers and in the child of a fork(); status and the
/// setters of callbacks from any thread and such a child, but not from signal handlers. Before the
/// provider is published, and after it is withdrawn, they do nothing.
///
/// A child that is made without fork(), by _Fork, clone or a raw system call, emits with the
/// process and thread numbers of its parent. So does a handler of pthread_atfork in the child that
/// was registered before the library's, which the process's first provider registers.
template <detail::fixed_string Name, class... Events>
class provider {
    static_assert(is_identifier(Name.characters, Name.view().size()),
                  "eventlog: a provider's name needs 1 to 63 letters, digits and _, and no digit "
                  "first. Rename the provider.");
    static_assert(sizeof...(Events) > 0, "eventlog: a provider needs at least one event.");
    static_assert(sizeof...(Events) <= events_max,
                  "eventlog: a provider has more than 1024 events. Split it in two.");

    // What the provider says itself, about sessions and dumps, stands behind its own events.
    using events = detail::with_builtin_events<provider, Events...>;
    using state = detail::provider_state<Name, provider, events>;

    template <class Event>
    static consteval std::size_t index() {
        constexpr std::size_t found = detail::index_in<Event>(events{});
        static_assert(found < detail::count_in(events{}),
                      "eventlog: this type is not an event of this provider. Add it to the "
                      "provider's list.");
        return found;
    }

    /// Whether a tracer looks at the event's USDT probe: never, and for nothing, if it has none.
    template <class Event>
    [[gnu::always_inline]] static bool is_probe_enabled() noexcept {
        if constexpr (provider_traits_of<provider>.usdt) {
            return detail::probe<Name, Event>::is_enabled();
        } else {
            return false;
        }
    }
    template <class Event>
    [[gnu::always_inline]] static void fire_probe(const std::uint64_t& session,
                                                  const Event& event) noexcept {
        if constexpr (provider_traits_of<provider>.usdt) {
            if (detail::probe<Name, Event>::is_enabled()) [[unlikely]] {
                detail::probe<Name, Event>::fire(session, event);
            }
        }
    }

    /// Emits what has been made because somebody wants it.
    template <class Made>
    [[gnu::always_inline]] static void emit_lazy_event(std::uint64_t session,
                                                       const Made& event) noexcept {
        constexpr std::size_t id = index<Made>();
        if constexpr (provider_traits_of<provider>.usdt) {
            fire_probe(session, event);
            if (!detail::is_open(state::gate.words[id])) {
                return;
            }
        }
        if constexpr (!traits_of<Made>.session_bound && detail::is_built_in_place<Made>) {
            detail::emit_memcpy_payload(state::site(id), &event);
        } else {
            detail::members_of<Made>::with(event, detail::send<Made>{state::site(id), session});
        }
    }

  public:
    /// Whether anyone listens to this event right now: one load and a test if nobody does, two with
    /// USDT probes. (On kernels before Linux 6.4 that have user_events it is a call.)
    template <class Event>
    [[nodiscard, gnu::always_inline]] static bool enabled() noexcept {
        return detail::has_listener(state::gate.words[index<Event>()],
                                    state::site_without_registering(index<Event>())) ||
               is_probe_enabled<Event>();
    }

    /// Emits an event: one load and a branch when nobody listens. An event that is there already is
    /// not touched then, whatever is in it; and what the compiler computes from values for one that
    /// is made for the call stands behind the branch. What it cannot put off is done every time: a
    /// call it does not see into, a loop, reading memory, making a std::string or a large array.
    /// For these there is emit_lazily. Takes no lock, allocates nothing, waits for nobody; an event
    /// that finds no room is counted. One with large arrays that is, byte for byte, its payload is
    /// copied once, from where it is into the ring.
    template <class Event>
    [[gnu::always_inline]] static void emit(const Event& event) noexcept {
        static_assert(!traits_of<Event>.session_bound,
                      "eventlog: this event belongs to a session. Emit it through the "
                      "eventlog::session object.");
        constexpr std::size_t id = index<Event>();
        if (detail::is_open(state::gate.words[id])) [[unlikely]] {
            if constexpr (detail::is_emitted_in_place<Event>) {
                detail::emit_memcpy_payload(state::site(id), &event);
            } else {
                detail::members_of<Event>::with(event, detail::send<Event>{state::site(id), 0});
            }
        }
        fire_probe(0, event);
    }

    /// The same with the event made only when someone listens, whatever that takes:
    ///
    ///     tcp::emit_lazily([&] { return loss{packet->sequence, size_of(packet), "ack"}; });
    template <class Maker>
    requires std::is_invocable_v<Maker>
    [[gnu::always_inline]] static void emit_lazily(Maker&& make) noexcept(
        std::is_nothrow_invocable_v<Maker>) {
        using made = std::remove_cvref_t<std::invoke_result_t<Maker>>;
        static_assert(!traits_of<made>.session_bound,
                      "eventlog: this event belongs to a session. Emit it through the "
                      "eventlog::session object.");
        if (enabled<made>()) [[unlikely]] {
            const made event = detail::make_inline(std::forward<Maker>(make));
            emit_lazy_event(0, event);
        }
    }

    /// An event of a session: what eventlog::session calls. The number comes by reference, so that
    /// it is read behind the branch, too.
    template <class Event>
    [[gnu::always_inline]] static void emit_in_session(const std::uint64_t& session,
                                                       const Event& event) noexcept {
        static_assert(traits_of<Event>.session_bound,
                      "eventlog: this event does not belong to a session. Emit it through the "
                      "provider, or say .session_bound = true in eventlog::traits_of.");
        constexpr std::size_t id = index<Event>();
        if (detail::is_open(state::gate.words[id])) [[unlikely]] {
            detail::members_of<Event>::with(event, detail::send<Event>{state::site(id), session});
        }
        fire_probe(session, event);
    }

    /// The same with the event made only when someone listens.
    template <class Maker>
    requires std::is_invocable_v<Maker>
    [[gnu::always_inline]] static void emit_lazily_in_session(
        const std::uint64_t& session, Maker&& make) noexcept(std::is_nothrow_invocable_v<Maker>) {
        using made = std::remove_cvref_t<std::invoke_result_t<Maker>>;
        static_assert(traits_of<made>.session_bound,
                      "eventlog: this event does not belong to a session. Emit it through the "
                      "provider, or say .session_bound = true in eventlog::traits_of.");
        if (enabled<made>()) [[unlikely]] {
            const made event = detail::make_inline(std::forward<Maker>(make));
            emit_lazy_event(session, event);
        }
    }

    /// What became of publishing the provider, and of its events: how many were written and lost.
    /// Not for the emit path nor for signal handlers: it takes a lock and copies sentences.
    [[nodiscard, gnu::visibility("hidden")]] static provider_status status() noexcept {
        return detail::status_of(state::registered.handle());
    }

    /// Has `callback` called when somebody began or stopped to listen, with the number of
    /// subscriptions that now want any event of this provider. There is no thread of ours: it runs
    /// inside the next emit of any event of the provider, in the emitting thread, or in poll();
    /// never in two threads at once. So any emit of the provider may run it: a thread that emits
    /// while it holds a lock that the callback takes waits for itself. If the application emits in
    /// signal handlers, the callback must be fit to run there. It is called once in any case soon
    /// after this, and may emit and replace itself. It must return: an exception that leaves it
    /// ends the program.
    ///
    /// Null takes it back. Does not wait for a call that has begun in another thread, or is just
    /// about to, but returns false then: a callback of this provider is at work there. True: what
    /// was there before does not run, and never will again. Not for signal handlers.
    [[gnu::visibility("hidden")]] static bool on_enable(
        void (*callback)(unsigned listeners)) noexcept {
        return eventlog_provider_on_change(state::registered.handle(),
                                           callback == nullptr ? nullptr : call_on_enable,
                                           reinterpret_cast<void*>(callback));
    }

    /// Has `callback` called for each new subscription, to tell it the present state: what the
    /// callback emits of this provider reaches that subscription alone, and a dump_complete event
    /// follows. Runs like the callback of on_enable, with what that says about locks, signal
    /// handlers and taking it back, and with the thread's signals held back.
    [[gnu::visibility("hidden")]] static bool on_dump(void (*callback)()) noexcept {
        static_assert(provider_traits_of<provider>.dumps,
                      "eventlog: this provider does not say that it dumps its state. Say .dumps = "
                      "true in eventlog::provider_traits_of.");
        return eventlog_provider_on_dump(state::registered.handle(),
                                         callback == nullptr ? nullptr : call_on_dump,
                                         reinterpret_cast<void*>(callback));
    }

    /// Runs callbacks that are due: for applications that emit seldom. May be called wherever the
    /// callbacks are fit to run.
    [[gnu::visibility("hidden")]] static void poll() noexcept {
        eventlog_provider_poll(state::registered.handle());
    }

    /// As it was declared. A constant.
    static constexpr std::string_view name() noexcept { return Name.view(); }

    /// The binary form of the schema, see schema_format.hpp. A constant.
    static constexpr const auto& schema() noexcept { return state::schema; }

  private:
    // A function's address travels as an object's, which POSIX allows.
    static void call_on_enable(void* callback, unsigned listeners) {
        reinterpret_cast<void (*)(unsigned)>(callback)(listeners);
    }
    static void call_on_dump(void* callback) { reinterpret_cast<void (*)()>(callback)(); }
};

}  // namespace eventlog
