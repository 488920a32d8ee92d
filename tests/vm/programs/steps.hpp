// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "steps.h"

// Steps of programs that follow a provider of libeventlog through tracefs.
// Single-threaded.

/// Waits for an effect of the kernel or of another process. The limit is minutes because the
/// machine may be busy.
template <class Condition>
bool wait_until(Condition condition) {
    for (int i = 0; i < 6000 && !condition(); ++i) {
        ::usleep(50'000);
    }
    return condition();
}

/// The names in tracefs of the events whose names begin with `event`, each followed by a space. On
/// kernels with a status page, each name ends with a hash.
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

/// Enables or disables an event in tracefs.
inline void set_event_enabled(std::string_view event, bool on) {
    set_file((EVENTS + name_of(event) + "/enable").c_str(), on ? "1" : "0");
}

inline void clear_trace() {
    const int file = ::open(TRACING "trace", O_WRONLY | O_TRUNC);
    step("the trace is empty", file >= 0);
    static_cast<void>(::close(file));
}

/// The number that is a file's only content; negative if the file cannot be read.
inline long long read_number(const char* path) {
    FILE* file = std::fopen(path, "r");
    long long number = -1;
    if (file != nullptr) {
        static_cast<void>(std::fscanf(file, "%lld", &number));
        static_cast<void>(std::fclose(file));
    }
    return number;
}
