// SPDX-License-Identifier: MIT
#include "platform/registry_lock.hpp"

#include <pthread.h>

#include "platform/startup_section.hpp"

namespace eventlog::core {
namespace {

[[EVENTLOG_STARTUP_SECTION]] pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

registry_lock::registry_lock() noexcept : held_(::pthread_mutex_lock(&registry_mutex) == 0) {}

registry_lock::registry_lock(std::try_to_lock_t) noexcept
    : held_(::pthread_mutex_trylock(&registry_mutex) == 0) {}

registry_lock::~registry_lock() {
    if (held_) {
        static_cast<void>(::pthread_mutex_unlock(&registry_mutex));
    }
}

void lock_registry_before_fork() noexcept {
    static_cast<void>(::pthread_mutex_lock(&registry_mutex));
}

void unlock_registry_after_fork() noexcept {
    static_cast<void>(::pthread_mutex_unlock(&registry_mutex));
}

}  // namespace eventlog::core
