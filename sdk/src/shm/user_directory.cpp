// SPDX-License-Identifier: MIT
#include "shm/user_directory.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "platform/short_text.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {
namespace {

/// renameat2(2), which older C libraries lack. An existing file of the new name stays.
bool rename_to_free_name(const char* from, const char* to) noexcept {
    return ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
}

/// The owner could have taken a name that can be guessed.
bool rename_to_random_name(const char* path, uid_t owner, short_text<96>& name) noexcept {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        return false;
    }
    constexpr unsigned hexadecimal = 16;
    name.put(path).put(".of-user-").put_number(owner).put('.').put_number(number, hexadecimal);
    return rename_to_free_name(path, name.c_str());
}

}  // namespace

uid_t outer_user_in(const char* map, uid_t user) noexcept {
    // Lines of three numbers: the first user inside, the first one outside, how many.
    constexpr int base = 10;
    while (true) {
        unsigned long numbers[3]{};
        for (unsigned long& number : numbers) {
            char* end = nullptr;
            number = std::strtoul(map, &end, base);
            if (end == map) {
                return user;
            }
            map = end;
        }
        const auto [inside, outside, count] = numbers;
        if (user >= inside && user - inside < count) {
            return static_cast<uid_t>(outside + (user - inside));
        }
    }
}

uid_t outer_user(uid_t user) noexcept {
    const unique_fd file(::open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC));
    // The lines that fit; a longer map is that of no known tool.
    std::array<char, 4096> map{};
    const ssize_t size = file ? ::read(file.get(), map.data(), map.size() - 1) : -1;
    if (size <= 0) {
        return user;
    }
    map[static_cast<std::size_t>(size)] = '\0';
    return outer_user_in(map.data(), user);
}

user_directory_name user_directory_of(uid_t user) noexcept {
    short_text<user_directory_name{}.size()> name;
    name.put("/dev/shm/eventlog-").put_number(user);
    return name.characters();
}

/// Files of a namespace belong to root of the machine. Where that user has no number, they seem to
/// belong to another one than this user: numbers are unique.
bool is_root_of_machine(uid_t user) noexcept {
    struct stat status {};
    return ::stat("/proc/self/ns/user", &status) != 0 || status.st_uid == user;
}

user_directory_name find_user_directory(uid_t user) noexcept {
    const uid_t outer = outer_user(user);
    struct stat space {};
    if (outer != 0 || is_root_of_machine(user) || ::stat("/proc/self/ns/user", &space) != 0) {
        return user_directory_of(outer);
    }
    short_text<user_directory_name{}.size()> name;
    name.put("/dev/shm/eventlog-userns-").put_number(space.st_ino);
    return name.characters();
}

bool move_foreign_directory(const char* path) noexcept {
    const uid_t self = ::geteuid();
    struct stat status {};
    if (self != 0 || ::lstat(path, &status) != 0 || status.st_uid == self ||
        std::strcmp(path, find_user_directory(self).data()) != 0 ||
        // Again, because another process of root may have moved it meanwhile.
        ::lstat(path, &status) != 0 || status.st_uid == self) {
        return false;
    }
    short_text<96> aside;
    if (!rename_to_random_name(path, status.st_uid, aside)) {
        return false;
    }
    // Another process of root may have moved it and made root's directory since the check.
    if (::lstat(aside.c_str(), &status) == 0 && status.st_uid == self) {
        static_cast<void>(rename_to_free_name(aside.c_str(), path));
    }
    return true;
}

}  // namespace eventlog::core
