// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/eventlog from its first event to its last: what is registered shows in
 * tracefs, the bit shows whether there is a listener, and writes are recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../kselftest_harness.h"

#define TRACING "/sys/kernel/tracing/"
#define EVENT TRACING "events/eventlog/selftest/"
#define DESCRIPTION "selftest u32 number; __rel_loc char[] why"
#define BIT 30

static int set_file(const char *path, const char *text)
{
	const ssize_t length = strlen(text);
	int file = open(path, O_WRONLY | O_TRUNC);
	ssize_t written;

	if (file < 0)
		return -errno;
	written = write(file, text, length);
	close(file);
	return written == length ? 0 : -EIO;
}

static bool file_holds(const char *path, const char *text)
{
	FILE *file = fopen(path, "r");
	char line[1024];
	bool found = false;

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, text);
	fclose(file);
	return found;
}

FIXTURE(eventlog) {
	int device;
	uint32_t word;
};

FIXTURE_SETUP(eventlog)
{
	self->word = 1;
	self->device = open(EVENTLOG_DEVICE_PATH, O_RDWR);
	if (self->device < 0 && errno == ENOENT)
		SKIP(return, "there is no " EVENTLOG_DEVICE_PATH);
	if (self->device < 0 && errno == EACCES)
		SKIP(return, EVENTLOG_DEVICE_PATH " is for root");
	ASSERT_LE(0, self->device);
	if (access(TRACING "events", F_OK))
		SKIP(return, "tracefs is not mounted at " TRACING);
}

FIXTURE_TEARDOWN(eventlog)
{
	set_file(EVENT "enable", "0");
	if (self->device >= 0)
		close(self->device);
}

static int add(int device, const char *description, uint32_t *word, uint32_t *index)
{
	struct eventlog_registration wanted = {
		.size = sizeof(wanted),
		.enable_bit = BIT,
		.enable_size = sizeof(*word),
		.enable_addr = (uintptr_t)word,
		.name_args = (uintptr_t)description,
	};

	if (ioctl(device, EVENTLOG_REGISTER, &wanted))
		return -errno;
	*index = wanted.write_index;
	return 0;
}

static int take_back(int device, uint32_t *word)
{
	struct eventlog_unregistration wanted = {
		.size = sizeof(wanted),
		.disable_bit = BIT,
		.disable_addr = (uintptr_t)word,
	};

	return ioctl(device, EVENTLOG_UNREGISTER, &wanted) ? -errno : 0;
}

static int emit(int device, uint32_t index, uint32_t number, uint32_t why)
{
	struct {
		uint32_t index;
		uint32_t number;
		uint32_t why;
		char text[8];
	} event = { index, number, why, "lost" };

	return write(device, &event, sizeof(event)) == sizeof(event) ? 0 : -errno;
}

TEST_F(eventlog, event_has_its_fields)
{
	uint32_t index;

	ASSERT_EQ(0, add(self->device, DESCRIPTION, &self->word, &index));
	EXPECT_TRUE(file_holds(EVENT "format", "field:u32 number;"));
	EXPECT_TRUE(file_holds(EVENT "format", "field:__data_loc char[] why;"));
}

TEST_F(eventlog, bit_shows_listeners)
{
	uint32_t index;

	ASSERT_EQ(0, add(self->device, DESCRIPTION, &self->word, &index));
	EXPECT_EQ(1, self->word);
	EXPECT_EQ(-EBADF, emit(self->device, index, 4711, 5 << 16));
	ASSERT_EQ(0, set_file(EVENT "enable", "1"));
	EXPECT_EQ(1 | 1U << BIT, self->word);
	ASSERT_EQ(0, set_file(EVENT "enable", "0"));
	EXPECT_EQ(1, self->word);
	ASSERT_EQ(0, set_file(EVENT "enable", "1"));
	EXPECT_EQ(0, take_back(self->device, &self->word));
	EXPECT_EQ(1, self->word);
	EXPECT_EQ(-ENOENT, take_back(self->device, &self->word));
}

TEST_F(eventlog, what_is_written_is_recorded)
{
	uint32_t index;

	ASSERT_EQ(0, add(self->device, DESCRIPTION, &self->word, &index));
	ASSERT_EQ(0, set_file(TRACING "trace", ""));
	ASSERT_EQ(0, set_file(EVENT "enable", "1"));
	EXPECT_EQ(0, emit(self->device, index, 4711, 5 << 16));
	EXPECT_TRUE(file_holds(TRACING "trace", "selftest: number=4711 why=lost"));
}

TEST_F(eventlog, what_points_elsewhere_is_refused)
{
	uint32_t index;

	ASSERT_EQ(0, add(self->device, DESCRIPTION, &self->word, &index));
	ASSERT_EQ(0, set_file(EVENT "enable", "1"));
	EXPECT_EQ(-EFAULT, emit(self->device, index, 4711, 9 << 16));
	EXPECT_EQ(-EFAULT, emit(self->device, index, 4711, 4 << 16));
	EXPECT_EQ(-ENOENT, emit(self->device, index + 1, 4711, 5 << 16));
}

TEST_F(eventlog, what_is_not_understood_is_refused)
{
	uint32_t index;

	EXPECT_EQ(-EINVAL, add(self->device, "selftest u128 number", &self->word, &index));
	EXPECT_EQ(-EINVAL, add(self->device, "../selftest u32 number", &self->word, &index));
	ASSERT_EQ(0, add(self->device, DESCRIPTION, &self->word, &index));
	EXPECT_EQ(-EADDRINUSE, add(self->device, DESCRIPTION, &self->word, &index));
}

TEST_HARNESS_MAIN
