/* SPDX-License-Identifier: MIT */
/*
 * Emits a small event without a provider, and one of a provider that is defined but, with EVENTLOG
 * off, not published; prints how often the slow path was taken. libeventlog is not initialized then
 * and must not change the thread's data: glibc uses them to start further threads.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <eventlog/eventlog.h>

static const struct eventlog_field_definition fields[] = {
    {.name = "text", .type = EVENTLOG_TYPE_TEXT}};
static const struct eventlog_event_definition events[] = {
    {.name = "event", .fields = fields, .field_count = 1}};
static const struct eventlog_definition definition = {
    EVENTLOG_DEFINITION_SIZES, .name = "unpublished", .events = events, .event_count = 1};

static unsigned slow_path_count;
static _Thread_local unsigned in_thread = 5;
static const uint32_t open_gate = 1;

static void go_longer_way(const struct eventlog_site* site, uint64_t first, uint64_t second,
                          uint64_t third, const void* text, size_t size) {
    (void)site, (void)text;
    if (first == 1 && second == 2 && third == 3 && size == 5) {
        ++slow_path_count;
    }
}

/* The word in which glibc stores the thread's table of thread-local memory. */
static uintptr_t thread_word(void) {
    uintptr_t word = 0;
#ifdef __x86_64__
    __asm__ volatile("movq %%fs:8, %0" : "=r"(word));
#endif
    return word;
}

static void* run(void* result) {
    *(unsigned*)result = in_thread;
    return NULL;
}

int main(void) {
    const uintptr_t before = thread_word();
    struct eventlog_site site = {NULL, go_longer_way, 24 + 24, 24, &open_gate};
    eventlog_emit_raw_text(&site, 1, 2, 3, "text", 5);
    if (eventlog_provider_create(&definition, &site.provider, NULL, 0) != EVENTLOG_ERROR_NONE) {
        return 1;
    }
    eventlog_emit_raw_text(&site, 1, 2, 3, "text", 5);
    if (thread_word() != before) {
        puts("the thread has been damaged");
        return 1;
    }
    unsigned result = 0;
    pthread_t thread = 0;
    if (pthread_create(&thread, NULL, run, &result) != 0 || pthread_join(thread, NULL) != 0) {
        return 1;
    }
    printf("%u longer ways, %u in a thread\n", slow_path_count, result);
    return 0;
}
