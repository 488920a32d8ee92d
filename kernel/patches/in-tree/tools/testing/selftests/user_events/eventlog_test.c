// SPDX-License-Identifier: GPL-2.0
/*
 * User events in the system eventlog, and BPF programs that are attached to
 * user events.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/user_events.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../kselftest_harness.h"

#define TRACING "/sys/kernel/tracing/"
#define OURS TRACING "events/eventlog/__test_event/"
#define THEIRS TRACING "events/user_events/__test_event/"
#define DESCRIPTION "__test_event u32 number"

FIXTURE(eventlog) {
	int data;
	uint32_t word;
	uint32_t other;
};

static int add(int data, const char *description, uint16_t flags, uint32_t *word, uint32_t *index)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = 31,
		.enable_size = sizeof(*word),
		.flags = flags,
		.enable_addr = (uintptr_t)word,
		.name_args = (uintptr_t)description,
	};

	if (ioctl(data, DIAG_IOCSREG, &reg))
		return -errno;
	*index = reg.write_index;
	return 0;
}

static int emit(int data, uint32_t index, uint32_t number)
{
	uint32_t event[2] = { index, number };

	return write(data, event, sizeof(event)) == sizeof(event) ? 0 : -errno;
}

static int number_of(const char *path)
{
	char text[16] = "";
	int file = open(path, O_RDONLY);
	ssize_t got;

	if (file < 0)
		return -errno;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	return got > 0 ? atoi(text) : -EIO;
}

FIXTURE_SETUP(eventlog)
{
	uint32_t index;

	self->data = open(TRACING "user_events_data", O_RDWR);
	if (self->data < 0)
		SKIP(return, "there are no user events, or they are for root");
	if (add(self->data, DESCRIPTION, USER_EVENT_REG_EVENTLOG, &self->word, &index) == -EINVAL)
		SKIP(return, "user events cannot be in the system eventlog");
}

FIXTURE_TEARDOWN(eventlog)
{
	if (self->data >= 0)
		close(self->data);
}

TEST_F(eventlog, event_is_in_the_system)
{
	EXPECT_EQ(0, access(OURS "format", F_OK));
	EXPECT_EQ(-1, access(THEIRS "format", F_OK));
}

TEST_F(eventlog, event_of_user_events_is_another)
{
	uint32_t index;

	/* Other fields, too. */
	ASSERT_EQ(0, add(self->data, "__test_event u64 other", 0, &self->other, &index));
	EXPECT_EQ(1, index);
	EXPECT_EQ(0, access(OURS "format", F_OK));
	EXPECT_EQ(0, access(THEIRS "format", F_OK));
}

TEST_F(eventlog, other_fields_are_refused)
{
	uint32_t index;

	EXPECT_EQ(-EADDRINUSE, add(self->data, "__test_event u64 other", USER_EVENT_REG_EVENTLOG,
				   &self->other, &index));
	EXPECT_EQ(0, add(self->data, "__test_event u64 other",
			 USER_EVENT_REG_EVENTLOG | USER_EVENT_REG_MULTI_FORMAT, &self->other,
			 &index));
}

TEST_F(eventlog, flags_beyond_are_refused)
{
	uint32_t index;

	EXPECT_EQ(-EINVAL, add(self->data, DESCRIPTION, USER_EVENT_REG_MAX, &self->other, &index));
}

/* Counts events, and notes the number of the last. Returns a descriptor, or -errno. */
static int load(int map)
{
	const struct bpf_insn program[] = {
		/* r1 = event->number, behind the common fields */
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 1, .src_reg = 1, .off = 8 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 2,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map },
		{ },
		/* value[1] = r1; value[0] += 1 */
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 2, .src_reg = 1, .off = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 2, .src_reg = 1,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.insn_cnt = ARRAY_SIZE(program),
		.insns = (uintptr_t)program,
		.license = (uintptr_t)"GPL",
	};
	int loaded = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	return loaded < 0 ? -errno : loaded;
}

static int make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = 2 * sizeof(uint64_t),
		.max_entries = 1,
	};

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static int look(int map, uint64_t value[2])
{
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
	};

	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
}

TEST_F(eventlog, programs_run)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
	};
	uint64_t value[2] = {};
	int map, loaded, event;

	map = make_map();
	if (map < 0)
		SKIP(return, "there is no BPF, or it is for root");
	attr.config = number_of(OURS "id");
	ASSERT_LT(0, (int)attr.config);
	loaded = load(map);
	ASSERT_LE(0, loaded);
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	ASSERT_LE(0, event);
	ASSERT_EQ(0, ioctl(event, PERF_EVENT_IOC_SET_BPF, loaded));
	ASSERT_EQ(0, ioctl(event, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_EQ(1U << 31, self->word);
	EXPECT_EQ(0, emit(self->data, 0, 4711));
	EXPECT_EQ(0, emit(self->data, 0, 4712));
	ASSERT_EQ(0, look(map, value));
	EXPECT_EQ(2, value[0]);
	EXPECT_EQ(4712, value[1]);
	close(event);
	EXPECT_EQ(0, self->word);
	EXPECT_EQ(-EBADF, emit(self->data, 0, 4713));
	close(loaded);
	close(map);
}

TEST_HARNESS_MAIN
