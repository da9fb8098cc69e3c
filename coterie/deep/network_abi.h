/* Internal: the interface between coterie and LibTorch, in C, so that a separate library can implement it. */
#pragma once
/* The library behind it runs networks forwards and backwards and moves their parameters. coterie computes the
 * training objective. The library draws no random numbers. Images are channels x rows x columns. Vectors have only
 * channels, with one row and one column. A batch is a sequence of such items, in single precision.
 *
 * A pass begins with forward(), which keeps what the gradient needs. Then come any of reconstruct(), input_gradient()
 * and backward(). step() moves the parameters by the gradients gathered since the last step. Functions return 0, or
 * another number on failure; then error() says what went wrong.
 *
 * The processes of a run may share a pass. The batch is cut into blocks of items. Each process has some consecutive
 * blocks, or none. All processes call the same functions. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COTERIE_NETWORK_ABI 5

enum coterie_layer_kind {
    COTERIE_DENSE = 1,                  /* in -> out numbers; flattens its input */
    COTERIE_CONVOLUTION = 2,            /* in -> out channels */
    COTERIE_TRANSPOSED_CONVOLUTION = 3, /* pads crop the output */
    COTERIE_RESHAPE = 4,                /* to `out` channels of `rows` x `columns` */
    COTERIE_BATCH_NORM = 5,             /* of `in` channels, momentum 0.1, epsilon 1e-5 */
    COTERIE_MAX_POOL = 6,               /* kernel, stride */
    COTERIE_AVERAGE = 7,                /* over rows and columns */
    COTERIE_RESIDUAL = 8,               /* adds the output of the next `out` layers and that of the shortcut: the
                                           `in` layers after them (0: the input); then the activation */
};
enum coterie_activation { COTERIE_LINEAR = 0, COTERIE_RELU = 1 };

typedef struct coterie_layer {
    int32_t kind, in, out, kernel, stride;
    int32_t pad_before, pad_after; /* for both rows and columns, with zeros */
    int32_t rows, columns;
    int32_t activation;
    int32_t bias; /* 0: none */
} coterie_layer;

/* Trunk: the encoder without its last layer. Head: that last layer. */
enum coterie_part { COTERIE_TRUNK = 1, COTERIE_HEAD = 2, COTERIE_ENCODER = 3, COTERIE_DECODER = 4, COTERIE_BOTH = 7 };
enum coterie_optimizer_kind { COTERIE_SGD = 1, COTERIE_ADAM = 2 };

typedef struct coterie_optimizer {
    int32_t kind;
    int32_t part;
    double learning_rate, momentum, weight_decay;
    double beta1, beta2, epsilon;
} coterie_optimizer;

/* How a process shares a pass. A sum over the items is a sum over the blocks, added along a binary tree. The blocks are
 * the lowest level. Node i is the sum of nodes 2i and 2i + 1 (if that exists) of the level below. All processes call
 * both functions in the same order. The functions return 0, or another number; then the pass fails without further
 * calls. */
typedef struct coterie_sharing {
    int64_t items; /* of all processes */
    int64_t first; /* number of this process's first item; blocks are not split */
    void* context;
    /* numbers: `count` for each block of the batch. The caller fills in the numbers of this process's blocks; the
     * function fills in the others. */
    int32_t (*gather)(void* context, double* numbers, int64_t count);
    /* sums: `count` numbers for each block of this process: the sum over the largest node that begins with the block
     * and has only blocks of this process. Other blocks inside such a node are not read. total: the sum over all
     * blocks. */
    int32_t (*add)(void* context, const float* const* sums, int64_t count, float* total);
} coterie_sharing;

typedef struct coterie_network coterie_network;

typedef struct coterie_network_api {
    int32_t abi;
    /* "LibTorch 1.13.1"; valid as long as the library is loaded. */
    const char* (*description)(void);
    /* The error of this thread's last failed function. */
    const char* (*error)(void);
    /* 1 if the device is usable. */
    int32_t (*has_device)(const char* device);
    /* Keeps memory of CPU tensors between steps, while networks live. Call this before the first network is made, and
     * only if no other code uses the same LibTorch, because it replaces LibTorch's allocator. */
    void (*keep_memory)(void);

    /* Returns null on failure. decoder_layers may be 0. All parameters are zero. half: passes in bfloat16 if the device
     * supports it. */
    coterie_network* (*create)(const coterie_layer* encoder, int32_t encoder_layers, const coterie_layer* decoder,
                               int32_t decoder_layers, int32_t channels, int32_t rows, int32_t columns,
                               const char* device, int32_t threads, int32_t half);
    void (*destroy)(coterie_network*);

    /* Parameters and running means, the encoder's first, in the order of the layers. */
    int32_t (*parameters)(const coterie_network*);
    int64_t (*parameter_size)(const coterie_network*, int32_t number);
    int32_t (*get_parameter)(coterie_network*, int32_t number, float* to);
    int32_t (*set_parameter)(coterie_network*, int32_t number, const float* from);

    /* The encoder's output for some items, count x outputs. training = 1: batch norms use the batch's means and update
     * the running means; the pass is kept. training = 2: the same for input_gradient(), but running means do not
     * change. training = 0: nothing is kept. affine: count x 6, the 2 x 3 matrices (by rows) that map positions of the
     * new image to positions of the old one, both from -1 to 1; or null. colour: count x channels x 2, factor and added
     * number of each channel, or null. noise: count x item, added numbers, or null. sharing: if the items are a part of
     * those of a shared pass; valid until the pass ends; else null. */
    int32_t (*forward)(coterie_network*, const float* items, int64_t count, const float* affine, const float* colour,
                       const float* noise, int32_t training, const coterie_sharing* sharing, float* output);
    /* Items per block for a batch of `items`; 0: passes of this network must not be shared. */
    int64_t (*items_per_block)(const coterie_network*, int64_t items);
    /* Adds weight * the mean squared reconstruction error of the kept pass (over all processes) to the objective.
     * value: the error without the weight. */
    int32_t (*reconstruct)(coterie_network*, double weight, double* value);
    /* The decoder's output for these encoder outputs, count x item. */
    int32_t (*decode)(coterie_network*, const float* output, int64_t count, float* item);
    /* The gradient of sum(output * output_gradient) with respect to the kept pass's input, count x item. The
     * parameters' gradients do not change, and the pass stays. */
    int32_t (*input_gradient)(coterie_network*, const float* output_gradient, float* gradient);
    /* Ends the pass. Adds the gradients of sum(output * output_gradient) (null: 0) and of the part of reconstruct(),
     * over all processes. */
    int32_t (*backward)(coterie_network*, const float* output_gradient);

    /* Replaces the optimizers by new ones without state. Several optimizers may work on different parts. */
    int32_t (*set_optimizers)(coterie_network*, const coterie_optimizer* optimizers, int32_t count);
    int32_t (*step)(coterie_network*);
    /* The optimizers' state as numbers, for a checkpoint. */
    int64_t (*memory_size)(coterie_network*);
    int32_t (*get_memory)(coterie_network*, float* to);
    int32_t (*set_memory)(coterie_network*, const float* from);
} coterie_network_api;

/* The only symbol of the library. Returns null if the library's ABI is not `abi`. */
const coterie_network_api* coterie_network_functions(int32_t abi);

#ifdef __cplusplus
}
#endif
