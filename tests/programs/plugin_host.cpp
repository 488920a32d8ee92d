// SPDX-License-Identifier: MIT
//
// Loads and unloads shared objects with a provider while threads emit from the program's provider.
//
//     plugin_host loop ROUNDS FILE...      each round loads, calls and unloads each file
//     plugin_host together FILE FILE       loads and calls both, unloads the first, calls the
//                                          second
//     plugin_host regions FILE             loads, calls and unloads it
//
// Prints the numbers of attempted calls and steps, and for `regions` the numbers of mapped
// subscriptions while the file is loaded and afterwards.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <eventlog/eventlog.hpp>

#include "ring_turn.hpp"

namespace {

struct step {
    std::uint64_t number;
    std::uint32_t worker;
};
using host = eventlog::provider<"host", step>;

void emit(const step& event) {
    const ring_turn turn;
    host::emit(event);
}

[[noreturn]] void fail(const char* what, const char* why) {
    std::fprintf(stderr, "plugin_host: %s: %s\n", what, why);
    std::exit(1);
}

class loaded {
  public:
    explicit loaded(const char* file)
        : file_(file), handle_(::dlopen(file, RTLD_NOW | RTLD_GLOBAL)) {
        if (handle_ == nullptr) {
            fail(file, ::dlerror());
        }
        if (!find<int()>("is_plugin_published")()) {
            fail(file, "its provider is not published");
        }
    }
    loaded(const loaded&) = delete;
    loaded& operator=(const loaded&) = delete;
    ~loaded() {
        if (::dlclose(handle_) != 0) {
            fail(file_, ::dlerror());
        }
        // An object that the linker cannot unload stays mapped, without an error.
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.ends_with(file_)) {
                fail(file_, "still mapped after dlclose");
            }
        }
    }

    void call(std::uint32_t number, std::uint32_t by) const {
        auto* const emit_call = find<void(std::uint32_t, std::uint32_t)>("call_plugin");
        const ring_turn turn;
        emit_call(number, by);
    }

  private:
    template <class Function>
    Function* find(const char* name) const {
        void* symbol = ::dlsym(handle_, name);
        if (symbol == nullptr) {
            fail(file_, ::dlerror());
        }
        return reinterpret_cast<Function*>(symbol);
    }

    const char* file_;
    void* handle_;
};

/// Threads that emit from the program's own provider until it is destroyed.
class crowd {
  public:
    explicit crowd(std::uint32_t size) {
        for (std::uint32_t worker = 0; worker < size; ++worker) {
            threads_.emplace_back([this, worker] { work(worker); });
        }
        while (begun_ != size) {
            std::this_thread::yield();
        }
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;
    ~crowd() {
        stop_ = true;
        for (std::thread& thread : threads_) {
            thread.join();
        }
        std::printf("steps %" PRIu64 "\n", attempted_.load());
    }

  private:
    void work(std::uint32_t worker) {
        std::uint64_t number = 0;
        for (; !stop_ || number == 0; ++number) {
            emit(step{number, worker});
            if (number == 0) {
                begun_.fetch_add(1);
            }
            // Leaves processor time to the recorder.
            if (number % 8 == 7) {
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        }
        attempted_.fetch_add(number);
    }

    std::atomic<bool> stop_{false};
    std::atomic<std::uint32_t> begun_{0};
    std::atomic<std::uint64_t> attempted_{0};
    std::vector<std::thread> threads_;
};

void loop(std::uint32_t rounds, const std::vector<const char*>& files) {
    std::uint32_t calls = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (const char* file : files) {
            const loaded plugin(file);
            plugin.call(calls++, 0);
            std::thread([&] { plugin.call(calls++, 1); }).join();
        }
    }
    std::printf("calls %" PRIu32 "\n", calls);
}

void together(const char* first_file, const char* second_file) {
    std::optional<loaded> first(first_file);
    const loaded second(second_file);
    first->call(0, 1);
    second.call(1, 2);
    first.reset();
    second.call(2, 2);
    std::printf("calls 3\n");
}

unsigned count_regions() {
    unsigned count = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        count += line.find("/subscriptions/") != std::string::npos ? 1 : 0;
    }
    return count;
}

void regions(const char* file) {
    {
        const loaded plugin(file);
        plugin.call(0, 0);
        std::printf("regions %u\n", count_regions());
    }
    std::printf("regions %u\ncalls 1\n", count_regions());
}

}  // namespace

int main(int argument_count, char** arguments) {
    const std::string_view manner = argument_count > 2 ? arguments[1] : "";
    const crowd workers(3);
    if (manner == "loop" && argument_count > 3) {
        loop(static_cast<std::uint32_t>(std::strtoul(arguments[2], nullptr, 10)),
             {arguments + 3, arguments + argument_count});
    } else if (manner == "together" && argument_count == 4) {
        together(arguments[2], arguments[3]);
    } else if (manner == "regions" && argument_count == 3) {
        regions(arguments[2]);
    } else {
        fail("usage", "plugin_host loop ROUNDS FILE... | together FILE FILE | regions FILE");
    }
}
