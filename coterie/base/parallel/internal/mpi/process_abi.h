/* Internal: the interface between coterie and a message-passing library, in C, so that a separate library can implement
 * it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COTERIE_PROCESS_ABI 2

/* One thread calls all functions: the one that called start(). If the library fails, it ends all processes. */
typedef struct coterie_process_api {
    int32_t abi;
    /* Joins the other processes. Call it once, before anything else. Uses the library as it is if the host has started
     * it already. */
    void (*start)(void);
    /* Waits for the others, then leaves them. */
    void (*finish)(void);
    /* Ends all processes with this exit status. */
    void (*end_all)(int32_t status);
    int32_t (*rank)(void);
    int32_t (*size)(void);
    /* Processes that share this machine's memory. */
    int32_t (*processes_here)(void);
    void (*send)(const void* bytes, uint64_t count, int32_t to);
    void (*receive)(void* bytes, uint64_t count, int32_t from);
    void (*broadcast)(void* bytes, uint64_t count, int32_t root);
    int32_t (*highest)(int32_t value);
} coterie_process_api;

/* Null if `abi` is not the version that the library was built for. */
#ifdef __cplusplus
__attribute__((visibility("default")))
#endif
const coterie_process_api* coterie_process_functions(int32_t abi);

#ifdef __cplusplus
}
#endif
