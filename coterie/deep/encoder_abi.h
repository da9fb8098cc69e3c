/* Internal: the interface between coterie and LibTorch for word encoders, in C like network_abi.h. */
#pragma once
/* The library behind it runs an encoder of the BERT type forwards and backwards and moves its parameters. coterie
 * computes the training objective. The library draws no random numbers: coterie passes a number that determines
 * what training drops. Everything is in single precision, on the CPU.
 *
 * Parameters, in this order: pieces x hidden; positions x hidden; weight and bias of the normalisation after them;
 * buckets x heads if there are buckets; then per layer weight and bias of query, key, value, output, normalisation,
 * inner, outer, normalisation; then additional trained parameters, whose gradients coterie computes.
 *
 * A step: forward() keeps what the gradient needs, backward() and add_gradient() gather gradients, and step() moves the
 * parameters by these gradients. Functions return 0, or another number on failure; then error() says what went wrong.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COTERIE_ENCODER_ABI 1

typedef struct coterie_encoder_plan {
    int64_t pieces, positions, first_position, hidden, heads, inner, layers;
    int64_t buckets;    /* of relative positions; 0: none */
    int32_t activation; /* 0: gelu, 1: its approximation by tanh, 2: relu */
    double epsilon;     /* of the normalisations */
    /* Shares of numbers dropped: in embeddings and outer layers, in attention, in the output of attention. */
    double dropout, dropout_of_attention, dropout_of_mixed;
} coterie_encoder_plan;

/* AdamW: Loshchilov and Hutter 2019. Parameters with one row do not decay. */
typedef struct coterie_encoder_step {
    double learning_rate, beta1, beta2, epsilon, weight_decay;
    double clip; /* gradients with a larger norm are scaled to this norm */
} coterie_encoder_step;

typedef struct coterie_encoder coterie_encoder;

typedef struct coterie_encoder_api {
    int32_t abi;
    /* The error of this thread's last failed function. */
    const char* (*error)(void);

    /* Returns null on failure. rows, columns: shape of each additional parameter. All parameters are zero. */
    coterie_encoder* (*create)(const coterie_encoder_plan* plan, const int64_t* rows, const int64_t* columns,
                               int32_t beside, int32_t threads);
    void (*destroy)(coterie_encoder*);

    int32_t (*parameters)(const coterie_encoder*);
    int64_t (*parameter_size)(const coterie_encoder*, int32_t number);
    int32_t (*get_parameter)(coterie_encoder*, int32_t number, float* to);
    int32_t (*set_parameter)(coterie_encoder*, int32_t number, const float* from);
    /* The gradient gathered since the last step; zeros if there is none. */
    int32_t (*get_gradient)(coterie_encoder*, int32_t number, float* to);

    /* Vectors of words, count x hidden: the mean of the last layer's states at the first and last piece of each word.
     * Sentence s has the pieces starts[s]..starts[s + 1]-1, with starts[0] = 0. words: first and last piece of each
     * word, numbered over all sentences. If drop is 0, nothing is dropped and the pass is not kept. Otherwise the pass
     * is kept, and `drop` determines what is dropped. */
    int32_t (*forward)(coterie_encoder*, const int32_t* pieces, const int64_t* starts, int64_t sentences,
                       const int64_t* words, int64_t count, uint64_t drop, float* vectors);
    /* Adds the gradients of sum(vectors * gradient), and ends the pass. */
    int32_t (*backward)(coterie_encoder*, const float* gradient);
    /* Adds to the gradient of a parameter. */
    int32_t (*add_gradient)(coterie_encoder*, int32_t number, const float* gradient);
    int32_t (*step)(coterie_encoder*, const coterie_encoder_step* how);

    /* The optimizer's state as numbers, for a checkpoint. */
    int64_t (*memory_size)(const coterie_encoder*);
    int32_t (*get_memory)(const coterie_encoder*, float* to);
    int32_t (*set_memory)(coterie_encoder*, const float* from);
} coterie_encoder_api;

/* Returns null if the library's ABI is not `abi`. */
const coterie_encoder_api* coterie_encoder_functions(int32_t abi);

#ifdef __cplusplus
}
#endif
