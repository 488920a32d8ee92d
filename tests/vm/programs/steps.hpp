// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "steps.h"

// What the programs have in common that follow a provider of libeventlog through tracefs.
// Single-threaded.

/// What the kernel, or somebody else, does a moment later. It is given up after minutes only: the
/// machine may be busy.
template <class Condition>
bool wait_until(Condition condition) {
    for (int i = 0; i < 6000 && !condition(); ++i) {
        ::usleep(50'000);
    }
    return condition();
}

/// The names in tracefs of the events whose names begin like that, in a list in which each is
/// followed by a space. On kernels with a page a hash stands behind each name.
inline std::string names_of(std::string_view event) {
    std::string names;
    DIR* const folder = ::opendir(EVENTS);
    for (const dirent* entry = nullptr;
         folder != nullptr && (entry = ::readdir(folder)) != nullptr;) {
        if (std::string_view(entry->d_name).starts_with(event)) {
            names += entry->d_name;
            names += ' ';
        }
    }
    if (folder != nullptr) {
        static_cast<void>(::closedir(folder));
    }
    return names;
}

/// The first of them; `event` is called PROVIDER_EVENT.
inline std::string name_of(std::string_view event) {
    const std::string names = names_of("eventlog_" + std::string(event));
    return names.substr(0, names.find(' '));
}

/// Has somebody listen to an event, or stop to listen.
inline void set_event_enabled(std::string_view event, bool on) {
    set_file((EVENTS + name_of(event) + "/enable").c_str(), on ? "1" : "0");
}

inline void clear_trace() {
    const int file = ::open(TRACING "trace", O_WRONLY | O_TRUNC);
    step("the trace is empty", file >= 0);
    static_cast<void>(::close(file));
}

/// The number in a file that has nothing else, or a negative one.
inline long long read_number(const char* path) {
    FILE* file = std::fopen(path, "r");
    long long number = -1;
    if (file != nullptr) {
        static_cast<void>(std::fscanf(file, "%lld", &number));
        static_cast<void>(std::fclose(file));
    }
    return number;
}
