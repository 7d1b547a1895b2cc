/* SPDX-License-Identifier: Apache-2.0 */
/* Circular doubly linked lists; a list head is a node of its own. */
#pragma once

#include "core/types.h"

struct list { struct list *next, *prev; };

#define LIST_INIT(name) { &(name), &(name) }

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_add_between(struct list *n, struct list *prev, struct list *next)
{
	n->prev = prev;
	n->next = next;
	prev->next = next->prev = n;
}

/* First in the list. */
static inline void list_add(struct list *head, struct list *n)
{
	list_add_between(n, head, head->next);
}

/* Last in the list. */
static inline void list_add_tail(struct list *head, struct list *n)
{
	list_add_between(n, head->prev, head);
}

/* Safe to repeat: the node points at itself afterwards. */
static inline void list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

#define list_entry(n, type, member) container_of(n, type, member)
#define list_first(head, type, member) container_of((head)->next, type, member)

#define list_for_each(pos, head, member)						\
	for (pos = container_of((head)->next, __typeof__(*pos), member);		\
	     &pos->member != (head);							\
	     pos = container_of(pos->member.next, __typeof__(*pos), member))

#define list_for_each_safe(pos, tmp, head, member)					\
	for (pos = container_of((head)->next, __typeof__(*pos), member),		\
	     tmp = container_of(pos->member.next, __typeof__(*pos), member);		\
	     &pos->member != (head);							\
	     pos = tmp, tmp = container_of(pos->member.next, __typeof__(*pos), member))
