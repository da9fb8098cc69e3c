/* Internal: the border between coterie and LibTorch, in C, so that a library of its own can stand behind it. */
#pragma once
/* Behind it networks are run forwards and backwards and their parameters moved; what they are trained for is computed
 * on this side. Nothing behind it draws a random number. Images are channels x rows x columns, vectors have one of
 * each but for the channels; a batch is one such item after the other, in single precision.
 *
 * A pass: forward() keeps what the gradient needs; then, any of reconstruct(), input_gradient() and backward(); step()
 * moves the parameters by the gradients gathered since the last step. Functions return 0, or another number after
 * which error() says what went wrong.
 *
 * A pass may be shared by the processes of a run: its batch is cut into blocks of items, each process has those of
 * some blocks, one after the other, or none, and all call the same functions. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COTERIE_NETWORK_ABI 5

enum coterie_layer_kind {
    COTERIE_DENSE = 1,                  /* in -> out numbers; flattens what comes in */
    COTERIE_CONVOLUTION = 2,            /* in -> out channels */
    COTERIE_TRANSPOSED_CONVOLUTION = 3, /* pads crop what comes out */
    COTERIE_RESHAPE = 4,                /* to `out` channels of `rows` x `columns` */
    COTERIE_BATCH_NORM = 5,             /* of `in` channels, momentum 0.1, epsilon 1e-5 */
    COTERIE_MAX_POOL = 6,               /* kernel, stride */
    COTERIE_AVERAGE = 7,                /* over rows and columns */
    COTERIE_RESIDUAL = 8,               /* the next `out` layers are added to their input, which goes through the
                                           `in` layers after them (0: as it is); then the activation */
};
enum coterie_activation { COTERIE_LINEAR = 0, COTERIE_RELU = 1 };

typedef struct coterie_layer {
    int32_t kind, in, out, kernel, stride;
    int32_t pad_before, pad_after; /* of rows and columns alike, with zeros */
    int32_t rows, columns;
    int32_t activation;
    int32_t bias; /* 0: none */
} coterie_layer;

/* Trunk and head: the encoder up to its last layer, and that. */
enum coterie_part { COTERIE_TRUNK = 1, COTERIE_HEAD = 2, COTERIE_ENCODER = 3, COTERIE_DECODER = 4, COTERIE_BOTH = 7 };
enum coterie_optimizer_kind { COTERIE_SGD = 1, COTERIE_ADAM = 2 };

typedef struct coterie_optimizer {
    int32_t kind;
    int32_t part;
    double learning_rate, momentum, weight_decay;
    double beta1, beta2, epsilon;
} coterie_optimizer;

/* How a process shares a pass. What is a sum over the items is one over the blocks, added along a binary tree: a node
 * is made of its left half and its right half, 2i + 1 of the level below, if there is one; the lowest level are the
 * blocks. Both functions are called by all processes in the same order, and return 0, or another number, after which
 * the pass fails without calling them again. */
typedef struct coterie_sharing {
    int64_t items; /* of all processes */
    int64_t first; /* of them, this process' first; blocks are whole */
    void* context;
    /* numbers: `count` for each block of all; this process' own come in, all come back. */
    int32_t (*gather)(void* context, double* numbers, int64_t count);
    /* sums: `count` numbers for each own block: the sum over the largest node that begins with it and has no block of
     * another process. What such a node is made of is not looked at. total: of all blocks. */
    int32_t (*add)(void* context, const float* const* sums, int64_t count, float* total);
} coterie_sharing;

typedef struct coterie_network coterie_network;

typedef struct coterie_network_api {
    int32_t abi;
    /* "LibTorch 1.13.1"; valid as long as the library is. */
    const char* (*description)(void);
    /* Of the last function of this thread that failed. */
    const char* (*error)(void);
    /* 1 where the device can be used. */
    int32_t (*has_device)(const char* device);
    /* While networks live, memory of tensors on the CPU is kept between the steps. To be called before the first
     * network, and only where nobody else uses the same LibTorch: its allocator is replaced. */
    void (*keep_memory)(void);

    /* Null on failure. decoder_layers may be 0. Parameters are zero. half: passes in bfloat16 where the device does. */
    coterie_network* (*create)(const coterie_layer* encoder, int32_t encoder_layers, const coterie_layer* decoder,
                               int32_t decoder_layers, int32_t channels, int32_t rows, int32_t columns,
                               const char* device, int32_t threads, int32_t half);
    void (*destroy)(coterie_network*);

    /* Parameters and running means, the encoder's first, in the order of the layers. */
    int32_t (*parameters)(const coterie_network*);
    int64_t (*parameter_size)(const coterie_network*, int32_t number);
    int32_t (*get_parameter)(coterie_network*, int32_t number, float* to);
    int32_t (*set_parameter)(coterie_network*, int32_t number, const float* from);

    /* What the encoder makes of some items, count x its output. training: 1: batch norms use and update the batch's own
     * means, and the pass is kept; 2: the same for input_gradient(), but running means stay; 0: nothing is kept.
     * affine: count x 6, where in the image each place of the new one comes from (rows of a 2 x 3 matrix, coordinates
     * from -1 to 1), or null. colour: count x channels x 2, what a channel is multiplied with and what is added, or
     * null. noise: count x item, added; or null. sharing: of a pass that is kept and whose `count` items are a part of
     * those of all processes, valid until it ends; else null. */
    int32_t (*forward)(coterie_network*, const float* items, int64_t count, const float* affine, const float* colour,
                       const float* noise, int32_t training, const coterie_sharing* sharing, float* output);
    /* Items per block of a batch of so many; 0: passes of this network are not to be shared. */
    int64_t (*items_per_block)(const coterie_network*, int64_t items);
    /* weight * the mean squared difference between the input of the kept pass (of all processes) and what the decoder
     * makes of its output is added to what is minimised; its value without the weight comes back. */
    int32_t (*reconstruct)(coterie_network*, double weight, double* value);
    /* What the decoder makes of such outputs, count x item. */
    int32_t (*decode)(coterie_network*, const float* output, int64_t count, float* item);
    /* The gradient of sum(output * output_gradient) with respect to the kept pass's input, count x item. The
     * parameters' gradients are left alone, the pass stays. */
    int32_t (*input_gradient)(coterie_network*, const float* output_gradient, float* gradient);
    /* Adds the gradients of sum(output * output_gradient) (null: of nothing) and of what reconstruct() added, over all
     * processes; ends the pass. */
    int32_t (*backward)(coterie_network*, const float* output_gradient);

    /* A new optimizer, without a past; several may stand side by side on different parts. 0..count-1 in the order
     * given. */
    int32_t (*set_optimizers)(coterie_network*, const coterie_optimizer* optimizers, int32_t count);
    int32_t (*step)(coterie_network*);
    /* What the optimizers remember, as numbers, for a checkpoint. */
    int64_t (*memory_size)(coterie_network*);
    int32_t (*get_memory)(coterie_network*, float* to);
    int32_t (*set_memory)(coterie_network*, const float* from);
} coterie_network_api;

/* The one symbol of the library. Null where its ABI is not the one asked for. */
const coterie_network_api* coterie_network_functions(int32_t abi);

#ifdef __cplusplus
}
#endif
