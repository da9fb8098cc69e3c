#pragma once
// Internal: reads a classifier's network, without its head, from a file. The file is another classifier's model or, for
// ResNet-18, weights with torchvision's names (conv1.weight, bn1.running_mean, layer2.0.downsample.0.weight, ...). All
// names may have a common prefix ("module.", "backbone.").

#include <string>

#include "coterie/deep/network.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// torchvision's names of the tensors of a ResNet-18 without its head, in the order of Parameters.
std::vector<std::string> resnet18_names(const Architecture& architecture);

/// Replaces `parameters`, except those of the head, by the tensors of a safetensors file. Throws BadData (not such a
/// file, a tensor is missing or has another size, numbers that are not finite), ResourceError.
void read_trunk(const std::string& path, const Architecture& classifier, bool is_resnet18, Parameters& parameters);

/// The unit of a network's points (Network::set_unit). It is unit_of(points) if `pretrained` is empty. If `pretrained`
/// names a model of coterie, it is the model's unit. If `pretrained` names weights of another program, it is 1, because
/// the weights expect the values on which they were trained. read_trunk() reports errors in the file. Call on every
/// process.
double unit_for(const std::string& pretrained, PointsView points, const Run& run);

}  // namespace coterie::deep::internal
