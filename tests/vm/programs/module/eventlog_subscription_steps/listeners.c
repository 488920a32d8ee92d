// SPDX-License-Identifier: MIT
//
// Listeners of a published provider, and what is written to one of them.
#include <errno.h>
#include <linux/eventlog_device.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "module/eventlog_subscription_steps/subscription.h"
#include "module/eventlog_subscription_steps/trials.h"

enum { notified = 1U << 16, notified_too = 1U << 3 };

/// A published provider with one event, whose word is the last of `words_of_many`.
struct shelf {
    uint32_t number;
    uint32_t index;
};

static struct eventlog_published_event item_at(uint32_t write_index) {
    return (struct eventlog_published_event){
        .write_index = write_index, .level = 3, .name = "item"};
}

/// A provider with one event.
static struct eventlog_publication publication_of(const struct eventlog_published_event* item,
                                                  uint32_t notification) {
    return (struct eventlog_publication){
        .size = sizeof(struct eventlog_publication),
        .event_count = 1,
        .events = (uintptr_t)item,
        .schema = (uintptr_t) "schema",
        .schema_size = 6,
        .name = "shelf",
        .notification = notification,
    };
}

static struct shelf publish_shelf(uint32_t notification) {
    struct shelf shelf = {0};
    words_of_many[31] = 0;
    step("one event is registered",
         register_at("shelf_item u64 a", &words_of_many[31], 0, &shelf.index) == 0);
    const struct eventlog_published_event item = item_at(shelf.index);
    struct eventlog_publication publication = publication_of(&item, notification);
    publication.reserved = 1;
    step("a reserved member is rejected",
         ioctl(device, EVENTLOG_PUBLISH, &publication) == -1 && errno == EINVAL);
    publication.reserved = 0;
    step("a provider is published", ioctl(device, EVENTLOG_PUBLISH, &publication) == 0);
    shelf.number = publication.provider;
    return shelf;
}

/// Ends with the event unregistered, so that another provider can have its word.
static void withdraw_shelf(const struct shelf* shelf) {
    step("the provider is unpublished", unpublish(device, shelf->number) == 0);
    step("its word is unregistered", unregister_bit(&words_of_many[31], 0) == 0);
}

/// The next listener; 0 if there is none.
static uint64_t listener_behind(uint32_t provider, uint64_t listener) {
    struct eventlog_listener_query query = {
        .size = sizeof query, .provider = provider, .listener = listener};
    if (ioctl(device, EVENTLOG_NEXT_LISTENER, &query) == 0) {
        step("it is a later one", query.listener > listener);
        return query.listener;
    }
    step("there is none", errno == ENOENT);
    return 0;
}

static int subscribe_to_shelf(void) {
    return subscribe_or_exit(&(struct subscription_request){.provider = "shelf"});
}

/// Writes one event to a listener; returns 0 or an errno.
static int write_to(uint64_t listener, uint32_t index, uint64_t a) {
    const struct {
        uint32_t first, flags;
        uint64_t listener;
        struct eventlog_batch_entry entry;
        uint64_t a;
    } batch = {
        .first = EVENTLOG_BATCH,
        .flags = EVENTLOG_BATCH_TO_LISTENER,
        .listener = listener,
        .entry = {.write_index = index, .size = 8},
        .a = a,
    };
    const ssize_t size = write(device, &batch, sizeof batch);
    return size < 0 ? errno : size == sizeof batch ? 0 : EIO;
}

void dump_to_one_listener(void) {
    const struct shelf shelf = publish_shelf(0);
    step("without subscriptions there is no listener", listener_behind(shelf.number, 0) == 0);
    const int early = subscribe_to_shelf();
    const uint64_t first = listener_behind(shelf.number, 0);
    step("a subscription is a listener", first != 0);
    const int late = subscribe_to_shelf();
    const uint64_t second = listener_behind(shelf.number, first);
    step("another one is the next", second != 0 && listener_behind(shelf.number, second) == 0);
    const int other = subscribe_or_exit(&(struct subscription_request){.provider = "absent"});
    step("one without events of the provider is none", listener_behind(shelf.number, second) == 0);
    step("another number is none of a provider", listener_behind(shelf.number + 1000, 0) == 0);
    set_file(OUR_EVENTS "shelf_item/enable", "1");
    step("an event is written to the second", write_to(second, shelf.index, 7) == 0);
    step("which gets it", read_records(late) == 1 && value_of(0) == 7);
    step("the first does not", read_records(early) == -1 && errno == EAGAIN);
    step("nor does tracing", !trace_contains("shelf_item: a=7"));
    step("an event is written to an unknown listener",
         write_to(second + 1000, shelf.index, 8) == 0);
    step("listener 0 is rejected", write_to(0, shelf.index, 8) == EINVAL);
    step("an invalid entry is rejected", write_to(second, 999, 8) == ENOENT);
    set_file(OUR_EVENTS "shelf_item/enable", "0");
    (void)close(early);
    step("a subscription that has ended is no listener",
         listener_behind(shelf.number, 0) == second);
    step("its number is not another one's", write_to(first, shelf.index, 9) == 0);
    step("nothing is read", read_records(late) == -1 && errno == EAGAIN);
    (void)close(late);
    (void)close(other);
    withdraw_shelf(&shelf);
}

void notify_of_listeners(void) {
    const int before = subscribe_to_shelf();
    const struct shelf shelf = publish_shelf(notified | notified_too);
    const volatile uint64_t* const bits = &words_of_many[31];
    step("a listener of before the publication is notified of",
         *bits == (1U | notified | notified_too));
    words_of_many[31] = 1;
    const int other = subscribe_or_exit(&(struct subscription_request){.provider = "absent"});
    step("one of other providers is not", *bits == 1);
    const int late = subscribe_to_shelf();
    step("a new one is", *bits == (1U | notified | notified_too));
    (void)close(before);
    (void)close(late);
    step("the bits stay until the program clears them", *bits == (notified | notified_too));
    words_of_many[31] = 0;
    (void)close(other);
    withdraw_shelf(&shelf);
}

void notify_publisher_alone(void) {
    words_of_many[31] = 0;
    uint32_t index = 0;
    step("one event is registered",
         register_at("shelf_item u64 a", &words_of_many[31], 0, &index) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct eventlog_published_event item = item_at(index);
        struct eventlog_publication publication = publication_of(&item, notified);
        const int result = ioctl(device, EVENTLOG_PUBLISH, &publication);
        (void)close(subscribe_to_shelf());
        _exit(result == 0 && unpublish(device, publication.provider) == 0 ? 0 : 1);
    }
    int status = 1;
    step("a child with the same file publishes it",
         waitpid(child, &status, 0) == child && status == 0);
    step("its listener sets no bit of the parent's", (words_of_many[31] & notified) == 0);
    step("the parent's word is unregistered", unregister_bit(&words_of_many[31], 0) == 0);
}
