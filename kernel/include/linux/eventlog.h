/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the kernel and its modules, for subscriptions of /dev/eventlog and
 * for subscribers in modules. eventlog(9) explains this example:
 *
 *	struct sale_event {
 *		u64 amount;
 *		u32 customer;
 *	};
 *
 *	EVENTLOG_EVENT(sale,
 *		       EVENTLOG_FIELDS(EVENTLOG_FIELD(sale, amount, .unit = "cent"),
 *				       EVENTLOG_FIELD(sale, customer)),
 *		       .text = "Something has been sold");
 *
 *	EVENTLOG_PROVIDER(shop, EVENTLOG_PROVIDES(&event_sale));
 *
 *	error = eventlog_provider_register(&shop_provider);
 *	...
 *	EVENTLOG_EMIT(sale, .amount = 995, .customer = 7);
 *	...
 *	eventlog_provider_unregister(&shop_provider);
 *
 * The declarations become the schema that all consumers decode by. Registering
 * rejects what consumers could not decode.
 */
#ifndef _LINUX_EVENTLOG_H
#define _LINUX_EVENTLOG_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/rcupdate.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_provider_state; /* private to provider.c, as the next one */
struct eventlog_dump;
struct eventlog_source_event;
struct task_struct;

/* Severity of an event. */
enum eventlog_level {
	EVENTLOG_LEVEL_DEFAULT, /* info */
	EVENTLOG_LEVEL_ERROR, /* a request failed */
	EVENTLOG_LEVEL_WARN, /* the program continues, but needs attention */
	EVENTLOG_LEVEL_INFO,
	EVENTLOG_LEVEL_VERBOSE, /* steps of an operation */
	EVENTLOG_LEVEL_TRACE, /* all details */
};

/* Meaning of an event on a timeline. */
enum eventlog_event_kind {
	EVENTLOG_EVENT_INSTANT,
	EVENTLOG_EVENT_BEGIN, /* an operation begins that */
	EVENTLOG_EVENT_END, /* ends with the next such event of the thread */
	EVENTLOG_EVENT_GAUGE, /* new values of a quantity that rises and falls */
	EVENTLOG_EVENT_SESSION_BEGIN, /* of the session that it names */
	EVENTLOG_EVENT_SESSION_END,
	EVENTLOG_EVENT_STATE_COMPLETE, /* a late listener has received the whole current state */
};

/* Type of a field, derived by EVENTLOG_FIELD(). */
enum eventlog_type {
	EVENTLOG_TYPE_NONE,
	EVENTLOG_TYPE_BOOL,
	EVENTLOG_TYPE_CHAR,
	EVENTLOG_TYPE_S8,
	EVENTLOG_TYPE_S16,
	EVENTLOG_TYPE_S32,
	EVENTLOG_TYPE_S64,
	EVENTLOG_TYPE_U8,
	EVENTLOG_TYPE_U16,
	EVENTLOG_TYPE_U32,
	EVENTLOG_TYPE_U64,
};

/* How a field is displayed. */
enum eventlog_format {
	EVENTLOG_FORMAT_PLAIN,
	EVENTLOG_FORMAT_DECIMAL,
	EVENTLOG_FORMAT_HEXADECIMAL,
	EVENTLOG_FORMAT_IP_ADDRESS, /* u8[4] or u8[16], or a u32 in network byte order */
	EVENTLOG_FORMAT_MAC_ADDRESS, /* u8[6] */
	EVENTLOG_FORMAT_ERROR_NUMBER,
	EVENTLOG_FORMAT_DURATION, /* nanoseconds, in 64 bits, like the next two */
	EVENTLOG_FORMAT_REALTIME, /* since 1970 */
	EVENTLOG_FORMAT_MONOTONIC, /* on CLOCK_MONOTONIC */
	EVENTLOG_FORMAT_BYTE_SIZE,
	EVENTLOG_FORMAT_CHARACTERS, /* char[]: a text, up to its first NUL */
};

struct eventlog_value {
	const char *name;
	u64 value;
};

/* Names of the values of a field. */
struct eventlog_enumeration {
	const char *name;
	bool is_bitmask; /* the values are bits */
	u16 value_count;
	const struct eventlog_value *values;
};

struct eventlog_keyword {
	const char *name;
	u8 bit;
};

struct eventlog_provider_field {
	const char *name;
	const char *text; /* description; optional, like everything behind it */
	const char *unit; /* of a number: what it counts or measures */
	const struct eventlog_enumeration *enumeration;
	size_t offset;
	size_t size;
	enum eventlog_type type;
	enum eventlog_format format;
};

/* An event: declared by EVENTLOG_EVENT(). */
struct eventlog_provider_event {
	bool enabled; /* the last value passed to the provider's `set_enabled` */
	u16 payload_size;
	const struct eventlog_source_event __rcu *source; /* while it is registered */
	const char *name;
	const char *text; /* description */
	const char *when; /* the condition under which it occurs */
	u64 keywords;
	enum eventlog_level level;
	enum eventlog_event_kind kind;
	bool session; /* its first field, a u64, is the number of its session */
	u16 field_count;
	size_t struct_size;
	const struct eventlog_provider_field *fields;
	const char *file; /* where it is declared; NULL: unknown */
	u32 line;
};

/* A provider: declared by EVENTLOG_PROVIDER(). */
struct eventlog_provider {
	const char *name;
	const char *owner; /* displayed instead of a process: the module */
	const char *text;
	u16 event_count;
	u16 keyword_count;
	bool exact_name_only; /* high volume: a pattern has to name the provider without * and ? */
	struct eventlog_provider_event *const *events;
	const struct eventlog_keyword *keywords; /* in ascending order of bits */
	const char *file; /* where it is declared; NULL: unknown */
	u32 line;
	/*
	 * Called when an event gets its first listener and when it loses its last one:
	 * attach what emits the event, and detach it. May sleep, must not register or
	 * unregister. Calls come in pairs. After the second call of a pair emitters may
	 * still be running until eventlog_provider_unregister() returns. Returns 0 or an
	 * error, which is logged: then the event does not occur, and the second call comes
	 * nevertheless. May be NULL.
	 */
	int (*set_enabled)(struct eventlog_provider_event *event, bool enabled);
	/*
	 * Called once for each listener that gets events of the provider, after they were
	 * enabled: emit the current state to it with EVENTLOG_EMIT_STATE(). The event of
	 * EVENTLOG_STATE_COMPLETE follows, which the provider must have. In the task that
	 * subscribes, or in the one that registers the provider, for listeners that exist;
	 * in several tasks at once for different listeners. May sleep and take locks that
	 * are not held while the provider is registered or unregistered, because
	 * eventlog_provider_unregister() waits for it. Must not register or unregister. May
	 * be NULL.
	 */
	void (*dump)(struct eventlog_provider *provider, const struct eventlog_dump *dump);
	struct eventlog_provider_state *registered;
};

/* Types that are not listed, pointers and enums, are rejected when the provider is registered. */
#define EVENTLOG_TYPE_OF(type)							\
	(EVENTLOG_TYPE_BOOL * __builtin_types_compatible_p(type, bool) +	\
	 EVENTLOG_TYPE_CHAR * __builtin_types_compatible_p(type, char) +	\
	 EVENTLOG_TYPE_S8 * __builtin_types_compatible_p(type, s8) +		\
	 EVENTLOG_TYPE_S16 * __builtin_types_compatible_p(type, s16) +		\
	 EVENTLOG_TYPE_S32 * __builtin_types_compatible_p(type, s32) +		\
	 EVENTLOG_TYPE_S64 * __builtin_types_compatible_p(type, s64) +		\
	 EVENTLOG_TYPE_U8 * __builtin_types_compatible_p(type, u8) +		\
	 EVENTLOG_TYPE_U16 * __builtin_types_compatible_p(type, u16) +		\
	 EVENTLOG_TYPE_U32 * __builtin_types_compatible_p(type, u32) +		\
	 EVENTLOG_TYPE_U64 * __builtin_types_compatible_p(type, u64) +		\
	 EVENTLOG_TYPE_LONG * __builtin_types_compatible_p(type, long) +	\
	 EVENTLOG_TYPE_ULONG * __builtin_types_compatible_p(type, unsigned long))
#define EVENTLOG_TYPE_LONG (sizeof(long) == 8 ? EVENTLOG_TYPE_S64 : EVENTLOG_TYPE_S32)
#define EVENTLOG_TYPE_ULONG (sizeof(long) == 8 ? EVENTLOG_TYPE_U64 : EVENTLOG_TYPE_U32)

#define EVENTLOG_MEMBER(type, _member) ((*(type *)NULL)._member)
#define EVENTLOG_MEMBER_INFO(member)						\
	.offset = (size_t)&(member), .size = sizeof(member),			\
	.type = EVENTLOG_TYPE_OF(typeof(member))
#define EVENTLOG_ARRAY_MEMBER_INFO(member)						\
	.offset = (size_t)(member), .size = sizeof(member),			\
	.type = EVENTLOG_TYPE_OF(typeof((member)[0]))

/* A member of struct EVENT_event, or a member that is an array. Further properties may follow. */
#define EVENTLOG_FIELD(_owner, _member, ...)					\
	{									\
		.name = #_member,						\
		EVENTLOG_MEMBER_INFO(EVENTLOG_MEMBER(struct _owner##_event, _member)),	\
		__VA_ARGS__							\
	}
#define EVENTLOG_ARRAY(_owner, _member, ...)					\
	{									\
		.name = #_member,						\
		EVENTLOG_ARRAY_MEMBER_INFO(EVENTLOG_MEMBER(struct _owner##_event, _member)), \
		__VA_ARGS__							\
	}

/* All members of the struct, in the order in which they are displayed; or none. */
#define EVENTLOG_FIELDS(...)							\
	.fields = (const struct eventlog_provider_field[]){ __VA_ARGS__ },	\
	.field_count = sizeof((const struct eventlog_provider_field[]){ __VA_ARGS__ }) / \
		       sizeof(struct eventlog_provider_field)

/*
 * An event, whose payload is struct NAME_event: members of 8 bytes first, then
 * those of 4, 2 and 1, so that there are no holes. Defines the variable
 * event_NAME.
 */
#define EVENTLOG_EVENT(_name, ...)						\
	static struct eventlog_provider_event event_##_name = {			\
		.name = #_name,							\
		.struct_size = sizeof(struct _name##_event),			\
		.file = __FILE__,						\
		.line = __LINE__,						\
		__VA_ARGS__							\
	}

/* Names of values, { "text", value } each; for FLAGS a field may hold any number of the bits. */
#define EVENTLOG_ENUMERATION(_name, ...)					\
	static const struct eventlog_enumeration _name##_names = {		\
		.name = #_name, EVENTLOG_VALUES(__VA_ARGS__)			\
	}
#define EVENTLOG_FLAGS(_name, ...)						\
	static const struct eventlog_enumeration _name##_names = {		\
		.name = #_name, .is_bitmask = true, EVENTLOG_VALUES(__VA_ARGS__)	\
	}
#define EVENTLOG_VALUES(...)							\
	.values = (const struct eventlog_value[]){ __VA_ARGS__ },		\
	.value_count = sizeof((const struct eventlog_value[]){ __VA_ARGS__ }) /	\
		       sizeof(struct eventlog_value)

#define EVENTLOG_PROVIDES(...)							\
	.events = (struct eventlog_provider_event *const[]){ __VA_ARGS__ },	\
	.event_count = sizeof((struct eventlog_provider_event *const[]){ __VA_ARGS__ }) / \
		       sizeof(struct eventlog_provider_event *)

/*
 * Defines event_state_complete, which follows a dump: one of the events of a
 * provider with `dump`. Of several such providers in a file, each needs an event
 * of that kind of its own.
 */
#define EVENTLOG_STATE_COMPLETE							\
	struct state_complete_event {						\
	};									\
	EVENTLOG_EVENT(state_complete, .level = EVENTLOG_LEVEL_ERROR,		\
		       .kind = EVENTLOG_EVENT_STATE_COMPLETE,			\
		       .text = "The current state is complete",			\
		       .when = "a listener came late and has got all of the state, alone")

#define EVENTLOG_KEYWORDS(...)							\
	.keywords = (const struct eventlog_keyword[]){ __VA_ARGS__ },		\
	.keyword_count = sizeof((const struct eventlog_keyword[]){ __VA_ARGS__ }) / \
			 sizeof(struct eventlog_keyword)

/* A provider, with its events by number: append new ones. Defines NAME_provider. */
#define EVENTLOG_PROVIDER(_name, ...)						\
	static struct eventlog_provider _name##_provider = {			\
		.name = #_name,							\
		.owner = KBUILD_MODNAME,					\
		.file = __FILE__,						\
		.line = __LINE__,						\
		__VA_ARGS__							\
	}

/*
 * Without the module a provider can be registered, and its events have no listeners. A
 * module that is built outside of the kernel's tree defines CONFIG_EVENTLOG_MODULE.
 */
#if IS_ENABLED(CONFIG_EVENTLOG)

/*
 * Registers a provider: its events reach the consumers that want them. May
 * sleep. Returns 0; -EINVAL for declarations that consumers could not decode,
 * with the reason in the log; -EBUSY for an event that is registered already;
 * -ENOMEM; or -EINTR if the task that loads the module is being killed.
 */
int eventlog_provider_register(struct eventlog_provider *provider);

/*
 * Unregisters a provider. When this returns, its events have no listeners, none
 * is being emitted, and neither `dump` nor a probe that `set_enabled` has
 * detached is running. May sleep.
 */
void eventlog_provider_unregister(struct eventlog_provider *provider);

/* Returns whether the event has listeners: whether to build its payload. One load, any context. */
static inline bool eventlog_event_enabled(const struct eventlog_provider_event *event)
{
	return unlikely(READ_ONCE(event->enabled));
}

/*
 * Emits an event. The payload is the event's struct. Any context in which RCU
 * watches, NMIs too, so not from within the idle loop; does not sleep, takes no
 * lock.
 */
void eventlog_emit(const struct eventlog_provider_event *event, const void *payload);

/*
 * Like eventlog_emit(), for an event about another task. Consumers that exclude
 * their own process do not get it if that task or the current one belongs to
 * it.
 */
void eventlog_emit_about(const struct eventlog_provider_event *event, const void *payload,
			 const struct task_struct *about);

/*
 * Emits an event of the state to the one listener of a dump, if it wants that
 * event. Only in `dump`; other events of the provider may be emitted meanwhile,
 * to all. Does not sleep, takes no lock.
 */
void eventlog_emit_state(const struct eventlog_dump *dump,
			 const struct eventlog_provider_event *event, const void *payload);

#else

static inline int eventlog_provider_register(struct eventlog_provider *provider)
{
	return 0;
}

static inline void eventlog_provider_unregister(struct eventlog_provider *provider)
{
}

static inline bool eventlog_event_enabled(const struct eventlog_provider_event *event)
{
	return false;
}

static inline void eventlog_emit(const struct eventlog_provider_event *event,
				 const void *payload)
{
}

static inline void eventlog_emit_about(const struct eventlog_provider_event *event,
				       const void *payload, const struct task_struct *about)
{
}

static inline void eventlog_emit_state(const struct eventlog_dump *dump,
				       const struct eventlog_provider_event *event,
				       const void *payload)
{
}

#endif

/*
 * Emits an event with these members; the others are 0. The members are not
 * evaluated while the event has no listeners.
 */
#define EVENTLOG_EMIT(_name, ...)						\
	do {									\
		if (eventlog_event_enabled(&event_##_name)) {				\
			const struct _name##_event payload_of_##_name = { __VA_ARGS__ }; \
										\
			eventlog_emit(&event_##_name, &payload_of_##_name);	\
		}								\
	} while (0)

/* The same in `dump`, to its listener. */
#define EVENTLOG_EMIT_STATE(_dump, _name, ...)					\
	do {									\
		if (eventlog_event_enabled(&event_##_name)) {				\
			const struct _name##_event payload_of_##_name = { __VA_ARGS__ }; \
										\
			eventlog_emit_state(_dump, &event_##_name, &payload_of_##_name); \
		}								\
	} while (0)

#endif /* _LINUX_EVENTLOG_H */
