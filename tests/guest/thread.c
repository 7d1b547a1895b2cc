/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: creation, thread-local storage, futexes, signals to one of them, exec and exit among them. */
#define _GNU_SOURCE
#include "check.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS	8
#define ROUNDS	2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static __thread long local = 5;
static long shared, turn;
static volatile pid_t signalled;

static void *count_up(void *arg)
{
	long id = (long)arg;

	local += id;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		shared++;
		pthread_mutex_unlock(&lock);
		if (i % 100 == 0)
			sched_yield();
	}
	return (void *)local;
}

static void check_mutex(void)
{
	pthread_t threads[THREADS];
	bool good = true;
	void *ret;

	for (long i = 0; i < THREADS; i++)
		good &= pthread_create(&threads[i], NULL, count_up, (void *)i) == 0;
	for (long i = 0; i < THREADS; i++)
		good &= pthread_join(threads[i], &ret) == 0 && (long)ret == 5 + i;
	check(good && local == 5, "eight threads, thread-local variables");
	check(shared == THREADS * ROUNDS, "a mutex");
}

static void *take_turns(void *arg)
{
	long me = (long)arg;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < 200; i++) {
		while (turn != me)
			pthread_cond_wait(&changed, &lock);
		turn = !me;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void check_condition(void)
{
	struct timespec ts;
	pthread_t other;
	int err;

	pthread_create(&other, NULL, take_turns, (void *)1);
	take_turns((void *)0);
	pthread_join(other, NULL);
	check(turn == 0, "two threads take turns");
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 10000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	pthread_mutex_lock(&lock);
	err = pthread_cond_timedwait(&changed, &lock, &ts);
	pthread_mutex_unlock(&lock);
	check(err == ETIMEDOUT, "a wait that times out");
}

static void check_futex(void)
{
	struct timespec ts = { 0, 10000000 };
	uint32_t word = 7;

	check_errno(syscall(SYS_futex, &word, FUTEX_WAIT, 8, NULL), EAGAIN,
		    "FUTEX_WAIT, another value");
	check_errno(syscall(SYS_futex, &word, FUTEX_WAIT, 7, &ts), ETIMEDOUT,
		    "FUTEX_WAIT times out");
	check(syscall(SYS_futex, &word, FUTEX_WAKE, 10) == 0, "FUTEX_WAKE of nobody");
	check_errno(syscall(SYS_futex, (char *)&word + 1, FUTEX_WAKE, 1), EINVAL, "unaligned");
}

static void on_signal(int sig)
{
	signalled = syscall(SYS_gettid);
}

static void *wait_for_signal(void *arg)
{
	*(volatile pid_t *)arg = syscall(SYS_gettid);
	while (!signalled)
		usleep(1000);
	return NULL;
}

static void check_signal(void)
{
	volatile pid_t tid = 0;
	pthread_t other;

	signal(SIGUSR1, on_signal);
	pthread_create(&other, NULL, wait_for_signal, (void *)&tid);
	while (!tid)
		sched_yield();
	check(tid != getpid(), "a thread has its own id");
	check(syscall(SYS_tgkill, getpid(), tid, SIGUSR1) == 0, "tgkill");
	pthread_join(other, NULL);
	check(signalled == tid, "... reaches that thread");
	signal(SIGUSR1, SIG_DFL);
}

static void *sleep_on(void *arg)
{
	pause();
	return NULL;
}

static void *exec_here(void *arg)
{
	execl("/bin/sh", "sh", "-c", "exit 21", (char *)NULL);
	return NULL;
}

static void *exit_group(void *arg)
{
	exit(22);
}

static int status_with_threads(void *(*body)(void *))
{
	pthread_t other;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		pthread_create(&other, NULL, sleep_on, NULL);
		pthread_create(&other, NULL, body, NULL);
		for (;;)
			pause();
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void *crash(void *arg)
{
	*(volatile int *)arg = 1;
	return NULL;
}

static void check_endings(void)
{
	check(status_with_threads(exec_here) == 21, "exec from a second thread");
	check(status_with_threads(exit_group) == 22, "exit from a second thread");
	check(status_with_threads(crash) == -SIGSEGV, "a crash in a second thread");
}

static void *in_thread_fork(void *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(getpid() == (pid_t)syscall(SYS_gettid) ? 23 : 1);
	waitpid(pid, &status, 0);
	return (void *)(long)WEXITSTATUS(status);
}

static void check_fork(void)
{
	pthread_t other;
	void *ret;

	pthread_create(&other, NULL, in_thread_fork, NULL);
	pthread_join(other, &ret);
	check((long)ret == 23, "fork from a second thread");
}

int main(void)
{
	check_mutex();
	check_condition();
	check_futex();
	check_signal();
	check_endings();
	check_fork();
	return checks_done();
}
