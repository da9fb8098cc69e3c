// Networks as plain lists of layers, which specify everything that the library needs to run them. Shapes and sizes
// follow from these lists, so memory is estimated and files are checked without LibTorch. A residual block is a marker
// followed by its layers; the layers of its shortcut come last.

#include "coterie/deep/architecture.hpp"

#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"

namespace coterie::internal {
namespace {

Layer dense(Index inputs, Index outputs, bool relu, Start start) {
    Layer out{{}, start};
    out.plan.kind = COTERIE_DENSE;
    out.plan.in = static_cast<std::int32_t>(inputs);
    out.plan.out = static_cast<std::int32_t>(outputs);
    out.plan.activation = relu ? COTERIE_RELU : COTERIE_LINEAR;
    out.plan.bias = 1;
    return out;
}

struct Padding {
    int before, after;
};

Layer convolution(int kind, int inputs, int outputs, int kernel, Padding padding, bool relu, Start start,
                  int stride = 2) {
    Layer out{{}, start};
    out.plan.kind = kind;
    out.plan.in = inputs;
    out.plan.out = outputs;
    out.plan.kernel = kernel;
    out.plan.stride = stride;
    out.plan.pad_before = padding.before;
    out.plan.pad_after = padding.after;
    out.plan.activation = relu ? COTERIE_RELU : COTERIE_LINEAR;
    out.plan.bias = 1;
    return out;
}

// Layers of classifiers have no bias before a batch norm, because it has its own.
Layer without_bias(Layer layer) {
    layer.plan.bias = 0;
    return layer;
}
Layer centred_convolution(int inputs, int outputs, int kernel, int stride) {
    const Padding around{kernel / 2, kernel / 2};
    return without_bias(convolution(COTERIE_CONVOLUTION, inputs, outputs, kernel, around, false, Start::he, stride));
}
Layer norm(int channels, bool relu) {
    Layer out;
    out.plan.kind = COTERIE_BATCH_NORM;
    out.plan.in = channels;
    out.plan.activation = relu ? COTERIE_RELU : COTERIE_LINEAR;
    return out;
}
Layer max_pool(int kernel, int stride, int padding) {
    Layer out;
    out.plan.kind = COTERIE_MAX_POOL;
    out.plan.kernel = kernel;
    out.plan.stride = stride;
    out.plan.pad_before = out.plan.pad_after = padding;
    return out;
}

std::string sides_text(ImageShape input) { return filled("{}x{}", input.rows, input.columns); }

void require_sides(ImageShape input, const char* name) {
    if (input.rows < 8 || input.columns < 8)
        throw BadArgument(Code::not_accepted, sides_text(input) + " is not accepted by " + name,
                          "Use images whose sides are at least 8",
                          {.option = "image", .value = sides_text(input), .accepted = "both sides at least 8"});
}

}  // namespace

Architecture dense_classifier(Index dimensions, const std::vector<int>& widths, int clusters) {
    Architecture out;
    out.input = {static_cast<int>(dimensions), 1, 1};
    out.outputs = clusters;
    Index before = dimensions;
    for (const int width : widths) {
        out.encoder.push_back(without_bias(dense(before, width, false, Start::he)));
        out.encoder.push_back(norm(width, true));
        before = width;
    }
    out.encoder.push_back(dense(before, clusters, false, Start::root));
    return out;
}

Architecture vgg4(ImageShape input, int kernel, int clusters) {
    require_sides(input, "vgg4");
    if (kernel % 2 == 0) throw refused_option("kernel", std::int64_t{kernel}, "an odd number");
    Architecture out;
    out.input = input;
    out.outputs = clusters;
    int before = input.channels;
    for (const int channels : {64, 128, 256, 512}) {
        if (channels > 64) out.encoder.push_back(max_pool(2, 2, 0));
        out.encoder.push_back(centred_convolution(before, channels, kernel, 1));
        out.encoder.push_back(norm(channels, true));
        before = channels;
    }
    out.encoder.push_back(dense(Index{512} * (input.rows / 8) * (input.columns / 8), clusters, false, Start::root));
    return out;
}

Architecture resnet18(ImageShape input, int clusters) {
    require_sides(input, "resnet18");
    Architecture out;
    out.input = input;
    out.outputs = clusters;
    auto& layers = out.encoder;
    const bool small = input.rows <= 64 && input.columns <= 64;
    layers.push_back(centred_convolution(input.channels, 64, small ? 3 : 7, small ? 1 : 2));
    layers.push_back(norm(64, true));
    if (!small) layers.push_back(max_pool(3, 2, 1));
    int before = 64;
    for (const int channels : {64, 128, 256, 512})
        for (int block = 0; block < 2; ++block) {
            const int stride = block == 0 && channels > 64 ? 2 : 1;
            Layer residual;
            residual.plan.kind = COTERIE_RESIDUAL;
            residual.plan.out = 4;
            residual.plan.in = stride == 2 ? 2 : 0;
            residual.plan.activation = COTERIE_RELU;
            layers.push_back(residual);
            layers.push_back(centred_convolution(before, channels, 3, stride));
            layers.push_back(norm(channels, true));
            layers.push_back(centred_convolution(channels, channels, 3, 1));
            layers.push_back(norm(channels, false));
            if (stride == 2) {
                layers.push_back(centred_convolution(before, channels, 1, 2));
                layers.push_back(norm(channels, false));
            }
            before = channels;
        }
    Layer average;
    average.plan.kind = COTERIE_AVERAGE;
    layers.push_back(average);
    layers.push_back(dense(512, clusters, false, Start::root));
    return out;
}

Architecture without_head(Architecture classifier) {
    classifier.outputs = classifier.encoder.back().plan.in;
    classifier.encoder.pop_back();
    return classifier;
}

Architecture dense_autoencoder(Index dimensions, const std::vector<int>& widths, int embedding) {
    Architecture out;
    out.input = {static_cast<int>(dimensions), 1, 1};
    out.outputs = embedding;
    std::vector<Index> sizes = {dimensions};
    sizes.insert(sizes.end(), widths.begin(), widths.end());
    sizes.push_back(embedding);
    for (std::size_t i = 1; i < sizes.size(); ++i)
        out.encoder.push_back(dense(sizes[i - 1], sizes[i], i + 1 < sizes.size(), Start::uniform));
    for (std::size_t i = sizes.size() - 1; i > 0; --i)
        out.decoder.push_back(dense(sizes[i], sizes[i - 1], i > 1, Start::uniform));
    return out;
}

Architecture convolutional_autoencoder(ImageShape input, int embedding) {
    const auto accepted = [](int side) { return side >= 8 && side % 4 == 0; };
    if (!accepted(input.rows) || !accepted(input.columns) || input.rows % 8 != input.columns % 8)
        throw BadArgument(
            Code::not_accepted, sides_text(input) + " is not accepted by the convolutional autoencoder",
            "Use sides that are both multiples of 8, or both 4 more than a multiple of 8 (12, 20, 28, ...)",
            {.option = "image",
             .value = sides_text(input),
             .accepted = "both sides multiples of 8, or both 4 more than a multiple of 8"});
    const bool same = input.rows % 8 == 0;
    // With stride 2, a kernel of 5 halves a side if padding adds 3 zeros, and a kernel of 3 if it adds 1 zero. Without
    // padding, a kernel of 3 turns an odd side into (side - 1) / 2. The larger part of the zeros is at the end.
    const Padding wide{1, 2};
    const Padding narrow = same ? Padding{0, 1} : Padding{0, 0};
    const int rows = input.rows / 8;
    const int columns = input.columns / 8;
    Architecture out;
    out.input = input;
    out.outputs = embedding;
    out.encoder = {convolution(COTERIE_CONVOLUTION, input.channels, 32, 5, wide, true, Start::uniform),
                   convolution(COTERIE_CONVOLUTION, 32, 64, 5, wide, true, Start::uniform),
                   convolution(COTERIE_CONVOLUTION, 64, 128, 3, narrow, true, Start::uniform),
                   dense(Index{128} * rows * columns, embedding, false, Start::glorot)};
    Layer reshape;
    reshape.plan.kind = COTERIE_RESHAPE;
    reshape.plan.out = 128;
    reshape.plan.rows = rows;
    reshape.plan.columns = columns;
    out.decoder = {dense(embedding, Index{128} * rows * columns, true, Start::glorot), reshape,
                   convolution(COTERIE_TRANSPOSED_CONVOLUTION, 128, 64, 3, narrow, true, Start::glorot),
                   convolution(COTERIE_TRANSPOSED_CONVOLUTION, 64, 32, 5, wide, true, Start::glorot),
                   convolution(COTERIE_TRANSPOSED_CONVOLUTION, 32, input.channels, 5, wide, false, Start::glorot)};
    return out;
}

std::vector<Index> parameter_sizes(const coterie_layer& plan) {
    switch (plan.kind) {
        case COTERIE_BATCH_NORM: return std::vector<Index>(4, plan.in);
        case COTERIE_DENSE:
        case COTERIE_CONVOLUTION:
        case COTERIE_TRANSPOSED_CONVOLUTION: {
            const Index kernel = plan.kind == COTERIE_DENSE ? 1 : plan.kernel;
            std::vector<Index> out = {Index{plan.in} * plan.out * kernel * kernel};
            if (plan.bias) out.push_back(plan.out);
            return out;
        }
        default: return {};
    }
}

namespace {
ImageShape output_shape(const coterie_layer& plan, ImageShape in) {
    const int pads = plan.pad_before + plan.pad_after;
    switch (plan.kind) {
        case COTERIE_DENSE: return {plan.out, 1, 1};
        case COTERIE_CONVOLUTION:
        case COTERIE_MAX_POOL: {
            const int channels = plan.kind == COTERIE_CONVOLUTION ? plan.out : in.channels;
            const int all = plan.kind == COTERIE_CONVOLUTION ? pads : 2 * plan.pad_before;
            return {channels, (in.rows + all - plan.kernel) / plan.stride + 1,
                    (in.columns + all - plan.kernel) / plan.stride + 1};
        }
        case COTERIE_TRANSPOSED_CONVOLUTION:
            return {plan.out, (in.rows - 1) * plan.stride + plan.kernel - pads,
                    (in.columns - 1) * plan.stride + plan.kernel - pads};
        case COTERIE_RESHAPE: return {plan.out, plan.rows, plan.columns};
        case COTERIE_AVERAGE: return {in.channels, 1, 1};
        default: return in;
    }
}

void add_output_shapes(const std::vector<Layer>& layers, ImageShape shape, std::vector<ImageShape>& out) {
    ImageShape before;  // input of the residual block
    std::size_t shortcut = layers.size();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const coterie_layer& plan = layers[i].plan;
        if (i == shortcut) shape = before;
        if (plan.kind == COTERIE_RESIDUAL && plan.in > 0) {
            before = shape;
            shortcut = i + 1 + static_cast<std::size_t>(plan.out);
        }
        shape = output_shape(plan, shape);
        out.push_back(shape);
    }
}
}  // namespace

std::vector<ImageShape> output_shapes(const Architecture& architecture) {
    std::vector<ImageShape> out;
    add_output_shapes(architecture.encoder, architecture.input, out);
    add_output_shapes(architecture.decoder, {static_cast<int>(architecture.outputs), 1, 1}, out);
    return out;
}

Index numbers_kept(const Architecture& architecture) {
    const std::vector<ImageShape> shapes = output_shapes(architecture);
    Index sum = architecture.input.items();
    std::size_t next = 0;
    for (const auto* layers : {&architecture.encoder, &architecture.decoder})
        for (const Layer& layer : *layers) {
            const Index items = shapes[next++].items();
            if (layer.plan.kind == COTERIE_RESHAPE) continue;
            // A max pool also keeps positions, which are integers of 8 bytes.
            sum += layer.plan.kind == COTERIE_MAX_POOL ? 3 * items : items;
        }
    return sum;
}

Index fan_in(const coterie_layer& plan) {
    return plan.kind == COTERIE_DENSE ? plan.in : Index{plan.in} * plan.kernel * plan.kernel;
}
Index fan_out(const coterie_layer& plan) {
    return plan.kind == COTERIE_DENSE ? plan.out : Index{plan.out} * plan.kernel * plan.kernel;
}

}  // namespace coterie::internal
