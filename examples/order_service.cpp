// SPDX-License-Identifier: MIT
//
// A service that accepts orders, with worker threads, a payment provider that is slow and sometimes
// fails, and retries. All its diagnostics are events; without a listener each costs one load and a
// branch.
//
//     ./order_service [SECONDS]
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include <eventlog/eventlog.hpp>

namespace {

struct order_placed {
    std::uint64_t order;
    std::string_view customer;
    std::uint32_t items;
    std::uint32_t cents;
};

struct payment_attempt {
    std::uint64_t order;
    std::uint32_t attempt;
    std::uint32_t took_us;
    bool accepted;
};

struct payment_retry {
    std::uint64_t order;
    std::uint32_t attempt;
    std::uint32_t wait_us;
    std::string_view why;
};

struct order_done {
    std::uint64_t order;
    std::uint32_t waited_us;
    std::uint32_t took_us;
    std::string_view result;
};

struct queue_length {
    std::uint32_t orders;
};

using shop = eventlog::provider<"shop", order_placed, payment_attempt, payment_retry, order_done,
                                eventlog::gauge<queue_length>>;

using steady = std::chrono::steady_clock;

std::uint32_t microseconds_since(steady::time_point begin) {
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - begin).count());
}

struct order {
    std::uint64_t number = 0;
    steady::time_point placed{};
};

/// Orders that wait for a worker.
class order_queue {
  public:
    void add(const order& added) {
        const std::lock_guard lock(mutex_);
        orders_.push_back(added);
        length_.set(static_cast<std::uint32_t>(orders_.size()));
        changed_.notify_one();
    }

    /// Returns false when the queue is closed and empty.
    bool pop(order& next) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !orders_.empty(); });
        if (orders_.empty()) {
            return false;
        }
        next = orders_.front();
        orders_.pop_front();
        return true;
    }

    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<order> orders_;
    shop::gauge<queue_length> length_;
    bool closed_ = false;
};

/// Simulates a network service: takes 0.2 to 2 ms, fails one time in eight.
class payment_service {
  public:
    explicit payment_service(unsigned seed) : random_(seed) {}

    bool pay(std::uint64_t number, std::uint32_t attempt) {
        const auto begin = steady::now();
        std::this_thread::sleep_for(std::chrono::microseconds(200 + random_() % 1800));
        const bool accepted = random_() % 8 != 0;
        shop::emit(payment_attempt{number, attempt, microseconds_since(begin), accepted});
        return accepted;
    }

  private:
    std::minstd_rand random_;
};

constexpr std::uint32_t attempts_max = 3;

std::string_view process(const order& accepted, payment_service& payments) {
    for (std::uint32_t attempt = 1; attempt <= attempts_max; ++attempt) {
        if (payments.pay(accepted.number, attempt)) {
            return "paid";
        }
        const std::uint32_t wait_us = 500U << attempt;
        shop::emit(payment_retry{accepted.number, attempt, wait_us, "payment rejected"});
        std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
    }
    return "given up";
}

void work(order_queue& queue, unsigned seed) {
    payment_service payments(seed);
    order accepted;
    while (queue.pop(accepted)) {
        const std::uint32_t waited_us = microseconds_since(accepted.placed);
        const auto begin = steady::now();
        const std::string_view result = process(accepted, payments);
        shop::emit(order_done{accepted.number, waited_us, microseconds_since(begin), result});
    }
}

void place_orders(order_queue& queue, std::chrono::duration<double> how_long) {
    constexpr std::string_view customers[] = {"ann", "bert", "chloë", "dimitri", "esra"};
    std::minstd_rand random(1);
    const auto end = steady::now() + how_long;
    for (std::uint64_t number = 1; steady::now() < end; ++number) {
        const std::string_view customer = customers[random() % std::size(customers)];
        const auto items = static_cast<std::uint32_t>(1 + random() % 5);
        shop::emit(order_placed{number, customer, items, items * 1995});
        queue.add({number, steady::now()});
        std::this_thread::sleep_for(std::chrono::microseconds(300 + random() % 400));
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const double seconds = argument_count > 1 ? std::atof(arguments[1]) : 60;
    constexpr unsigned worker_count = 4;
    order_queue queue;
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < worker_count; ++i) {
        workers.emplace_back(work, std::ref(queue), i + 1);
    }
    place_orders(queue, std::chrono::duration<double>(seconds));
    queue.close();
    for (std::thread& worker : workers) {
        worker.join();
    }
}
