// SPDX-License-Identifier: GPL-2.0
/*
 * Words in the memory of processes, in which a bit says whether somebody
 * listens to an event.
 *
 * The page of a word is pinned from when it is registered until it is given
 * back, its file is closed, or its process has ended or become another program
 * and the file registers another.  So a bit is changed at once, under a lock,
 * without touching the process, which may have ended, or be made to wait.
 * Pages that can be pinned for long without harm to others are anonymous ones,
 * and those of tmpfs.
 *
 * A word belongs to the memory (mm) of the process that registered it.  A
 * forked child gets a copy that nobody changes; a page that the child shares
 * changes for both.
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
 * A pinned page of one file and one process.  It may be part of a large one,
 * all of which the pin keeps, whatever the process still has of it.
 */
struct eventlog_pinned_page {
	struct list_head node; /* of its file */
	struct eventlog_user *user; /* whom it counts for */
	struct page *page;
	unsigned int size; /* of all that the pin keeps, in pages */
	struct mm_struct *mm; /* held, to tell it from others */
	struct list_head words;
};

struct eventlog_enable_word {
	struct hlist_node by_address;
	struct list_head by_page;
	struct list_head by_event;
	struct eventlog_pinned_page *page; /* its own, until it is added */
	struct eventlog_slot *slot; /* of the event, once it is added */
	struct page *memory; /* where it lies, in all that the pin keeps */
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

static void write_bit(const struct eventlog_enable_word *word, bool value)
{
	void *const memory = kmap_local_page(word->memory);
	void *const at = memory + offset_in_page(word->address);

	if (word->size == sizeof(u64)) {
		if (value)
			atomic64_or(BIT_ULL(word->bit), at);
		else
			atomic64_andnot(BIT_ULL(word->bit), at);
	} else if (value) {
		atomic_or(BIT(word->bit), at);
	} else {
		atomic_andnot(BIT(word->bit), at);
	}
	kunmap_local(memory);
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

/* Without any lock: a page may have to be waited for. */
void eventlog_pinned_pages_free(struct list_head *pages)
{
	struct eventlog_pinned_page *page, *next;

	list_for_each_entry_safe(page, next, pages, node)
		free_pinned_page(page);
}

/* Leaves a bit as it is to stay.  A page that has no words any more goes to the list `unused`. */
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

/* Of processes that have ended while others keep the file. */
static void detach_exited(struct eventlog_file *file, struct list_head *unused)
{
	struct eventlog_pinned_page *page, *next;

	list_for_each_entry_safe(page, next, &file->pages, node)
		if (!atomic_read(&page->mm->mm_users))
			detach_all(page, false, unused);
}

/* Whether the calling process has registered this bit, through whatever file. */
bool eventlog_enable_word_exists(unsigned long address, u8 bit)
{
	bool exists;

	mutex_lock(&eventlog_enable_words_lock);
	exists = find(current->mm, address, bit);
	mutex_unlock(&eventlog_enable_words_lock);
	return exists;
}

/*
 * Whether the calling process shares that memory with a file of something else
 * than tmpfs.  Linux 6.12 does not pin such pages, but only says EFAULT.
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
	/* Huge pages are few, and set aside for something else. */
	if (!folio_test_hugetlb(folio) && (folio_test_anon(folio) || folio_test_swapbacked(folio)))
		return 0;
	unpin_user_page(page->page);
	return -EOPNOTSUPP;
}

/*
 * Pins the page of a word of the calling process.  Holds no lock while it
 * waits for that.  Returns what is to be added or discarded, or an error.
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

/* Of a word that has not been added. */
void eventlog_enable_word_discard(struct eventlog_enable_word *word)
{
	free_pinned_page(word->page);
	kfree(word);
}

/*
 * What the file has pinned of this process already and the word lies in, or
 * the word's own.  Large pages are not split while they are pinned.
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
 * From now on the word tells who listens to the event.  Returns 0, -EADDRINUSE
 * if this bit tells of an event already, or -EMFILE; then the word is still the
 * caller's to discard.  Pages in the list `unused` are the caller's to free,
 * in any case.
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

/* Gives a word of the calling process back, clears its bit.  Returns 0 or -ENOENT. */
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
 * Of a file that is being closed.  A process may lose a descriptor that it did
 * not know of.  So bits that it did not take back are set: what it writes next
 * tells it that it needs another one.
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

/* Tells all processes whether somebody listens to the event by tracing. */
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

/* Tells those whose event it is through that file whether a subscription wants it. */
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
