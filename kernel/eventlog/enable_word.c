// SPDX-License-Identifier: GPL-2.0
/*
 * Enable words: bits in the memory of processes that say whether an event has
 * listeners.
 *
 * The page of a word is pinned from registration until the word is
 * unregistered, its file is closed, or its process has exited or called exec
 * and the file registers another word. So a bit is changed at once, under a
 * lock, without touching the process, which may have exited or may be made to
 * wait. Only anonymous memory and tmpfs can be pinned for long without harm to
 * other processes.
 *
 * A word belongs to the memory (mm) of the process that registered it. After
 * fork the child has a copy that is never changed; a page that both share
 * changes for both.
 *
 * Lock: eventlog_enable_words_lock protects words, pages and the `enabled`
 * flags of events and slots. Pages are pinned and unpinned without it.
 */
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "eventlog.h"

/*
 * A pinned page, for one file and one process. If it is part of a large folio
 * the pin keeps all of that folio, even if the process has unmapped the rest.
 */
struct eventlog_pinned_page {
	struct list_head node; /* in the file's list */
	struct eventlog_user *user; /* charged for it */
	struct page *page;
	unsigned int size; /* of the whole folio that the pin keeps, in pages */
	struct mm_struct *mm; /* referenced, so that its address identifies the process */
	struct list_head words;
};

struct eventlog_enable_word {
	struct hlist_node by_address;
	struct list_head by_page;
	struct list_head by_event;
	struct eventlog_pinned_page *page; /* its own until the word is added */
	struct eventlog_slot *slot; /* of its event, once the word is added */
	struct page *memory; /* the page of the word, within the pinned folio */
	unsigned long address;
	u8 size;
	u8 bit;
};

static DEFINE_MUTEX(eventlog_enable_words_lock);
static DEFINE_HASHTABLE(words, 12);

static u64 key_of(const struct mm_struct *mm, unsigned long address)
{
	return (unsigned long)mm ^ address;
}

static void write_bits(const struct eventlog_enable_word *word, u64 bits, bool value)
{
	void *const memory = kmap_local_page(word->memory);
	void *const at = memory + offset_in_page(word->address);

	if (word->size == sizeof(u64)) {
		if (value)
			atomic64_or(bits, at);
		else
			atomic64_andnot(bits, at);
	} else if (value) {
		atomic_or(bits, at);
	} else {
		atomic_andnot(bits, at);
	}
	kunmap_local(memory);
}

static void write_bit(const struct eventlog_enable_word *word, bool value)
{
	write_bits(word, BIT_ULL(word->bit), value);
}

static struct eventlog_enable_word *find(const struct mm_struct *mm, unsigned long address, u8 bit)
{
	struct eventlog_enable_word *word;

	lockdep_assert_held(&eventlog_enable_words_lock);
	hash_for_each_possible(words, word, by_address, key_of(mm, address))
		if (word->page->mm == mm && word->address == address && word->bit == bit)
			return word;
	return NULL;
}

static void free_pinned_page(struct eventlog_pinned_page *page)
{
	unpin_user_pages_dirty_lock(&page->page, 1, true);
	mmdrop(page->mm);
	kfree(page);
}

/* Called without locks: unpinning may wait for the page. */
void eventlog_pinned_pages_free(struct list_head *pages)
{
	struct eventlog_pinned_page *page, *next;

	list_for_each_entry_safe(page, next, pages, node)
		free_pinned_page(page);
}

/*
 * Removes a word and leaves its bit at `value`. A page without words moves to
 * the list `unused`, which the caller frees.
 */
static void detach(struct eventlog_enable_word *word, bool value, struct list_head *unused)
{
	struct eventlog_pinned_page *page = word->page;

	write_bit(word, value);
	hash_del(&word->by_address);
	list_del(&word->by_event);
	list_del(&word->by_page);
	eventlog_uncharge(page->user, EVENTLOG_WORDS, 1);
	kfree(word);
	if (list_empty(&page->words)) {
		eventlog_uncharge(page->user, EVENTLOG_PAGES, page->size);
		list_move(&page->node, unused);
	}
}

static void detach_all(struct eventlog_pinned_page *page, bool value, struct list_head *unused)
{
	struct eventlog_enable_word *word, *next;

	list_for_each_entry_safe(word, next, &page->words, by_page)
		detach(word, value, unused);
}

/* Removes the words of processes that have exited while other processes keep the file. */
static void detach_exited(struct eventlog_file *file, struct list_head *unused)
{
	struct eventlog_pinned_page *page, *next;

	list_for_each_entry_safe(page, next, &file->pages, node)
		if (!atomic_read(&page->mm->mm_users))
			detach_all(page, false, unused);
}

/* Returns whether the calling process has registered this bit, through any file. */
bool eventlog_enable_word_exists(unsigned long address, u8 bit)
{
	bool exists;

	mutex_lock(&eventlog_enable_words_lock);
	exists = find(current->mm, address, bit);
	mutex_unlock(&eventlog_enable_words_lock);
	return exists;
}

/*
 * Returns whether the address is in a shared mapping of a file outside tmpfs.
 * Linux 6.12 does not pin such pages and returns only -EFAULT.
 */
static bool is_of_other_file(unsigned long address)
{
	struct vm_area_struct *area;
	bool is_other;

	mmap_read_lock(current->mm);
	area = vma_lookup(current->mm, address);
	is_other = area && area->vm_file && (area->vm_flags & VM_SHARED) &&
		   file_inode(area->vm_file)->i_sb->s_magic != TMPFS_MAGIC;
	mmap_read_unlock(current->mm);
	return is_other;
}

static int pin(unsigned long address, struct eventlog_pinned_page *page)
{
	struct folio *folio;
	int pinned;

	pinned = pin_user_pages_fast(address & PAGE_MASK, 1, FOLL_WRITE | FOLL_LONGTERM,
				     &page->page);
	if (pinned == -EFAULT && is_of_other_file(address))
		return -EOPNOTSUPP;
	if (pinned != 1)
		return pinned < 0 ? pinned : -EFAULT;
	folio = page_folio(page->page);
	page->size = folio_nr_pages(folio);
	/* Hugetlb pages are scarce and reserved for other purposes. */
	if (!folio_test_hugetlb(folio) && (folio_test_anon(folio) || folio_test_swapbacked(folio)))
		return 0;
	unpin_user_page(page->page);
	return -EOPNOTSUPP;
}

/*
 * Pins the page of a word of the calling process, without holding a lock.
 * Returns a word to be added or discarded, or an error.
 */
struct eventlog_enable_word *eventlog_enable_word_prepare(unsigned long address, u8 size, u8 bit)
{
	struct eventlog_pinned_page *page;
	struct eventlog_enable_word *word;
	int error;

	if (size != sizeof(u32) && (size != sizeof(u64) || BITS_PER_LONG < 64))
		return ERR_PTR(-EINVAL);
	if (address % size || bit >= size * BITS_PER_BYTE)
		return ERR_PTR(-EINVAL);
	if (!current->mm || !access_ok((void __user *)address, size))
		return ERR_PTR(-EFAULT);
	word = kzalloc(sizeof(*word), GFP_KERNEL_ACCOUNT);
	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	error = word && page ? pin(address, page) : -ENOMEM;
	if (error) {
		kfree(word);
		kfree(page);
		return ERR_PTR(error);
	}
	mmgrab(current->mm);
	page->mm = current->mm;
	INIT_LIST_HEAD(&page->words);
	word->page = page;
	word->memory = page->page;
	word->address = address;
	word->size = size;
	word->bit = bit;
	return word;
}

/* For a word that was not added. */
void eventlog_enable_word_discard(struct eventlog_enable_word *word)
{
	free_pinned_page(word->page);
	kfree(word);
}

/*
 * Returns the file's pinned page of this process that contains the word, or the
 * word's own page, or NULL if the user's limit is reached. A pinned large folio
 * is not split, so the comparison stays valid.
 */
static struct eventlog_pinned_page *find_page(struct eventlog_file *file,
					      struct eventlog_pinned_page *wanted)
{
	const struct folio *folio = page_folio(wanted->page);
	struct eventlog_pinned_page *page;

	list_for_each_entry(page, &file->pages, node)
		if (page_folio(page->page) == folio && page->mm == wanted->mm)
			return page;
	return eventlog_charge(file->user, EVENTLOG_PAGES, wanted->size) ? wanted : NULL;
}

/*
 * Adds a word: from now on its bit follows the listeners of the event. Returns
 * 0, -EADDRINUSE if the bit belongs to an event already, or -EMFILE; on error
 * the word remains the caller's to discard. The caller frees the pages in the
 * list `unused` in any case.
 */
int eventlog_enable_word_add(struct eventlog_enable_word *word, struct eventlog_file *file,
			     struct eventlog_event *event, struct eventlog_slot *slot,
			     struct list_head *unused)
{
	struct eventlog_pinned_page *own = word->page;
	struct eventlog_pinned_page *page;
	int error = -EMFILE;

	mutex_lock(&eventlog_enable_words_lock);
	detach_exited(file, unused);
	if (find(own->mm, word->address, word->bit)) {
		error = -EADDRINUSE;
		goto unlock;
	}
	if (!eventlog_charge(file->user, EVENTLOG_WORDS, 1))
		goto unlock;
	page = find_page(file, own);
	if (!page) {
		eventlog_uncharge(file->user, EVENTLOG_WORDS, 1);
		goto unlock;
	}
	if (page == own) {
		page->user = file->user;
		list_add(&page->node, &file->pages);
	} else {
		list_add(&own->node, unused);
	}
	word->page = page;
	word->slot = slot;
	list_add(&word->by_page, &page->words);
	list_add(&word->by_event, &event->words);
	hash_add(words, &word->by_address, key_of(page->mm, word->address));
	write_bit(word, event->enabled || slot->enabled);
	error = 0;
unlock:
	mutex_unlock(&eventlog_enable_words_lock);
	return error;
}

/* Removes a word of the calling process and clears its bit. Returns 0 or -ENOENT. */
int eventlog_enable_word_remove(unsigned long address, u8 bit)
{
	struct eventlog_enable_word *word;
	LIST_HEAD(unused);

	mutex_lock(&eventlog_enable_words_lock);
	word = find(current->mm, address, bit);
	if (word)
		detach(word, false, &unused);
	mutex_unlock(&eventlog_enable_words_lock);
	eventlog_pinned_pages_free(&unused);
	return word ? 0 : -ENOENT;
}

/*
 * Called when a file is closed. A process may lose a descriptor without
 * noticing. So the bits of its words are left set: its next write fails, and it
 * registers with another file.
 */
void eventlog_enable_words_remove_all(struct eventlog_file *file)
{
	struct eventlog_pinned_page *page, *next;
	LIST_HEAD(unused);

	mutex_lock(&eventlog_enable_words_lock);
	list_for_each_entry_safe(page, next, &file->pages, node)
		detach_all(page, true, &unused);
	mutex_unlock(&eventlog_enable_words_lock);
	eventlog_pinned_pages_free(&unused);
}

/* Updates the words of all processes when tracing enables or disables an event. */
void eventlog_enable_words_update(struct eventlog_event *event, bool enabled)
{
	struct eventlog_enable_word *word;

	mutex_lock(&eventlog_enable_words_lock);
	if (event->enabled != enabled) {
		WRITE_ONCE(event->enabled, enabled);
		list_for_each_entry(word, &event->words, by_event)
			write_bit(word, enabled || word->slot->enabled);
	}
	mutex_unlock(&eventlog_enable_words_lock);
}

/* Updates the words of one file's event when subscriptions enable or disable it. */
void eventlog_enable_words_update_slot(struct eventlog_slot *slot, bool enabled)
{
	struct eventlog_enable_word *word;

	mutex_lock(&eventlog_enable_words_lock);
	if (slot->enabled != enabled) {
		slot->enabled = enabled;
		list_for_each_entry(word, &slot->event->words, by_event)
			if (word->slot == slot)
				write_bit(word, enabled || slot->event->enabled);
	}
	mutex_unlock(&eventlog_enable_words_lock);
}

/*
 * Sets bits in the words of one file's event, which the program clears; only in words of that
 * memory: another process with the same file may use these bits for itself.
 */
void eventlog_enable_words_notify(struct eventlog_slot *slot, u32 bits, const struct mm_struct *mm)
{
	struct eventlog_enable_word *word;

	mutex_lock(&eventlog_enable_words_lock);
	list_for_each_entry(word, &slot->event->words, by_event)
		if (word->slot == slot && word->page->mm == mm)
			write_bits(word, bits, true);
	mutex_unlock(&eventlog_enable_words_lock);
}
