#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Give way to other processes, in a wait loop whose poll found nothing. Yields the core; naps for some tens of
 * microseconds if a yield brought the core back only after a time slice.
 *
 * Linux takes the rest of its slice from a process that yields (seen with 6.18). Among processes that all yield, the
 * core comes back within microseconds. Next to one that computes, each poll costs a slice of milliseconds, and ranks
 * that wait for each other stand still for minutes. A process that sleeps keeps its claim, and gets the core when it
 * wakes.
 * Local; any thread may call it. */
void barrio_give_way(void);

#ifdef __cplusplus
}
#endif
