/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the kernel and its modules, for whoever subscribes through /dev/eventlog:
 * eventlog(9) has it all in an example.
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
 * What is declared here becomes the schema that all consumers decode by; registering
 * refuses what they could not.
 */
#ifndef _LINUX_EVENTLOG_H
#define _LINUX_EVENTLOG_H

#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_provider_state; /* private to provider.c */
struct eventlog_source_event;
struct task_struct;

/* How much an event matters. */
enum eventlog_level {
	EVENTLOG_LEVEL_DEFAULT, /* info */
	EVENTLOG_LEVEL_ERROR, /* something was asked for and could not be done */
	EVENTLOG_LEVEL_WARN, /* it goes on, but somebody should look */
	EVENTLOG_LEVEL_INFO,
	EVENTLOG_LEVEL_VERBOSE, /* the steps of what is done */
	EVENTLOG_LEVEL_TRACE, /* each detail */
};

/* What an event says about time. */
enum eventlog_event_kind {
	EVENTLOG_EVENT_INSTANT,
	EVENTLOG_EVENT_BEGIN, /* something begins that */
	EVENTLOG_EVENT_END, /* ends with the next such event of the thread */
	EVENTLOG_EVENT_COUNTER, /* the new values of something that goes up and down */
	EVENTLOG_EVENT_SESSION_BEGIN, /* of the session that it names */
	EVENTLOG_EVENT_SESSION_END,
	EVENTLOG_EVENT_DUMP_COMPLETE, /* a late listener knows the present state now */
};

/* What a field is; EVENTLOG_FIELD() finds out. */
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

/* How a field is shown. */
enum eventlog_format {
	EVENTLOG_FORMAT_PLAIN,
	EVENTLOG_FORMAT_DECIMAL,
	EVENTLOG_FORMAT_HEXADECIMAL,
	EVENTLOG_FORMAT_IP_ADDRESS, /* u8[4] or u8[16], or a u32 in network byte order */
	EVENTLOG_FORMAT_MAC_ADDRESS, /* u8[6] */
	EVENTLOG_FORMAT_ERROR_NUMBER,
	EVENTLOG_FORMAT_DURATION, /* nanoseconds, in 64 bits, as the next two */
	EVENTLOG_FORMAT_REALTIME, /* since 1970 */
	EVENTLOG_FORMAT_MONOTONIC, /* of CLOCK_MONOTONIC */
	EVENTLOG_FORMAT_BYTE_SIZE,
	EVENTLOG_FORMAT_CHARACTERS, /* char[]: a text, up to its first NUL */
};

struct eventlog_value {
	const char *name;
	u64 value;
};

/* Names of the numbers that a field may hold. */
struct eventlog_enumeration {
	const char *name;
	bool is_bitmask; /* they are bits */
	u16 value_count;
	const struct eventlog_value *values;
};

struct eventlog_keyword {
	const char *name;
	u8 bit;
};

struct eventlog_provider_field {
	const char *name;
	const char *text; /* what it is; may be missing, as all behind it */
	const char *unit; /* of a number: what it counts or measures */
	const struct eventlog_enumeration *enumeration;
	size_t offset;
	size_t size;
	enum eventlog_type type;
	enum eventlog_format format;
};

/* An event: declared by EVENTLOG_EVENT(). */
struct eventlog_provider_event {
	bool enabled; /* by whom its provider's `listen` has been told */
	u16 payload_size;
	const struct eventlog_source_event __rcu *source; /* while it is registered */
	const char *name;
	const char *text; /* what it is */
	const char *when; /* what makes it happen */
	u64 keywords;
	enum eventlog_level level;
	enum eventlog_event_kind kind;
	bool session; /* its first field, a u64, is the session that it is of */
	u16 field_count;
	size_t struct_size;
	const struct eventlog_provider_field *fields;
};

/* A provider: declared by EVENTLOG_PROVIDER(). */
struct eventlog_provider {
	const char *name;
	const char *owner; /* what is shown in the place of a process: the module */
	const char *text;
	u16 event_count;
	u16 keyword_count;
	bool exact_name_only; /* so much that only who asks for it by its name, without *, gets it */
	struct eventlog_provider_event *const *events;
	const struct eventlog_keyword *keywords; /* by rising bits */
	/*
	 * Somebody begins to want the event, or nobody wants it any more: to attach what
	 * emits it, and to detach that.  May sleep, must not register or unregister.  Is
	 * called in pairs; when the second call of a pair is over, emitters may still be
	 * under way until eventlog_provider_unregister() returns.  Answers 0 or an error,
	 * which is logged: then the event does not occur, and the second call comes all
	 * the same.  May be NULL.
	 */
	int (*set_enabled)(struct eventlog_provider_event *event, bool enabled);
	struct eventlog_provider_state *registered;
};

/* What is none of these is refused when the provider is registered: pointers, enums. */
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

/* A member of struct EVENT_event, or one that is an array; what else is to be said follows. */
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

/* All members of the struct, in the order in which they are to be shown; or none. */
#define EVENTLOG_FIELDS(...)							\
	.fields = (const struct eventlog_provider_field[]){ __VA_ARGS__ },	\
	.field_count = sizeof((const struct eventlog_provider_field[]){ __VA_ARGS__ }) / \
		       sizeof(struct eventlog_provider_field)

/*
 * An event, whose payload is struct NAME_event: 8 bytes first, then those of 4, 2 and
 * 1, so that there are no holes.  Makes the variable event_NAME.
 */
#define EVENTLOG_EVENT(_name, ...)						\
	static struct eventlog_provider_event event_##_name = {			\
		.name = #_name,							\
		.struct_size = sizeof(struct _name##_event),			\
		__VA_ARGS__							\
	}

/* Names of numbers, { "text", value } each; and of bits, any number of which a field may hold. */
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

#define EVENTLOG_KEYWORDS(...)							\
	.keywords = (const struct eventlog_keyword[]){ __VA_ARGS__ },		\
	.keyword_count = sizeof((const struct eventlog_keyword[]){ __VA_ARGS__ }) / \
			 sizeof(struct eventlog_keyword)

/* A provider, with its events by their numbers: append new ones.  Makes NAME_provider. */
#define EVENTLOG_PROVIDER(_name, ...)						\
	static struct eventlog_provider _name##_provider = {			\
		.name = #_name,							\
		.owner = KBUILD_MODNAME,					\
		__VA_ARGS__							\
	}

/*
 * From now on its events reach those that want them.  May sleep.  Returns 0; -EINVAL
 * for what no consumer could read, which the log names; -EBUSY for an event that is
 * registered already; -ENOMEM; or -EINTR if who loads the module is being killed.
 */
int eventlog_provider_register(struct eventlog_provider *provider);

/*
 * Nobody hears its events any more when this returns, nobody emits one, and no hook of
 * a tracepoint that `listen` has detached is still running.  May sleep.
 */
void eventlog_provider_unregister(struct eventlog_provider *provider);

/* A load: whether it is worth making the payload.  Any context. */
static inline bool eventlog_event_enabled(const struct eventlog_provider_event *event)
{
	return unlikely(READ_ONCE(event->enabled));
}

/*
 * Writes the event to the rings of all who want it.  The payload is the event's struct.
 * Any context in which RCU watches, NMIs too, so not from within the idle loop; does not
 * sleep, takes no lock.
 */
void eventlog_emit(const struct eventlog_provider_event *event, const void *payload);

/*
 * The same for what is about another task, too: who asked not to hear of themselves do
 * not hear it if that is a thread of theirs, or the current one is.
 */
void eventlog_emit_about(const struct eventlog_provider_event *event, const void *payload,
			 const struct task_struct *about);

/*
 * Emits it with these members, the others 0.  Nothing of that is looked at while nobody
 * wants it.
 */
#define EVENTLOG_EMIT(_name, ...)						\
	do {									\
		if (eventlog_event_enabled(&event_##_name)) {				\
			const struct _name##_event payload_of_##_name = { __VA_ARGS__ }; \
										\
			eventlog_emit(&event_##_name, &payload_of_##_name);	\
		}								\
	} while (0)

#endif /* _LINUX_EVENTLOG_H */
